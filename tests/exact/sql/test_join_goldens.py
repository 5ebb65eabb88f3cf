"""The numbers of the specification for join counts, against the reference versions."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaincinv

from tests.oracles.joins import And, Column, Compare, JoinQuery, Table, TensorQuery
from tests.oracles.sql_bounds import PatternBounds, ResidualBounds, grown_product, smooth_count, water_fill

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "joins_sql.json").read_text())["entries"]


def equal(left, right):
    (a, x), (b, y) = left.split("."), right.split(".")
    return Compare("=", Column(a, x), Column(b, y))


@pytest.mark.parametrize("case", GOLDEN["smooth_counts"]["value"], ids=str)
def test_smooth_counts(case):
    groups = tuple(range(len(case["n"])))
    n, weights = tuple(map(float, case["n"])), tuple(map(float, case["weights"]))
    s, value = smooth_count(float(case["count"]), n, groups, weights, case["beta"])
    tolerance = GOLDEN["smooth_counts"]["tolerance"]
    assert value == pytest.approx(case["smooth"], abs=tolerance)
    assert s == pytest.approx(case["s"], abs=2e-6)


@pytest.mark.parametrize("case", GOLDEN["smooth_counts"]["value"], ids=str)
def test_smooth_counts_are_the_maximum_over_a_grid_of_distances(case):
    groups = tuple(range(len(case["n"])))
    n, weights, beta = case["n"], case["weights"], case["beta"]
    values = []
    for k in np.arange(0, 40, 0.25):
        product = grown_product(n, groups, water_fill(n, groups, weights, k)) if k else math.prod(n)
        values.append(math.exp(-beta * k) * (case["count"] + product - math.prod(n)))
    assert max(values) <= case["smooth"] * (1 + 1e-6)
    assert max(values) >= case["smooth"] * 0.999


def test_closed_forms_of_one_table_and_of_empty_tables():
    for beta, n in itertools.product((0.05, 0.1, 0.3), (0, 1, 2, 3)):
        s, value = smooth_count(float(n), (float(n),), (0,), (1.0,), beta)
        assert (s, value) == pytest.approx((1 / beta - n, math.exp(beta * n - 1) / beta))
        for m in (1, 2, 3):
            s, value = smooth_count(0.0, (0.0,) * m, tuple(range(m)), (1.0,) * m, beta)
            assert (s, value) == pytest.approx((m / beta, (1 / (math.e * beta)) ** m))


def test_water_filling_raises_the_smallest_modified_counts():
    golden = GOLDEN["water_fill"]
    n, weights, k = (golden["inputs"][key] for key in ("n", "weights", "k"))
    rows = water_fill(n, (0, 1, 2), weights, k)
    assert [v + r for v, r in zip(n, rows, strict=True)] == pytest.approx(golden["value"]["raised"])
    assert grown_product(n, (0, 1, 2), rows) == pytest.approx(golden["value"]["product"])


def test_a_pattern_that_was_not_obtained_may_dominate():
    golden = GOLDEN["unobtained_pattern"]
    values, rows = (0, 1, 2), golden["inputs"]["rows"]
    query = JoinQuery(
        (Table("R", ("a", "b"), values), Table("S", ("a", "c"), values), Table("U", ("b", "c"), values)),
        (("r", "R"), ("s", "S"), ("u", "U")),
        And((equal("r.a", "s.a"), equal("r.b", "u.b"), equal("s.c", "u.c"))),
    )
    database = {"R": Counter(), "S": Counter({(1, 0): rows}), "U": Counter({(1, 1): rows})}
    for variant in ("rows", "merged"):
        bound = PatternBounds(query, variant)
        smooth = bound.smooth_slope(database, golden["inputs"]["beta"])
        assert smooth == pytest.approx(golden["value"]["smooth"], abs=golden["tolerance"])
    grown = {**database, "U": database["U"] + Counter([(1, 0)])}
    derivative = PatternBounds(query).sequence(grown, 0)[0]
    assert derivative == golden["value"]["derivative_after_one_row"]


@pytest.mark.parametrize(("kind", "groups"), [("separate", (0, 1)), ("shared", (0, 0))])
def test_the_cube_of_one_table(kind, groups):
    golden = GOLDEN["cube_of_one_table"]
    for rows, expected in golden["value"][kind].items():
        n, weights = (float(rows),) * 2, (1.0,) * len(set(groups))
        value = 3 * smooth_count(float(rows) ** 2, n, groups, weights, golden["inputs"]["beta"])[1]
        assert value == pytest.approx(expected, abs=golden["tolerance"])


def test_the_join_of_two_tables_end_to_end():
    golden = GOLDEN["two_table_join"]
    inputs, expected, tolerance = golden["inputs"], golden["value"], golden["tolerance"]
    code = {"x": 4, "y": 5}
    plain = lambda rows: Counter(tuple(code.get(v, v) for v in row) for row in rows)  # noqa: E731
    values = (1, 2, 3, 4, 5, 10, 20, 30, 99)
    query = JoinQuery(
        (Table("R", ("a", "b"), values), Table("S", ("b", "c"), values)),
        (("r", "R"), ("s", "S")),
        And((equal("r.b", "s.b"),)),
    )
    database = {"R": plain(inputs["R"]), "S": plain(inputs["S"])}
    assert query.answer(database) == expected["count"]
    bound = PatternBounds(query)
    for name, column in (("R", 1), ("S", 0)):
        count, _ = bound.exposed[name][0].vectors(database)
        found = {v: int(count[i]) for i, v in enumerate(_cells(query.table(name), column)) if count[i]}
        assert found == {code[key]: times for key, times in expected["patterns"][name].items()}
    assert bound.sequence(database, 0) == [expected["derivative"]]
    smooth = bound.smooth_slope(database, inputs["beta"])
    assert smooth == pytest.approx(expected["smooth"], abs=1e-6)
    assert smooth / inputs["b"] == pytest.approx(expected["scale"], abs=1e-6)
    share = betaincinv(1 / inputs["gamma"], 1 - 1 / inputs["gamma"], 0.8)
    quantile = (share / (1 - share)) ** (1 / inputs["gamma"])
    assert smooth / inputs["b"] * quantile == pytest.approx(expected["error_80"], abs=tolerance)


def _cells(table, column):
    return [row[column] for row in itertools.product(table.values, repeat=len(table.columns))]


def merged(maps):
    """Unification from its definition: all intersections of one pattern (or all stars) per map, counts added."""
    result: dict[tuple, int] = {}
    width = len(maps[0][0][0])
    options = [[*((tuple(p), m) for p, m in each), ((None,) * width, 0)] for each in maps]
    for chosen in itertools.product(*options):
        cells = [{p[i] for p, _ in chosen} - {None} for i in range(width)]
        if all(len(values) <= 1 for values in cells):
            pattern = tuple(next(iter(values), None) for values in cells)
            result[pattern] = max(result.get(pattern, 0), sum(m for _, m in chosen))
    return {p: m for p, m in result.items() if m}


@pytest.mark.parametrize("name", ["merged_pair", "merged_three"])
def test_patterns_of_repeated_tables_unify(name):
    golden = GOLDEN[name]
    assert merged(golden["inputs"]) == {tuple(pattern): times for pattern, times in golden["value"]}


def test_peers_examples_with_self_joins():
    square = GOLDEN["square_slope"]
    table = Table("T", ("a",), (0, 1))
    query = JoinQuery((table,), (("x", "T"), ("y", "T")))
    database = {"T": Counter({(0,): square["inputs"]["rows"]})}
    slope = PatternBounds(query).smooth_slope(database, square["inputs"]["beta"])
    assert slope == pytest.approx(square["value"]["slope_bound"])
    assert TensorQuery(query).local_sensitivity(database, 0)[None][0] == square["value"]["jump"]

    path = GOLDEN["path_residual"]
    edges = Table("E", ("a", "b"), (0, 1, 2))
    query = JoinQuery((edges,), (("e", "E"), ("f", "E")), And((equal("e.b", "f.a"),)))
    for rows, key in (([tuple(r) for r in path["inputs"]["rows"]], "true"), ([], "empty_true")):
        database = {"E": Counter(rows)}
        assert TensorQuery(query).local_sensitivity(database, 0)[None][0] == path["value"][key]
        assert ResidualBounds(query).sequence(database, 0)[0] >= path["value"][key]
