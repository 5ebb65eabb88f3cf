"""LEFT JOIN where rows are protected: answers are the engine's own, and the claimed loss holds over all tiny data.

Everything runs as in a session; only the draw is replaced by the law that it draws from. For users, what the engine
counts is held against the definition in `tests.backends.unit_suite`; here is what would be wrong.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from functools import cache

import duckdb
import pytest

import sordino as sd
from sordino.core import UnsupportedError
from sordino.engines import connect
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement
from sordino.sql.units.contributions import PARTS, sum_clipped
from sordino.sql.units.owners import find_owners
from tests.backends.unit_suite import LIMIT, SCHEMA, create_tables, fill_tables
from tests.backends.unit_suite import POLICY as USERS
from tests.exact.sql.test_end_to_end import law_of, loss
from tests.exact.sql.test_lookups import describe
from tests.oracles.units.owners import remove_unit

POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {
        "r": {"columns": {"a": {"domain": [0, 1]}, "x": {"bounds": [-2, 3]}}},
        "s": {"columns": {"y": {"bounds": [0, 2]}}},
        "p": {"private": False},
    },
}
CREATE = (
    "CREATE TABLE r (a BIGINT, x BIGINT); CREATE TABLE s (b BIGINT, y BIGINT); "
    "CREATE TABLE p (id BIGINT, g VARCHAR); INSERT INTO p VALUES (0, 'one'), (2, 'two'), (NULL, 'two')"
)
R, S = [(0, 3), ("NULL", -2)], [(0, 2), (1, 1)]
QUESTIONS = {
    "private": "SELECT COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.b",
    "mirrored": "SELECT COUNT(*) AS n FROM s RIGHT OUTER JOIN r ON r.a = s.b AND s.y > 1",
    "sum of the left": "SELECT SUM(r.x) AS n FROM r LEFT JOIN s ON r.a = s.b",
    "those without": "SELECT COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.b WHERE s.b IS NULL",
    "both": "SELECT COUNT(*) AS n, COUNT(s.b) AS m, SUM(s.y) AS t FROM r LEFT JOIN s ON r.a = s.b",
    "groups": "SELECT r.a, COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.b GROUP BY r.a",
    "public on the left": "SELECT COUNT(*) AS n FROM p LEFT JOIN s ON p.id = s.b",
    "what is there": "SELECT COUNT(s.b) AS n FROM r LEFT JOIN s ON r.a = s.b",
    "groups of what is there": "SELECT r.a, SUM(s.y) AS n FROM r LEFT JOIN s ON r.a = s.b GROUP BY r.a",
    "a filter": "SELECT COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.b WHERE s.y > 0",
    "public groups": "SELECT p.g, COUNT(*) AS n FROM r LEFT JOIN p ON p.id = r.a GROUP BY p.g",
    "public with more": "SELECT p.g, SUM(r.x) AS n FROM p RIGHT JOIN r ON p.id = r.a AND r.x > 0 AND p.g <> 'two' "
    "GROUP BY p.g",
    "public behind both": "SELECT COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.b LEFT JOIN p ON p.id = s.y "
    "WHERE p.g IS NULL",
}  # fmt: skip


def tables(rows, most):
    return [
        tuple(chosen)
        for size in range(most + 1)
        for chosen in itertools.combinations_with_replacement(rows, size)
    ]


UNIVERSE = list(itertools.product(tables(R, 2), tables(S, 2)))


def neighbours(database):
    """Databases of the universe with one row more in one table."""
    for other in UNIVERSE:
        more = [Counter(b) - Counter(a) for a, b in zip(database, other, strict=True)]
        less = [Counter(a) - Counter(b) for a, b in zip(database, other, strict=True)]
        if sum(sum(one.values()) for one in more) == 1 and not any(less):
            yield other


def worst_loss(sql, change=lambda plan: plan, *, weight=1):
    """The plan, and the largest loss of all numbers together where one row of r changes, and where one of s does.

    ``weight``: of a row of s. The exact answers must be the engine's own to the same text.
    """
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(CREATE)
    weighted = {**POLICY["tables"], "s": {**POLICY["tables"]["s"], "weight": weight}}
    with sd.connect(owner, policy={**POLICY, "tables": weighted}) as curator:
        plan = change(curator.plan(sql, AnswerOptions.checked(1, 0)))
        found = {}
        for database in UNIVERSE:
            owner.execute("DELETE FROM r; DELETE FROM s")
            for name, rows in zip(("r", "s"), database, strict=True):
                for row in rows:
                    owner.execute(f"INSERT INTO {name} VALUES ({', '.join(map(str, row))})")
            with curator.data.engine.snapshot() as snapshot:
                cells = measure_all(snapshot, plan)
            assert {(cell.group, cell.measure): cell.exact for cell in cells} == ask_directly(
                owner, sql, plan
            )
            found[database] = [describe(plan, cell) for cell in cells]
    owner.close()
    laws = {told: law_of(plan, cell) for cells in found.values() for told, cell in cells}
    known = cache(lambda a, b: 0.0 if a == b else loss(laws[a], laws[b]))
    worst = [0.0, 0.0]
    for x in UNIVERSE:
        for y in neighbours(x):
            lost = sum(known(a, b) for (a, _), (b, _) in zip(found[x], found[y], strict=True))
            table = 0 if x[0] != y[0] else 1
            worst[table] = max(worst[table], lost)
    return plan, worst


def ask_directly(owner, sql, plan):
    """The engine's own answer, zero for groups that it does not show."""
    depth, numbers = len(plan.statement.keys), range(len(plan.statement.measures))
    own = {row[:depth]: row[depth:] for row in owner.execute(sql).fetchall()}
    return {
        (group, i): (own[group][i] or 0) if group in own else 0
        for group in plan.statement.groups()
        for i in numbers
    }


