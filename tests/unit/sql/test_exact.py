"""Exact answers: clipped, counted in steps, every group present."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest
from sqlglot import exp

from sordino.engines import connect
from sordino.sql.aggregates import BoundedSum
from sordino.sql.answering.exact import compute_answer, compute_answers
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_public_keys, read_statement

POLICY = Policy.load(
    """
version: 1
dataset: x
tables:
  t:
    columns:
      a: {bounds: [-10, 10], granularity: 5}
      f: {bounds: [-1, 1], granularity: 0.1}
      g: {domain: [x, y, null]}
  p: {private: false}
"""
)


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE t (a INTEGER, f DOUBLE, g VARCHAR)")
        owner.execute(
            "INSERT INTO t VALUES (1, 0.04, 'x'), (3, 0.06, 'x'), (-3, -0.06, 'z'), (99, 7, NULL), (NULL, NULL, 'x'), "
            "(-99, 'nan', 'x')"
        )
        owner.execute("CREATE TABLE p (k VARCHAR)")
        owner.execute("INSERT INTO p VALUES ('x'), ('q'), ('q'), (NULL)")
        yield connect(owner)


def ask(engine, text):
    statement = read_statement(text, policy=POLICY, catalogue=engine.catalogue(), dialect="duckdb")
    with engine.snapshot() as snapshot:
        statement = read_public_keys(statement, snapshot)
        answers = compute_answers(snapshot, statement)
        for group in statement.groups():
            for place in range(len(statement.measures)):
                assert compute_answer(snapshot, statement.question(group, place)) == answers[group][place]
    return answers


def test_every_row_adds_a_clipped_whole_number_of_steps(engine):
    # 0 + 1 - 1 + 2 - 2 steps of 5; 0 + 1 - 1 + 10 + 10 steps of 0.1, NaN above every bound
    assert ask(engine, "SELECT SUM(a), SUM(f), COUNT(a), COUNT(*) FROM t") == {(): (0, 20, 5, 6)}


def test_nothing_to_sum_is_zero(engine):
    assert ask(engine, "SELECT SUM(a), AVG(f), COUNT(*) FROM t WHERE a > 1000") == {(): (0, 0, 0, 0)}


def test_empty_groups_are_released_and_values_outside_are_not(engine):
    assert ask(engine, "SELECT g, COUNT(*) FROM t GROUP BY g") == {("x",): (4,), ("y",): (0,), (None,): (1,)}


def test_groups_of_a_public_table_come_from_it_alone(engine):
    assert ask(engine, "SELECT k, COUNT(*) FROM t JOIN p ON t.g = p.k GROUP BY k") == {
        ("q",): (0,),
        ("x",): (4,),
        (None,): (0,),
    }


def test_public_values_that_an_engine_may_confuse_do_not_partition():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE t (a INTEGER, f DOUBLE, g VARCHAR COLLATE NOCASE)")
        owner.execute("CREATE TABLE p (k VARCHAR)")
        owner.execute("INSERT INTO p VALUES ('x'), ('X')")
        engine = connect(owner)
        statement = read_statement(
            "SELECT COUNT(*) FROM t JOIN p ON t.g = p.k GROUP BY k",
            policy=POLICY,
            catalogue=engine.catalogue(),
            dialect="duckdb",
        )
        with engine.snapshot() as snapshot:
            assert not read_public_keys(statement, snapshot).partitions


@pytest.mark.parametrize(
    "step", [Fraction(1), Fraction(5), Fraction(1, 100), Fraction(3, 7), Fraction(1, 2**40)]
)
def test_steps_of_a_row_never_leave_their_reach(step):
    low, high = -3 * step, 7 * step
    for value in (low, high, 0, -1e300, 1e300, float(high) * (1 + 1e-15), float(low) * (1 - 1e-15)):
        measure = BoundedSum(exp.cast(exp.Literal.string(repr(float(value))), "DOUBLE"), low, high, step)
        found = duckdb.sql(f"SELECT {measure.steps().sql(dialect='duckdb')}").fetchall()[0][0]
        assert -3 <= found <= 7
        exact = Fraction(float(min(max(value, low), high))) / step
        assert abs(found - exact) <= Fraction(1, 2) + Fraction(1, 10**9)
