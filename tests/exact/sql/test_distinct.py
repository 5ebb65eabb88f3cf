"""COUNT(DISTINCT x) over one table: one row adds one value or none, proved over all tiny tables."""

from __future__ import annotations

import itertools
from collections import Counter

import duckdb
import pytest

import sordino as sd
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from tests.exact.sql.test_end_to_end import law_of, loss

POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {"r": {"columns": {"a": {"domain": [0, 1]}}}, "s": {}, "p": {"private": False}},
    "budgets": {"ann": {"epsilon": 100}},
}
ROWS = [(0, "'x'", 1.5), (0, "'y'", 2.5), (1, "'x'", 1.5), (1, "NULL", 2.5)]
UNIVERSE = [c for size in range(4) for c in itertools.combinations_with_replacement(ROWS, size)]
QUESTIONS = {
    "of one table": "SELECT COUNT(DISTINCT t) FROM r",
    "of an expression": "SELECT COUNT(DISTINCT CASE WHEN a = 1 THEN t ELSE 'x' END) FROM r WHERE a < 5",
    "per group": "SELECT a, COUNT(DISTINCT t) AS n FROM r GROUP BY a",
    "of a public column": "SELECT COUNT(DISTINCT p.g) FROM r JOIN p ON p.id = r.a",
}


@pytest.fixture(scope="module")
def owner():
    with duckdb.connect(config={"threads": 1}) as opened:
        opened.execute("CREATE TABLE r (a BIGINT, t VARCHAR, f DOUBLE); CREATE TABLE s (a BIGINT)")
        opened.execute("CREATE TABLE p AS SELECT i AS id, i // 2 AS g FROM range(3) t(i)")
        yield opened


def measure_everywhere(owner, sql):
    with sd.connect(owner, policy=POLICY) as curator:
        plan = curator.plan(sql, AnswerOptions.checked(1, 0))
        found = {}
        for rows in UNIVERSE:
            owner.execute("DELETE FROM r")
            for row in rows:
                owner.execute(f"INSERT INTO r VALUES ({', '.join(map(str, row))})")
            with curator.data.engine.snapshot() as snapshot:
                found[rows] = measure_all(snapshot, plan)
    return plan, found


@pytest.mark.parametrize("question", QUESTIONS)
def test_different_values_have_the_claimed_loss(owner, question):
    plan, found = measure_everywhere(owner, QUESTIONS[question])
    assert plan.shares == 1
    losses = [
        sum(loss(law_of(plan, a), law_of(plan, b)) for a, b in zip(found[x], found[y], strict=True))
        for x, y in itertools.combinations(UNIVERSE, 2)
        if len(y) == len(x) + 1 and not Counter(x) - Counter(y)
    ]
    assert 0.9 < max(losses) <= 1 + 1e-9


def test_the_values_are_counted_once_and_null_is_none(owner):
    _, found = measure_everywhere(owner, QUESTIONS["of one table"])
    for rows, cells in found.items():
        assert cells[0].exact == len({t for _, t, _ in rows} - {"NULL"})


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT COUNT(DISTINCT t) FROM r JOIN s ON r.a = s.a", "over a join is refused"),
        ("SELECT COUNT(DISTINCT t, a) FROM r", "one expression"),
        ("SELECT COUNT(DISTINCT f) FROM r", "type float"),
        ("SELECT COUNT(DISTINCT 1) FROM r", "at most one such value"),
        ("SELECT SUM(DISTINCT a) FROM r", "nothing else"),
    ],
)
def test_what_is_not_bounded_is_refused(owner, sql, said):
    with sd.connect(owner, policy=POLICY) as curator, pytest.raises(sd.SordinoError, match=said):
        curator.plan(sql, AnswerOptions.checked(1, 0))