SLOW = ("both", "sum of the left", "mirrored", "groups of what is there", "public behind both")


@pytest.mark.parametrize(
    "question", [pytest.param(q, marks=[pytest.mark.slow] * (q in SLOW)) for q in QUESTIONS]
)
def test_a_left_join_has_the_claimed_loss(question):
    plan, spent = worst_loss(QUESTIONS[question])
    assert 0.2 < max(spent) <= 1 + 1e-9
    inner = question in (
        "what is there",
        "groups of what is there",
        "a filter",
        "public groups",
        "public with more",
    )
    assert (not plan.statement.join.outer) == inner
    assert plan.shares == {"both": 3, "groups": 2}.get(question, 1)


def bound_by_partners(plan):
    """The mutant: the bounds of the inner join alone, in which a row without a partner does not count."""
    return replace(plan, readings=tuple(replace(reading, least={}) for reading in plan.readings))


def test_the_inner_join_alone_does_not_bound_a_left_join():
    for change, holds in ((lambda plan: plan, True), (bound_by_partners, False)):
        by_left, by_right = worst_loss(QUESTIONS["private"], change, weight=4)[1]
        assert (by_left <= 1 + 1e-9) == holds
        assert by_right <= 4


def test_rows_on_the_left_alone_do_not_bound_a_left_join():
    """The mutant: noise as if the right table did not change, by what one row of the left one adds."""

    def change(plan):
        alone = replace(plan.readings[0], prepared={})
        return replace(plan, readings=(alone,))

    assert max(worst_loss(QUESTIONS["private"], change)[1]) > 1.2


