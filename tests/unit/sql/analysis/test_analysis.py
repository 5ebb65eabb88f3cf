from __future__ import annotations

from fractions import Fraction

import pytest
from sqlglot import parse_one

from sordino.core import ParameterError, UnsupportedError
from sordino.engines import connect
from sordino.sql.aggregates import BoundedSum, RowCount
from sordino.sql.analysis import analyse, plan_analysis
from sordino.sql.analysis.counting import CountedRows
from sordino.sql.question import JoinQuestion, Occurrence


def question(tables, *conditions, weight=1, measure=None, kinds=None):
    occurrences = tuple(
        Occurrence(alias, table, Fraction(weight), kinds or {"a": "integer", "b": "integer"})
        for alias, table in (pair.split() for pair in tables)
    )
    return JoinQuestion(occurrences, tuple(map(parse_one, conditions)), measure or RowCount())


TWO = question(["x r", "y s"], "x.a = y.a")


@pytest.fixture
def engine():
    import pyarrow as pa

    rows = pa.table({"a": [1, 1, 2, None], "b": [10, 20, 30, 40]})
    with connect({"r": rows, "s": rows}) as opened, opened.snapshot() as snapshot:
        yield snapshot


def test_what_was_asked_shows_no_rows_and_the_analysis_prints_none(engine):
    analysis = analyse(TWO, engine, beta=0.2, analyses=("patterns", "elastic"))
    assert analysis.per_table["r"]["patterns"][:3] == (2, 3, 4)
    assert repr(analysis) == "Analysis(tables=r, s; analyses=patterns, elastic; beta=0.2)"
    assert analysis.smooth_bound().beta_min == 0.2
    with pytest.raises(ParameterError, match=r"beta >= 0\.2"):
        analysis.at(0.1)


def test_weights_divide_what_a_row_changes(engine):
    heavy = question(["x r", "y s"], "x.a = y.a", weight=3)
    analysis = analyse(heavy, engine, beta=0.2)
    assert analysis.unit == 3
    assert analysis.per_table["r"]["patterns"][:2] == (Fraction(2, 3), 1)
    assert analysis.distance.weights == (("r", 3.0), ("s", 3.0))


def test_a_sum_counts_the_size_of_what_is_summed(engine):
    measure = BoundedSum(parse_one("y.b"), Fraction(0), Fraction(25), Fraction(1, 2))
    analysis = analyse(question(["x r", "y s"], "x.a = y.a", measure=measure), engine, beta=5.0)
    # Key 1 meets 10 and 20; a row of s meets two rows of r and may add 25 twice.
    assert analysis.per_table["r"]["patterns"][0] == 60
    assert analysis.per_table["s"]["patterns"][0] == 100


def test_floats_are_no_keys():
    floats = question(["x r", "y s"], "x.a = y.a", kinds={"a": "float", "b": "integer"})
    assert "GROUP BY" not in plan_analysis(floats, analyses=("patterns",)).statement.sql()


def test_numbers_that_contradict_each_other_let_no_row_in():
    never = question(["x r", "y s"], "x.a = y.a", "x.a = 1", "y.a = 2")
    assert plan_analysis(never, analyses=("patterns",)).statement is None


def test_symmetric_copies_are_counted_once():
    edges = question(["x e", "y e", "z e"], "x.b = y.a", "y.b = z.a", "z.b = x.a")
    text = plan_analysis(edges, analyses=("patterns", "residual")).statement.sql()
    # Two edges that share a node, per pair of ends; edges per end, and per pair of ends.
    assert text.count("CROSS JOIN") == 1
    assert text.count("GROUP BY") <= 6


def test_a_chain_is_counted_from_its_leaves_and_counts_are_shared():
    chain = question(["x r", "y s", "z t"], "x.a = y.a", "y.b = z.b")
    text = plan_analysis(chain, analyses=("patterns",)).statement.sql()
    assert "CROSS JOIN" not in text
    # r by a, t by b, s by each of them with and without what lies beyond; r and t serve twice.
    assert text.count("GROUP BY") == 6
    assert text.count(" AS (SELECT") == 2


def test_tables_may_be_called_like_our_own_names():
    import pyarrow as pa

    rows = {"a": [1, 1, 2, None], "b": [10, 20, 30, 30]}
    odd = {"x": "sordino_0", "y": "t", "z": "s0", "w": "l0"}
    plain = {alias: f"table_{alias}" for alias in odd}
    conditions = ("x.a = y.a", "y.b = z.b", "z.a = w.a")
    found = []
    for names in (odd, plain):
        with (
            connect({name: pa.table(rows) for name in names.values()}) as opened,
            opened.snapshot() as snapshot,
        ):
            asked = question([f"{alias} {name}" for alias, name in names.items()], *conditions)
            found.append(analyse(asked, snapshot, beta=0.5))
    assert [found[0].per_table[odd[a]] for a in odd] == [found[1].per_table[plain[a]] for a in odd]


@pytest.mark.parametrize(
    ("asked", "options", "kind", "message"),
    [
        (TWO, {"analyses": ("magic",)}, ParameterError, "patterns, residual, elastic"),
        (TWO, {"analyses": ()}, ParameterError, "analyses must be"),
        (TWO, {"analyses": "patterns"}, ParameterError, "analyses must be"),
        (question([f"t{i} r{i}" for i in range(9)]), {}, UnsupportedError, "at most 8"),
        (question([f"t{i} r" for i in range(5)]), {}, UnsupportedError, "at most 4 copies"),
        (question(["x r", "y s"], "x.a = y.zip"), {}, ParameterError, "y.zip is no column"),
    ],
)
def test_what_cannot_be_analysed_is_refused(asked, options, kind, message):
    with pytest.raises(kind, match=message):
        plan_analysis(asked, **options)


@pytest.mark.parametrize("beta", [0, -1.0, float("nan")])
def test_beta_must_be_positive(beta):
    with pytest.raises(ParameterError, match="beta"):
        analyse(TWO, None, beta=beta)


def test_which_analyses_run_depends_on_the_tables_in_from_alone():
    from sordino.sql.analysis import choose_analyses

    def question(*tables):
        places = tuple(
            Occurrence(f"t{place}", table, Fraction(1), {"a": "integer"})
            for place, table in enumerate(tables)
        )
        return JoinQuestion(places, (), RowCount())

    assert choose_analyses(question("r", "s")) == ("patterns",)
    assert choose_analyses(question("r", "r")) == ("patterns", "residual", "elastic")
    assert choose_analyses(question("r", "s", "u")) == ("patterns", "residual", "elastic")


def test_a_cycle_that_is_opened_counts_rows_under_the_conditions_of_the_whole_question():
    ring = question(["w r", "x s", "y t", "z u"], "w.b = x.a", "x.b = y.a", "y.b = z.a", "z.b = w.a")
    conditions: dict[str, set[tuple[str, ...]]] = {}
    for counted in plan_analysis(ring, analyses=("patterns", "residual")).counts:
        if isinstance(counted, CountedRows):
            texts = tuple(part.text for part in counted.conditions)
            conditions.setdefault(counted.table, set()).add(texts)
    assert {table: len(found) for table, found in conditions.items()} == {"r": 1, "s": 1, "t": 1, "u": 1}
