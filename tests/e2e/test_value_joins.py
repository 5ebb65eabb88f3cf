"""The seven kinds of questions of the benchmark over joined tables: answered, and beside the engine's own answers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import duckdb
import pytest

import sordino as sd

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "value_joins.py"
spec = importlib.util.spec_from_file_location("value_joins", BENCHMARK)
value_joins = importlib.util.module_from_spec(spec)
spec.loader.exec_module(value_joins)
EXACT = {name for name, (_, filters) in value_joins.QUESTIONS.items() if filters is None}


@pytest.fixture(scope="module")
def tables():
    return value_joins.make_tables(300)


@pytest.mark.slow
@pytest.mark.parametrize("name", value_joins.QUESTIONS)
def test_a_question_is_answered_as_the_engine_does_but_for_its_filters(name, tables):
    sql, filters = value_joins.QUESTIONS[name]
    plain = duckdb.connect()
    for table, rows in tables.items():
        plain.register(table, rows)
    wanted = sorted(plain.execute(sql).fetchall())
    with sd.connect(
        tables, policy=value_joins.policy("values") | {"budgets": {"ann": {"epsilon": 1}}}
    ) as curator:
        facts = curator.explain(sql, 1, filters=filters).reveal()
        release = curator.session("ann").query(sql, epsilon=1, filters=filters)
    if isinstance(facts["exact"], list):
        known = dict(wanted)
        assert {row["port"]: row["n"] for row in facts["exact"]} == pytest.approx(
            {row["port"]: known.get(row["port"], 0) for row in facts["exact"]}, abs=1e-6
        )
        assert len(release.value) == value_joins.PORTS
        return
    assert facts["exact"] == pytest.approx(wanted[0][-1], rel=1e-7)
    assert (facts["continuous"] == facts["exact"]) == (name in EXACT)
    assert isinstance(release.value, float)


def test_rows_are_asked_the_same():
    """The words for rows, which know no square roots, give the engine's answers to the questions themselves."""
    plain = duckdb.connect()
    for table, rows in value_joins.make_tables(5000).items():
        plain.register(table, rows)
    for name, sql in value_joins.BY_ROWS.items():
        assert sorted(plain.execute(sql).fetchall()) == sorted(
            plain.execute(value_joins.QUESTIONS[name][0]).fetchall()
        )