@pytest.mark.parametrize(
    ("sql", "match"),
    [
        ("SELECT COUNT(*) FROM r LEFT JOIN p ON r.a < p.id", "no two of its rows share"),
        ("SELECT COUNT(*) FROM r LEFT JOIN p ON p.g = 'one'", "no two of its rows share"),
        ("SELECT COUNT(*) FROM r LEFT JOIN r AS t ON r.a = t.x", "two different tables"),
        ("SELECT COUNT(*) FROM r, s LEFT JOIN r AS t ON s.b = t.a", "two different tables"),
        ("SELECT SUM(COALESCE(s.y, 2)) FROM r LEFT JOIN s ON r.a = s.b", "leave COALESCE out"),
        ("SELECT s.b > 0, COUNT(*) FROM r LEFT JOIN s ON r.a = s.b GROUP BY 1", "group by columns of r"),
        ("SELECT COUNT(*) FROM r FULL JOIN s ON r.a = s.b", "line 1, column 24: FULL JOIN"),
        ("SELECT COUNT(*) FROM r LEFT JOIN (s JOIN p ON p.id = s.b) ON r.a = s.b", "must be one table"),
        ("SELECT COUNT(*) FROM r LEFT JOIN (SELECT COALESCE(b, 1) AS b FROM s) t ON r.a = t.b", "'b' of the sub-s"),
    ],
)  # fmt: skip
def test_what_is_not_proved_is_refused_before_anything_is_spent(sql, match):
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(CREATE)
    with sd.connect(owner, policy=POLICY) as curator, pytest.raises(UnsupportedError, match=match) as refused:
        curator.plan(sql, AnswerOptions.checked(1, 0))
    assert "line 1, column" in str(refused.value)
    owner.close()


# --- users

STRANGERS = "SELECT COUNT(*) FROM orders a LEFT JOIN orders b ON a.kind = b.kind AND b.amount = 4"


def test_a_partner_of_somebody_else_is_refused_and_would_move_more_than_the_limit():
    """Whoever leaves takes their row along, and everyone else's rows lose their partners."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(create_tables())
    policy = Policy.load(USERS)
    customers = [{"id": i, "city": "a"} for i in (1, 2, 3)]
    rows = [{"id": i, "cid": 1, "amount": 4, "kind": "x"} for i in range(4)]
    rows += [{"id": 7 + i, "cid": i, "amount": 1, "kind": "x"} for i in (2, 3)]
    full = {"customers": customers, "orders": rows, "items": [], "kinds": []}
    with connect(connection) as engine:
        catalogue = engine.catalogue()
        statement = read_statement(STRANGERS, policy=policy, catalogue=catalogue, dialect="duckdb")
        with pytest.raises(UnsupportedError, match="line 1, column 31: LEFT JOIN orders: whoever owns a row"):
            find_owners(statement.join, policy, catalogue)
        # the mutant: the owners of the left rows alone
        alone = find_owners(replace(statement.join, outer=()), policy, catalogue)
        owners = replace(alone, join=statement.join)
        sums = []
        for database in (full, remove_unit(full, SCHEMA, ("customers", 1))):
            connection.execute(fill_tables(database))
            with engine.snapshot() as snapshot:
                sums.append(sum_clipped(snapshot, statement, owners, [LIMIT])[()][0])
    assert abs(sums[0] - sums[1]) > LIMIT * PARTS


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM kinds k LEFT JOIN orders o ON o.kind = k.kind",  # nobody owns a public row
        "SELECT COUNT(*) FROM customers c LEFT JOIN items i ON i.q = c.id",  # not the way to the owner
        "SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON o.cid < c.id",
        "SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON o.cid = c.id OR o.amount > 1",
        # what the first LEFT JOIN asks need not hold where the second finds a partner
        "SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON o.cid = c.id AND o.cid = o.id "
        "LEFT JOIN orders p ON p.cid = o.id OR o.id IS NULL",
    ],
)
def test_owners_of_the_right_side_must_own_the_left_side(sql):
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(create_tables())
    policy = Policy.load(USERS)
    with connect(connection) as engine:
        catalogue = engine.catalogue()
        statement = read_statement(sql, policy=policy, catalogue=catalogue, dialect="duckdb")
        with pytest.raises(UnsupportedError, match="must own the row that it is joined"):
            find_owners(statement.join, policy, catalogue)
