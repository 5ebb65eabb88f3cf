"""Public tables joined by a key: groups of a public column partition the private rows, proved over all tiny data.

Everything runs as in a session, for every database of a universe; only the draw is replaced by the law that it draws
from. The control: a public table in which two rows share what is taken for a key.
"""

from __future__ import annotations

import itertools
from collections import Counter

import duckdb
import pytest

import sordino as sd
from sordino.core import EngineError
from sordino.sql.answering.exact import compute_answers
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions, make_plan
from sordino.sql.reading.lookups import absorb_lookups, read_lookups
from sordino.sql.reading.read import read_public_keys, read_statement
from tests.exact.sql.test_end_to_end import law_of, loss

POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {
        "r": {"columns": {"x": {"bounds": [-2, 3]}}},
        "s": {},
        "p": {"private": False},
        "q": {"private": False},
    },
    "budgets": {"ann": {"epsilon": 100}},
}
CREATE = (
    "CREATE TABLE r (a BIGINT, x BIGINT); CREATE TABLE s (a BIGINT); "
    "CREATE TABLE p (id BIGINT, g BIGINT, size BIGINT, up BIGINT); CREATE TABLE q (id BIGINT, name VARCHAR)"
)
# Two values of one group, one of another; a key that nobody has; NULL is no key, twice.
KEYED = [
    "(0, 0, 5, 0)",
    "(1, 0, 5, 1)",
    "(2, 1, 6, 0)",
    "(9, NULL, 5, 7)",
    "(NULL, 1, 5, 0)",
    "(NULL, 0, 5, 0)",
]
# Value 0 lies in both groups.
SHARED = ["(0, 0, 5, 0)", "(0, 1, 5, 0)", "(1, 0, 5, 1)", "(2, 1, 6, 0)"]
ABOVE = ["(0, 'north')", "(1, 'south')"]
R, S = [(0, 3), (1, -2), (2, 1), ("NULL", 2)], [(0,), (2,)]

QUESTIONS = {
    "count": "SELECT g, COUNT(*) AS n FROM r JOIN p ON r.a = p.id GROUP BY g",
    "sum": "SELECT p.g, SUM(r.x) AS n FROM r, p WHERE p.id = r.a AND p.size < 6 GROUP BY p.g",
    "two hops": "SELECT name, COUNT(*) AS n FROM r JOIN p ON r.a = p.id JOIN q ON q.id = p.up GROUP BY name",
    "two private tables": "SELECT g, COUNT(*) AS n FROM r JOIN p ON r.a = p.id JOIN s ON s.a = r.a GROUP BY g",
    "a self-join": "SELECT p.g, COUNT(*) AS n FROM r AS one, r AS two, p WHERE one.a = two.a AND two.a = p.id "
    "GROUP BY p.g",
    "the same table twice": "SELECT o.g, COUNT(*) AS n FROM r JOIN p AS o ON r.a = o.id JOIN p AS t ON t.id = r.a "
    "GROUP BY o.g",
}


def tables(rows, most):
    return [
        tuple(chosen)
        for size in range(most + 1)
        for chosen in itertools.combinations_with_replacement(rows, size)
    ]


def make_universe(sql):
    """All small tables r, and s where it is asked about."""
    return list(itertools.product(tables(R, 2), tables(S, 1) if "s.a" in sql else [()]))


def neighbours(database, universe):
    for other in universe:
        gaps = [
            (Counter(a) - Counter(b)) + (Counter(b) - Counter(a))
            for a, b in zip(database, other, strict=True)
        ]
        if sum(sum(gap.values()) for gap in gaps) == 1 and repr(database) < repr(other):
            yield other


def open_tables(public):
    owner = duckdb.connect(config={"threads": 1})
    owner.execute(
        f"{CREATE}; INSERT INTO p VALUES {', '.join(public)}; INSERT INTO q VALUES {', '.join(ABOVE)}"
    )
    return owner


def fill(owner, database):
    owner.execute("DELETE FROM r; DELETE FROM s")
    for name, rows in zip(("r", "s"), database, strict=True):
        for row in rows:
            owner.execute(f"INSERT INTO {name} VALUES ({', '.join(map(str, row))})")


