"""COUNT(DISTINCT x) where users are protected, as an engine reads it: equal to the definition, and within its loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sordino.core import add_remove_row
from sordino.engines import Engine, Snapshot
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.policy import Policy
from sordino.sql.question import Statement
from sordino.sql.reading.read import read_statement
from sordino.sql.units.distinct import DistinctPart, HeldValues
from sordino.sql.units.owners import Owners
from sordino.sql.units.plan import make_unit_plan
from sordino.units.truncated_total import bound_within
from tests.backends.unit_suite import CO, POLICY, SCHEMA, Fill, make_database
from tests.oracles.units.distinct import fractional_distinct
from tests.oracles.units.owners import Database, Join, joined_results, neighbours

EPSILON = 1.0
MOST = 4
BOUNDED = Policy.load(f"{POLICY}most_per_unit: {MOST}\n")
Value = Callable[[Any], object]
SELF = "FROM orders a JOIN orders b ON a.id = b.amount"
SELF_JOIN = Join({"a": "orders", "b": "orders"}, [(("a", "id"), ("b", "amount"))])
QUESTIONS: dict[str, tuple[Join, Value]] = {
    "SELECT COUNT(DISTINCT kind) FROM orders o": (Join({"o": "orders"}), lambda rows: rows["o"]["kind"]),
    "SELECT COUNT(DISTINCT amount) FROM customers c JOIN orders o ON c.id = o.cid WHERE city = 'a'": (
        Join({"c": "customers", "o": "orders"}, [CO], where=lambda rows: rows["c"]["city"] == "a"),
        lambda rows: rows["o"]["amount"],
    ),
    "SELECT COUNT(DISTINCT q) FROM items i": (Join({"i": "items"}), lambda rows: rows["i"]["q"]),
    f"SELECT COUNT(DISTINCT a.kind) {SELF}": (SELF_JOIN, lambda rows: rows["a"]["kind"]),
    f"SELECT COUNT(DISTINCT a.cid) {SELF}": (SELF_JOIN, lambda rows: rows["a"]["cid"]),
}
GROUPED = "SELECT kind, COUNT(DISTINCT amount) FROM orders o GROUP BY kind"


def plan_distinct(engine: Engine, sql: str) -> tuple[Statement, Owners, DistinctPart]:
    """The question with the one part that answers it."""
    catalogue = engine.catalogue()
    statement = read_statement(sql, policy=BOUNDED, catalogue=catalogue, dialect=engine.dialect)
    options = AnswerOptions.checked(EPSILON, 0)
    plan = make_unit_plan(statement, options, add_remove_row(), BOUNDED, catalogue)
    (part,) = plan.parts
    assert isinstance(part, DistinctPart)
    return statement, plan.owners, part


def check_values(engine: Engine, fill: Fill, seed: int) -> None:
    """At every limit the flow is the largest number of values that owners can be given."""
    database = make_database(seed)
    fill(database)
    with engine.snapshot() as snapshot:
        for sql, (join, value) in QUESTIONS.items():
            _, part, held = _read(engine, snapshot, sql)
            results = _results(database, join, value)
            found = part.flow.measure(part.flow.gather(held.owners, None, held.values)).totals
            for limit, total in zip(part.flow.grid, found, strict=True):
                wanted = fractional_distinct(results, limit) if results else 0
                assert abs(total - wanted) < 1e-6, (sql, limit)
        statement, part, held = _read(engine, snapshot, GROUPED)
        groups = part.flow.part_groups(held.owners, None, held.places, held.values)
        for (kind,), values in zip(statement.groups(), groups, strict=True):
            of_kind = Join({"o": "orders"}, where=lambda rows, kind=kind: rows["o"]["kind"] == kind)
            results = _results(database, of_kind, lambda rows: rows["o"]["amount"])
            wanted = fractional_distinct(results, 1) if results else 0
            assert abs(bound_within(values, 1) - wanted) < 1e-6, kind


def check_loss(engine: Engine, fill: Fill, seed: int) -> None:
    """One owner less: the laws of limit and number together differ by at most ε."""
    database = make_database(seed)
    found = []
    for one in (database, *neighbours(database, SCHEMA).values()):
        fill(one)
        with engine.snapshot() as snapshot:
            laws = []
            for sql in QUESTIONS:
                _, part, held = _read(engine, snapshot, sql)
                measures = part.flow.measure(part.flow.gather(held.owners, None, held.values))
                laws.append(part.flow.law(measures, (-2, 8))[1].log_probabilities)
            found.append(laws)
    full, *less = found
    for fewer in less:
        for sql, law, other in zip(QUESTIONS, full, fewer, strict=True):
            assert np.max(np.abs(law - other)) <= EPSILON + 1e-9, sql


def _read(engine: Engine, snapshot: Snapshot, sql: str) -> tuple[Statement, DistinctPart, HeldValues]:
    statement, owners, part = plan_distinct(engine, sql)
    return statement, part, part.read(snapshot, statement, owners)


def _results(database: Database, join: Join, value: Value) -> list[Any]:
    """Rows with several owners, which only a key that does not hold can make, are left out; so is NULL."""
    found = joined_results(database, SCHEMA, join, value)
    one = len(set(join.tables.values())) == len(join.tables)
    return [r for r in found if r.value is not None and (len(r.owners) == 1 or not one)]
