"""One plan for all groups gives every group the bounds that a plan of its own would give, on random questions."""

from __future__ import annotations

from random import Random

import duckdb
import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.curator import connect
from sordino.engines import connect as open_engine
from sordino.sql.analysis import plan_analyses
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from tests.backends.group_suite import create_tables, fill_tables, policy_of, write_database, write_questions

MOST_GROUPS = 40


@pytest.fixture(scope="module")
def groups():
    with duckdb.connect(config={"threads": 1}) as owner:
        owner.execute(create_tables())
        yield open_engine(owner), lambda database: owner.execute(fill_tables(database))


@pytest.mark.parametrize("seed", [300, 301])
def test_each_group_has_the_bounds_of_its_own_plan(groups, seed):
    engine, fill = groups
    compared, larger, together = 0, 0, 0
    fill(write_database(Random(seed)))
    with connect(engine, policy=policy_of()) as curator:
        for asked in write_questions(seed, 40):
            try:
                plan = curator.plan(asked.text, AnswerOptions.checked(1, 0))
            except (ParameterError, UnsupportedError):
                continue
            cells = plan.cells()
            if not 1 < len(cells) <= MOST_GROUPS or not plan.readings[0].prepared:
                continue
            alone = plan_analyses([plan.statement.question(*cell) for cell in cells])
            with curator.data.engine.snapshot() as snapshot:
                for cell, reading in zip(measure_all(snapshot, plan), alone, strict=True):
                    mine = cell.analysis.per_table
                    theirs = reading.read(snapshot, beta=cell.analysis.beta).per_table
                    compared += 1
                    larger += mine != theirs
                    for table, by_name in theirs.items():
                        for name, bounds in by_name.items():
                            assert all(a >= b for a, b in zip(mine[table][name], bounds, strict=True)), (
                                asked.text
                            )
            together += bool(plan.readings[0].numbers.values)
    assert compared > 100
    assert together > 10
    assert larger < 0.1 * compared


def test_a_thousand_groups_take_one_statement():
    with duckdb.connect(config={"threads": 1}) as owner:
        owner.execute("CREATE TABLE r (a BIGINT, g BIGINT); CREATE TABLE s (a BIGINT, g BIGINT)")
        owner.execute("INSERT INTO r SELECT i % 500, i % 1000 FROM range(5000) t(i)")
        owner.execute("INSERT INTO s SELECT i % 500, i % 1000 FROM range(3000) t(i)")
        policy = {
            "version": 1,
            "dataset": "many",
            "tables": {"r": {"columns": {"g": {"domain": [*range(1000)]}}}, "s": {}},
        }
        sql = "SELECT r.g, COUNT(*) AS n FROM r JOIN s ON r.a = s.a AND r.g = s.g GROUP BY r.g"
        with connect(owner, policy=policy) as curator:
            plan = curator.plan(sql, AnswerOptions.checked(1, 0))
            assert len({id(reading.numbers) for reading in plan.readings}) == 1
            with curator.data.engine.snapshot() as snapshot:
                cells = measure_all(snapshot, plan)
        joined = dict(owner.execute(sql).fetchall())
    assert len(cells) == 1000
    assert all(cell.exact == joined[cell.group[0]] for cell in cells)
    # A row of r meets the three rows of s that share its values, and the other way about five.
    assert {cell.analysis.bounds[0] for cell in cells} == {5}
