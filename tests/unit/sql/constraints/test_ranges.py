"""Ranges of answers: numbers of the specification, worlds that must lie inside, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import sordino as sd
from sordino.sensitivity.affine import AffineForm
from sordino.sensitivity.interval import Interval
from sordino.sql.constraints import ValueSet, totals
from sordino.sql.constraints.totals import AGGREGATE_BOUNDS
from tests.oracles.test_oracles import golden


def wanted(name):
    return golden("values", name)["value"]


UNIT = {"t.x": "range 0 1", "t.y": "range 0 1"}


def ends(found):
    return found.low, found.high


def one(expression, constraints, **options):
    return ends(sd.sql.ranges(f"SELECT {expression} AS a FROM t", constraints, **options)["a"])


def test_products_and_differences():
    assert list(one("x*y", {"t.x": "range 1 3", "t.y": "range -2 1"})) == wanted("product_met")
    assert one("x - x", {"t.x": "range 0 3"}) == (0, 0)
    assert list(one("x + y - 2*x*y", UNIT)) == wanted("relation_affine")
    x, y = Interval(0.0, 1.0), Interval(0.0, 1.0)
    assert list(ends(x + y - Interval(2.0, 2.0) * x * y)) == wanted("relation_interval")
    assert list(ends(x * (x - Interval(1.0, 1.0)))) == wanted("pieces_interval")


def test_affine_products():
    product = AffineForm.of(Interval(1, 3), "x") * AffineForm.of(Interval(-2, 1), "y")
    centre, *terms, error = wanted("product_form")
    assert (float(product.centre), float(product.error)) == (centre, error)
    assert [float(product.terms[name]) for name in "xy"] == terms
    assert list(ends(product.interval())) == wanted("product_affine")


def test_products_of_ranges_above_zero():
    assert one("x*y", {"t.x": "range 0 4", "t.y": "range 1 3"}) == (0, 12)


def test_pieces_make_ranges_narrower():
    found = [one("x*(x - 1)", UNIT, subdivide=pieces) for pieces in (1, 2, 4, 8)]
    assert [list(pair) for pair in found] == wanted("pieces")


@pytest.mark.parametrize(
    ("name", "inside"), [("sqrt", (1, 4)), ("exp", (0, 1)), ("inverse", (1, 2)), ("log", (1, math.e))]
)
def test_min_range(name, inside):
    # that of the logarithm is one of naples-2.md §12
    slope, centre, error = wanted(f"min_range_{name}") if name != "log" else (0.367879, -0.183940, 0.183940)
    functions = {
        "sqrt": (math.sqrt, lambda t: 0.5 / math.sqrt(t)),
        "exp": (math.exp, math.exp),
        "inverse": (lambda t: 1 / t, lambda t: -1 / t**2),
        "log": (math.log, lambda t: 1 / t),
    }
    value, derivative = functions[name]
    interval = Interval(*map(float, inside))
    form = AffineForm.of(interval, "x").bent(
        value, min((derivative(end) for end in inside), key=abs), interval
    )
    radius = float(AffineForm.of(interval, "x").terms["x"])
    middle = (inside[0] + inside[1]) / 2
    assert float(form.terms["x"]) / radius == pytest.approx(slope, abs=5e-7)
    assert float(form.centre) - slope * middle == pytest.approx(centre, abs=3e-6)
    assert float(form.error) == pytest.approx(error, abs=5e-7)


def test_a_symbol_can_be_fixed():
    x, y = AffineForm.of(Interval(0, 4), "x"), AffineForm.of(Interval(1, 3), "y")
    product = x * y
    found = [product.centre, product.terms["x"], product.terms["y"], product.error]
    assert [float(part) for part in found] == wanted("fixed_form")
    assert list(ends(product.fixed("y", 1).interval())) == wanted("fixed_high")
    assert list(ends(product.fixed("y", -1).interval())) == wanted("fixed_low")


def test_relations_narrow():
    found = sd.sql.ranges(
        "SELECT x, y FROM t WHERE x + y <= 5 AND x >= 2", {"t.x": "range 0 10", "t.y": "range 0 10"}
    )
    assert (ends(found["x"]), ends(found["y"])) == ((2, 5), (0, 3))
    found = sd.sql.ranges("SELECT x FROM t WHERE x < 2 OR x BETWEEN 5 AND 6", {"t.x": "range 0 10"})
    assert ends(found["x"]) == (0, 6)
    found = sd.sql.ranges("SELECT x FROM t WHERE NOT (x < 2 OR x > 3)", {"t.x": "range 0 10"})
    assert ends(found["x"]) == (2, 3)
    found = sd.sql.ranges(
        "SELECT x FROM t WHERE flag IN ('a', 'c')", {"t.x": "set 1 5", "t.flag": "set 'a' 'b'"}
    )
    assert found["x"] == ValueSet(frozenset((1.0, 5.0)))
    found = sd.sql.ranges("SELECT r.k FROM r JOIN s ON r.k = s.k", {"r.k": "set 1 2 3", "s.k": "set 2 3 4"})
    assert found["k"] == ValueSet(frozenset((2.0, 3.0)))
    found = sd.sql.ranges("SELECT COUNT(*) AS n, MAX(x) AS m FROM t WHERE x > 11", {"t.x": "range 0 10"})
    assert (ends(found["n"]), found["m"]) == ((0, 0), None)


def test_sure_and_possible_rows():
    sure, maybe = [Interval(2, 5)], [Interval(-4, 1), Interval(3, 9)]
    found = {name: ends(bound(sure, maybe)) for name, bound in AGGREGATE_BOUNDS.items()}
    assert found.pop("AVG") == (-4, 9)
    assert {name: list(pair) for name, pair in found.items()} == wanted("sure_and_possible")
    assert ends(AGGREGATE_BOUNDS["MIN"]([Interval(0, 10)], [])) == (0, 10)


def test_unknown_rows():
    constraints = {"t.x": "range -1 3"}
    found = sd.sql.ranges("SELECT COUNT(*) AS n, SUM(x) AS s, MIN(x) AS m FROM t", constraints)
    assert (ends(found["n"]), ends(found["s"]), ends(found["m"])) == (
        (0, math.inf),
        (-math.inf, math.inf),
        (-1, 3),
    )
    found = sd.sql.ranges("SELECT COUNT(*) AS n, SUM(x) AS s FROM t WHERE x > 1", constraints, rows=(2, 5))
    assert (ends(found["n"]), ends(found["s"])) == ((0, 5), (0, 15))


def world(random, rows):
    return [{"g": row["g"], "x": random.uniform(-1, 4), "y": random.choice([1.0, 2.0, 5.0])} for row in rows]


QUERIES = {
    "SELECT COUNT(*) AS a FROM t WHERE x*y > 2": lambda rows: [sum(r["x"] * r["y"] > 2 for r in rows)],
    "SELECT SUM(x*y - x) AS a FROM t WHERE x > 0": lambda rows: [
        sum(r["x"] * r["y"] - r["x"] for r in rows if r["x"] > 0)
    ],
    "SELECT MIN(x/y) AS a FROM t": lambda rows: [min(r["x"] / r["y"] for r in rows)],
    "SELECT MAX(ABS(x)) AS a FROM t WHERE y <= 2 AND x < 3": lambda rows: [
        max((abs(r["x"]) for r in rows if r["y"] <= 2 and r["x"] < 3), default=None)
    ],
    "SELECT AVG(EXP(x/4)) AS a FROM t WHERE NOT x > 2": lambda rows: [
        np.mean([math.exp(r["x"] / 4) for r in rows if r["x"] <= 2])
        if any(r["x"] <= 2 for r in rows)
        else None
    ],
    "SELECT CASE WHEN x > 1 THEN x*x ELSE POWER(x, 3) END AS a FROM t WHERE x + y < 5": lambda rows: [
        r["x"] ** 2 if r["x"] > 1 else r["x"] ** 3 for r in rows if r["x"] + r["y"] < 5
    ],
    "SELECT SUM(a.x*b.y) AS a FROM t AS a JOIN t AS b ON a.g = b.g WHERE a.x > b.x": lambda rows: [
        sum(r["x"] * s["y"] for r in rows for s in rows if r["g"] == s["g"] and r["x"] > s["x"])
    ],
    "SELECT LEAST(x, y, 2) + GREATEST(x, 0.5) AS a FROM t WHERE x = y OR x <> 1": lambda rows: [
        min(r["x"], r["y"], 2) + max(r["x"], 0.5) for r in rows
    ],
}


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("pieces", [1, 3])
def test_every_world_lies_inside(sql, pieces):
    """The answer by the definition, on random cells that keep to the constraints."""
    random = np.random.default_rng(7)
    constraints = {"t.g": "exact", "t.x": "range -1 4", "t.y": "set 1 2 5"}
    rows = world(random, [{"g": "a"}, {"g": "a"}, {"g": "b"}])
    found = sd.sql.ranges(sql, constraints, tables={"t": rows}, subdivide=pieces)["a"]
    loose = sd.sql.ranges(sql, constraints, rows=(9, 9) if "JOIN" in sql else (3, 3))["a"]
    answers = [
        answer for _ in range(600) for answer in QUERIES[sql](world(random, rows)) if answer is not None
    ]
    assert len(answers) > 500
    for answer in answers:
        assert found.low - 1e-12 <= answer <= found.high + 1e-12
        assert loose.low - 1e-12 <= answer <= loose.high + 1e-12


def test_groups_by_public_keys():
    tables = {"t": [{"g": "a", "x": 1}, {"g": "b", "x": 1}, {"g": "a", "x": 1}]}
    found = sd.sql.ranges(
        "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g",
        {"t.g": "exact", "t.x": "range 0 4"},
        tables=tables,
    )
    rows = {next(iter(row["g"].values)): (ends(row["n"]), ends(row["s"])) for _, row in found.rows}
    assert rows == {"a": ((2, 2), (0, 8)), "b": ((1, 1), (0, 4))}
    secret = sd.sql.ranges(
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g", {"t.g": "set 'a' 'b'"}, tables={"t": [{"g": "a"}]}
    )
    assert [(sure, ends(row["n"])) for sure, row in secret.rows] == [(False, (0, 1)), (False, (0, 1))]


def test_steps_chain():
    first = sd.sql.ranges("SELECT x*y AS area, g FROM t", {**UNIT, "t.g": "set 'a' 'b'"}).to_constraints(
        "step"
    )
    assert "step.area range 0 1;" in first
    second = sd.sql.ranges("SELECT area + 1 AS more, g FROM step", first)
    assert ends(second["more"]) == (1, 2)
    assert second["g"] == ValueSet(frozenset("ab"))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1/x AS a FROM t", "without 0"),
        ("SELECT LN(x) AS a FROM t", "above 0"),
        ("SELECT SQRT(x - 1) AS a FROM t", ">= 0"),
        ("SELECT POWER(x, y) AS a FROM t", "must be a number"),
        ("SELECT SIN(x) AS a FROM t", "refused"),
        ("SELECT z FROM t", "no constraint"),
        ("SELECT x FROM u", "no column of this table"),
        ("SELECT x, COUNT(*) AS n FROM t", "GROUP BY only"),
        ("SELECT COUNT(DISTINCT x) AS n FROM t", "refused"),
        ("SELECT 1 + SUM(x) AS n FROM t", "refused"),
        ("SELECT x FROM t LEFT JOIN t AS u ON t.x = u.x", "inner joins"),
        ("SELECT x FROM (SELECT x FROM t) AS s", "refused"),
        ("SELECT x FROM t AS a, t AS b", "several tables"),
        ("SELECT x FROM t WHERE x LIKE 'a'", "refused"),
        ("SELECT x FROM t ORDER BY x", "refused"),
        ("DELETE FROM t", "refused"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(sql, said):
    with pytest.raises(sd.SordinoError, match=said) as caught:
        sd.sql.ranges(sql, UNIT)
    assert caught.value.place is not None


def test_data_that_break_a_constraint_are_refused_without_values():
    with pytest.raises(sd.PrivateDataError, match="breaks the constraint of column 'x'") as caught:
        sd.sql.ranges("SELECT x FROM t", {"t.x": "range 0 1"}, tables={"t": [{"x": 17.25}]})
    assert "17" not in str(caught.value)
    with pytest.raises(sd.PrivateDataError, match="breaks the constraint of column 'x'"):
        sd.sql.ranges("SELECT x FROM t", {"t.x": "normal 0 1"}, tables={"t": [{"x": 7.2}]})
    inside = sd.sql.ranges("SELECT x FROM t", {"t.x": "normal 0 1"}, tables={"t": [{"x": 7.1}]})["x"]
    assert inside.high == pytest.approx(
        math.sqrt(1 / 4) * golden("values", "normal_reach")["value"], abs=1e-6
    )
    with pytest.raises(sd.PrivateDataError, match="NULL"):
        sd.sql.ranges("SELECT x FROM t", {"t.x": "range 0 1"}, tables={"t": [{"x": None}]})
    with pytest.raises(sd.ParameterError, match="did you mean 'xx'"):
        sd.sql.ranges("SELECT x FROM t", {"t.x": "range 0 1"}, tables={"t": [{"xx": 1}]})
    with pytest.raises(sd.ParameterError, match="tables has no 't'"):
        sd.sql.ranges("SELECT x FROM t", {"t.x": "range 0 1"}, tables={"tt": []})


def test_the_printed_minimum_is_refused_by_worlds():
    """The report bounds MIN above by the lower ends of sure rows."""
    printed = min(one.low for one in [Interval(0, 10)])
    assert printed < 7 <= totals.bound_least([Interval(0, 10)], []).high


def test_the_command(tmp_path, capsys):
    from sordino.cli.app import run

    (tmp_path / "t.att").write_text("t.g exact; t.x range 0 4;")
    (tmp_path / "q.sql").write_text("SELECT g, SUM(x) AS s FROM t GROUP BY g")
    data = tmp_path / "data"
    data.mkdir()
    (data / "t.csv").write_text("g,x\na,1\nb,2\na,3\n")
    assert run(["ranges", str(tmp_path / "q.sql"), "-c", str(tmp_path / "t.att"), "--data", str(data)]) == 0
    assert "answer.s range 0 8;" in capsys.readouterr().out
    assert run(["ranges", "SELECT x*x AS s FROM t", "-c", str(tmp_path / "t.att"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"]["s"] == {"low": 0.0, "high": 16.0}
    assert run(["ranges", "SELECT COUNT(*) AS n FROM t", "-c", str(tmp_path / "t.att")]) == 0
    assert "-- answer.n: 0 to inf, which no constraint says" in capsys.readouterr().out
    assert run(["ranges", "SELECT 1", "-c", str(tmp_path / "none.att")]) != 0