def worst_loss(sql, public, absorb, *, same=True):
    """The plan and the largest loss of all cells together over neighbours; ``absorb`` turns the statement over.

    ``same``: the answers must be those of the question as it was written.
    """
    owner, universe = open_tables(public), make_universe(sql)
    with sd.connect(owner, policy=POLICY) as curator:
        data = curator.data
        statement = read_statement(sql, policy=data.policy, catalogue=data.catalogue, dialect="duckdb")
        with data.engine.snapshot() as snapshot:
            plain = read_public_keys(statement, snapshot)
            plan = make_plan(absorb(plain, snapshot), AnswerOptions.checked(1, 0), data.distance)
        found = {}
        for database in universe:
            fill(owner, database)
            with data.engine.snapshot() as snapshot:
                cells = measure_all(snapshot, plan)
                written = compute_answers(snapshot, plain)
            answers = {cell.group: (cell.exact,) for cell in cells}
            assert answers == written or not same
            found[database] = [describe(plan, cell) for cell in cells]
    owner.close()
    laws = {told: law_of(plan, cell) for cells in found.values() for told, cell in cells}
    known = {(a, a): 0.0 for a in laws}
    for a, b in itertools.permutations(laws, 2):
        known[a, b] = known.get((b, a)) or loss(laws[a], laws[b])
    return plan, max(
        sum(known[a, b] for (a, _), (b, _) in zip(found[x], found[y], strict=True))
        for x in universe
        for y in neighbours(x, universe)
    )


def describe(plan, cell):
    """A cell with all that its law depends on."""
    betas = plan.noises[cell.measure].betas
    bounds = () if cell.follows is None else tuple(cell.follows.at(beta) for beta in betas)
    return (cell.exact, bounds), cell


@pytest.mark.parametrize("question", QUESTIONS)
def test_groups_of_a_public_table_with_a_key_each_take_the_whole_budget(question):
    plan, spent = worst_loss(QUESTIONS[question], KEYED, read_lookups)
    assert all(occurrence.private for occurrence in plan.statement.join.occurrences)
    assert plan.statement.partitions
    assert plan.shares == 1
    assert 0.5 < spent <= 1 + 1e-9


@pytest.mark.parametrize("question", ["count", "sum", "two private tables", "a self-join"])
def test_without_a_key_groups_share_the_budget(question):
    plan, spent = worst_loss(QUESTIONS[question], SHARED, read_lookups)
    assert not plan.statement.partitions
    assert plan.shares > 1
    assert spent <= 1 + 1e-9


def take_any_for_a_key(statement, _):
    """The mutant: whatever a public table is joined by is taken for a key."""
    return absorb_lookups(statement, lambda table, columns: True)


@pytest.mark.parametrize("question", ["count", "two private tables"])
def test_what_is_no_key_does_not_partition(question, monkeypatch):
    monkeypatch.setattr("sordino.sql.answering.measured.check_lookups", lambda *_: None)
    plan, spent = worst_loss(QUESTIONS[question], SHARED, take_any_for_a_key, same=False)
    assert plan.shares == 1
    assert spent > 1.2


def test_a_key_that_is_lost_before_the_answer_is_noticed():
    with pytest.raises(EngineError, match="share"):
        worst_loss(QUESTIONS["count"], SHARED, take_any_for_a_key)


def test_a_key_of_two_columns_is_one_only_as_a_whole():
    """p has one row for each (id, g), and two for the id 0."""
    whole = (
        "SELECT s.a, COUNT(*) AS n FROM r JOIN p ON r.a = p.id AND r.x = p.g JOIN s ON s.a = r.a GROUP BY s.a"
    )
    owner = open_tables(SHARED)
    with sd.connect(
        owner, policy={**POLICY, "tables": {**POLICY["tables"], "s": {"private": False}}}
    ) as curator:
        owner.execute("INSERT INTO s VALUES (0), (1)")
        plan = curator.plan(whole, AnswerOptions.checked(1, 0))
    assert [occurrence.table for occurrence in plan.statement.join.occurrences] == ["r"]
    assert plan.statement.partitions
    owner.close()
