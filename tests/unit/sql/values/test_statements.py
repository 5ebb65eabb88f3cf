"""Statements of bounds: each part is written once, and the largest over rows is found below functions that grow."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

import sordino as sd
from sordino.curator.questions.sql import plan_sql
from sordino.engines.duckdb_extremes import compare_columns
from sordino.sql.answering.measured import open_recorder
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.values import bounds, meetings
from sordino.sql.values.largest import Extremes
from sordino.sql.values.stages import write_stages, write_whole
from sordino.sql.values.terms import SqlAlgebra, SqlTerm

ALGEBRA = SqlAlgebra()
ROWS = "(VALUES (-3.0::DOUBLE, 2.0::DOUBLE), (0.5, 7.0), (4.0, -1.0), (4.0, 7.5)) AS t(x, y)"


def column(name, low=-10.0, high=10.0):
    return SqlTerm(exp.column(name, quoted=True), low=low, high=high)


def x_and_y():
    return column("x"), column("y")


TERMS = {
    "decay": lambda x, y: ALGEBRA.fall(ALGEBRA.minimum(ALGEBRA.maximum(x - 1.0, 0.0) * 0.3, 2.0)),
    "falls": lambda x, y: 3.0 - ALGEBRA.exp(x) * 2.0,
    "larger of two": lambda x, y: ALGEBRA.maximum(x * -1.0, y * 0.5) + 1.0,
    "smaller of two": lambda x, y: ALGEBRA.minimum(x, y),
    "product": lambda x, y: ALGEBRA.absolute(x) * ALGEBRA.exp(y),
    "nested": lambda x, y: ALGEBRA.power(ALGEBRA.absolute(ALGEBRA.minimum(x, y)), 0.5) * -2.0,
    "case": lambda x, y: ALGEBRA.where(x < y, x * y, ALGEBRA.power(ALGEBRA.absolute(y), -1.0)),
}


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("largest", [True, False])
def test_an_extreme_below_functions_is_that_of_the_rows(name, largest):
    term = TERMS[name](*x_and_y())
    rows = parse_one(f"SELECT x, y FROM {ROWS}", dialect="duckdb")
    each = f"SELECT {write_whole(term).sql('duckdb')} FROM {ROWS}"
    wanted = (max if largest else min)(row[0] for row in duckdb.sql(each).fetchall())
    extremes = Extremes()
    found = extremes.of(term, largest=largest)
    staged, written = write_stages(rows, extremes.terms, [])
    inner = exp.select(*extremes.columns(written)).from_(staged.subquery("s"))
    outer, (told,) = write_stages(inner, [found], [])
    query = exp.select(told).from_(outer.subquery("o")).sql("duckdb")
    assert duckdb.sql(query).fetchall()[0][0] == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("name", TERMS)
def test_terms_stay_in_their_ranges(name):
    term = TERMS[name](*x_and_y())
    each = f"SELECT {write_whole(term).sql('duckdb')} FROM {ROWS}"
    assert all(term.low <= row[0] <= term.high for row in duckdb.sql(each).fetchall())


def test_a_guard_that_cannot_act_is_left_out():
    x = column("x", 0.5, 2.0)
    assert ALGEBRA.maximum(x, 0.5) is x
    assert ALGEBRA.minimum(x, 2.0) is x
    assert ALGEBRA.maximum(x, 0.6) is not x


def test_equal_parts_are_computed_once():
    x = column("x")
    terms = [ALGEBRA.exp(column("x") * 0.5) * factor for factor in (1.5, 2.5)]
    staged, written = write_stages(exp.select("x").from_("t"), [*terms, x], [])
    assert sum(tree.sql().count("EXP") for tree in [staged, *written]) == 1


@pytest.mark.parametrize("name", ["LEAST", "GREATEST"])
@pytest.mark.parametrize("other", ["CAST('1.0' AS DOUBLE)", "y"])
def test_comparisons_are_the_function_on_every_row(name, other):
    rows = "(VALUES (NULL, '1'), ('nan', '2'), ('0', NULL), ('3', 'nan'), ('-inf', '0'), ('2', '2'), (NULL, NULL))"
    query = (
        f"SELECT {name}(x, {other}) AS z FROM (SELECT x::DOUBLE AS x, y::DOUBLE AS y FROM {rows} AS t(x, y))"
    )
    changed = compare_columns(parse_one(query, dialect="duckdb")).sql("duckdb")
    assert name not in changed
    assert repr(duckdb.sql(changed).fetchall()) == repr(duckdb.sql(query).fetchall())


POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "values",
    "tables": {
        "item": {
            "norm": "price",
            "key": "id",
            "columns": {"id": {"type": "integer", "public": True}, "price": {"type": "integer", "bounds": [0, 20]}},
        },
        "sale": {
            "norm": "qty",
            "key": "nr",
            "columns": {
                "nr": {"type": "integer", "public": True},
                "item": {"type": "integer", "public": True},
                "qty": {"type": "integer", "bounds": [0, 10]},
            },
        },
    },
}  # fmt: skip
SQL = "SELECT SUM(price*qty) AS s FROM item JOIN sale ON item.id = sale.item"


@pytest.mark.parametrize(("items", "grouped"), [([1, 1, 2], 1), ([3, 1, 2], 0)])
def test_rows_that_meet_one_other_are_not_grouped_and_bounds_are_the_same(items, grouped, monkeypatch):
    target = {
        "item": pa.table({"id": [1, 2, 3], "price": [10, 4, 7]}),
        "sale": pa.table({"nr": [1, 2, 3], "item": items, "qty": [3, 2, 5]}),
    }
    with sd.connect(target, policy=POLICY) as curator:
        plan = plan_sql(curator.data, SQL, AnswerOptions.checked(1, 0), None)
        with open_recorder(curator.data.engine) as recorder:
            found = plan.measure(recorder)
        assert sum("GROUP BY" in text for text in recorder.statements) == grouped
        monkeypatch.setattr(bounds, "meets_once", lambda *given: False)
        with curator.data.engine.snapshot() as snapshot:
            again = plan.measure(snapshot)
    assert found == again
    assert found[0].exact


def test_repeated_keys_are_seen():
    target = {
        "item": pa.table({"id": [1, 1], "price": [10, 4]}),
        "sale": pa.table({"nr": [1, 2], "item": [1, 2], "qty": [3, 2]}),
    }
    with sd.connect(target, policy=POLICY) as curator:
        join = plan_sql(curator.data, SQL, AnswerOptions.checked(1, 0), None).statement.join
        with curator.data.engine.snapshot() as snapshot:
            assert not meetings.meets_once(snapshot, join, "sale")
            assert meetings.meets_once(snapshot, join, "item")


def test_where_rows_come_and_go_no_statement_follows_from_which_of_them_meet(monkeypatch):
    def asked(*given):
        raise AssertionError("two neighbours would be bounded by two formulas")

    monkeypatch.setattr(bounds, "meets_once", asked)
    target = {
        "item": pa.table({"id": [1, 2], "price": [10, 4]}),
        "sale": pa.table({"nr": [1, 2], "item": [1, 2], "qty": [3, 2]}),
    }
    with sd.connect(target, policy=POLICY | {"protects": "row+values"}) as curator:
        plan = plan_sql(curator.data, SQL, AnswerOptions.checked(1, 0), None)
        with curator.data.engine.snapshot() as snapshot:
            assert plan.measure(snapshot)[0].exact
