"""Truncation where rows are protected, as an engine reads it: equal to the definition, and within its loss.

The definition knows no keys: every private row of a joined row owns it, and what is left at a limit is a linear
programme. Whatever the code leaves out, because a row lies inside another, must not be seen in the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sordino.core import add_remove_row
from sordino.engines import Engine, Snapshot
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement
from sordino.sql.units import plan as planning
from sordino.sql.units.contributions import PARTS, count_sizes, sum_clipped
from sordino.sql.units.plan import UnitPlan, make_row_plan
from sordino.sql.units.shared import SharedPart
from sordino.sql.units.truncated import TruncatedPart
from sordino.units.truncated_total import bound_within
from tests.backends.unit_suite import CO, OI, Database, Fill, make_database
from tests.oracles.units.contributions import truncated_flow
from tests.oracles.units.owners import Join, joined_rows

EPSILON = 1.0
MOST = 4
LIMIT = 2
PRIVATE = ("customers", "orders", "items")
_TABLES = """
version: 1
dataset: shop
protects: row
tables:
  customers: {%scolumns: {city: {domain: [a, b]}}}
  orders: {%scolumns: {amount: {bounds: [0, 4]}, kind: {domain: [x, y]}}}
  items: {columns: {q: {bounds: [0, 3]}}}
  kinds: {private: false}
"""
_KEY = "key: {columns: [id], enforced: true}, "
POLICIES = {"plain": Policy.load(_TABLES % ("", "")), "keyed": Policy.load(_TABLES % (_KEY, _KEY))}
COI = "FROM customers c JOIN orders o ON c.id = o.cid JOIN items i ON i.oid = o.id"
THREE = Join({"c": "customers", "o": "orders", "i": "items"}, [CO, OI])
# Each with the number of owners that are left with and without enforced keys.
QUESTIONS: dict[str, tuple[Join, int, int]] = {
    "SELECT COUNT(*) FROM customers c JOIN orders o ON c.id = o.cid": (
        Join({"c": "customers", "o": "orders"}, [CO]),
        2,
        1,
    ),
    f"SELECT COUNT(*) {COI}": (THREE, 3, 1),
    f"SELECT SUM(q) {COI}": (
        Join({"c": "customers", "o": "orders", "i": "items"}, [CO, OI], weight=lambda rows: rows["i"]["q"]),
        3,
        1,
    ),
    "SELECT COUNT(*) FROM items a JOIN items b ON a.oid = b.oid": (
        Join({"a": "items", "b": "items"}, [(("a", "oid"), ("b", "oid"))]),
        2,
        2,
    ),
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.cid = b.id": (
        Join({"a": "orders", "b": "orders"}, [(("a", "cid"), ("b", "id"))]),
        2,
        2,
    ),
    "SELECT COUNT(*) FROM customers c, items i": (Join({"c": "customers", "i": "items"}), 2, 2),
    "SELECT COUNT(*) FROM orders o JOIN kinds k ON o.kind = k.kind": (
        Join({"o": "orders", "k": "kinds"}, [(("o", "kind"), ("k", "kind"))]),
        1,
        1,
    ),
    "SELECT COUNT(*) FROM orders o, items i WHERE o.id <= i.oid AND o.amount = 2": (
        Join(
            {"o": "orders", "i": "items"},
            where=lambda rows: (
                None not in (rows["o"]["id"], rows["i"]["oid"], rows["o"]["amount"])
                and rows["o"]["id"] <= rows["i"]["oid"]
                and rows["o"]["amount"] == 2
            ),
        ),
        2,
        2,
    ),
}
# Each with the policy, and whether a row has all its joined rows in one group.
GROUPED = {
    "a row in one group": ("keyed", f"SELECT city, COUNT(*) {COI} GROUP BY city", True),
    "a row in several": ("keyed", f"SELECT kind, COUNT(*) {COI} GROUP BY kind", False),
    "shared results": ("plain", f"SELECT kind, COUNT(*) {COI} GROUP BY kind", False),
    "shared results apart": (
        "plain",
        "SELECT a.kind, COUNT(*) FROM orders a JOIN orders b ON a.kind = b.kind GROUP BY a.kind",
        True,
    ),
}


def plan_rows(engine: Engine, sql: str, policy: str, **options: Any) -> UnitPlan:
    """The plan of a question whose limits go up to a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "MOST_ROWS", MOST)
        statement = read_statement(
            sql, policy=POLICIES[policy], catalogue=engine.catalogue(), dialect=engine.dialect
        )
        asked = AnswerOptions.checked(**({"epsilon": EPSILON} | options), mechanism="truncation")
        return make_row_plan(statement, asked, add_remove_row())


def make_rows(seed: int, policy: str) -> Database:
    """A tiny database; where keys are enforced, one that obeys them."""
    database = make_database(seed)
    if policy == "keyed":
        for table in ("customers", "orders"):
            kept: dict[Any, Any] = {}
            for number, row in enumerate(database[table]):
                kept.setdefault(("NULL", number) if row["id"] is None else row["id"], row)
            database[table] = list(kept.values())
    return database


def one_row_less(database: Database) -> list[Database]:
    """All databases without one private row."""
    return [
        {**database, table: [row for i, row in enumerate(database[table]) if i != gone]}
        for table in PRIVATE
        for gone in range(len(database[table]))
    ]


def measure_rows(plan: UnitPlan, snapshot: Snapshot) -> tuple[list[int], list[Fraction]]:
    """The answers of the choice and the total, at every limit, of a question without groups."""
    (part,) = plan.parts
    if isinstance(part, TruncatedPart):
        (sizes,) = count_sizes(snapshot, plan.statement, plan.owners, [part.noises[0].grid])
        return list(sizes.above), [Fraction(total) for total in sizes.totals]
    assert isinstance(part, SharedPart)
    rows = part.read(snapshot, plan.statement, plan.owners)
    found = part.flow.measure(part.flow.gather(rows.owners, rows.added))
    return list(found.answers), list(found.totals)


def law_of(plan: UnitPlan, answers: list[int], totals: list[Fraction], most: int = 40) -> Any:
    """The joint law of limit and number."""
    (part,) = plan.parts
    truncation = part.noises[0].truncation if isinstance(part, TruncatedPart) else part.flow.truncation
    return truncation.law(answers, [int(total // 1) for total in totals], (-2, most))


def list_grid(plan: UnitPlan) -> tuple[int, ...]:
    """The limits that a row may be cut at."""
    (part,) = plan.parts
    return tuple(part.noises[0].grid) if isinstance(part, TruncatedPart) else part.flow.grid


def check_row_totals(engine: Engine, fill: Fill, seed: int, policy: str) -> None:
    """At every limit the total is that of the linear programme in which every private row has the limit."""
    database = make_rows(seed, policy)
    fill(database)
    with engine.snapshot() as snapshot:
        for sql, (join, plain, keyed) in QUESTIONS.items():
            plan = plan_rows(engine, sql, policy)
            assert len(plan.owners.owners) == (plain if policy == "plain" else keyed), sql
            results = [r for r in joined_rows(database, join, frozenset({"kinds"})) if r.weight]
            _, totals = measure_rows(plan, snapshot)
            for limit, total in zip(list_grid(plan), totals, strict=True):
                wanted = truncated_flow(results, limit) if results else 0
                assert abs(total - wanted) < 1e-6, (sql, limit)


def check_row_loss(engine: Engine, fill: Fill, seed: int, policy: str) -> None:
    """One row less: the laws of limit and number together differ by at most ε."""
    database = make_rows(seed, policy)
    plans = {sql: plan_rows(engine, sql, policy) for sql in QUESTIONS}
    found = []
    for one in (database, *one_row_less(database)):
        fill(one)
        with engine.snapshot() as snapshot:
            found.append(
                [law_of(plan, *measure_rows(plan, snapshot))[1].log_probabilities for plan in plans.values()]
            )
    full, *less = found
    for fewer in less:
        for sql, law, other in zip(plans, full, fewer, strict=True):
            assert np.max(np.abs(law - other)) <= EPSILON + 1e-9, sql


def check_row_groups(engine: Engine, fill: Fill, seed: int) -> None:
    """One row less moves the numbers of all groups together by no more than their noise is for."""
    plans = {name: plan_rows(engine, sql, policy) for name, (policy, sql, _) in GROUPED.items()}
    for policy in ("plain", "keyed"):
        asked = {name: plan for name, plan in plans.items() if GROUPED[name][0] == policy}
        database, found = make_rows(seed, policy), []
        for one in (database, *one_row_less(database)):
            fill(one)
            with engine.snapshot() as snapshot:
                found.append({name: _sums(plan, snapshot) for name, plan in asked.items()})
        full, *less = found
        for fewer in less:
            for name, plan in asked.items():
                moved = sum(abs(full[name][group] - fewer[name][group]) for group in full[name])
                assert moved <= _paid_for(plan, apart=GROUPED[name][2]), name


def _sums(plan: UnitPlan, snapshot: Snapshot) -> Mapping[Any, Fraction]:
    (part,) = plan.parts
    if isinstance(part, TruncatedPart):
        sums = sum_clipped(snapshot, plan.statement, plan.owners, [LIMIT])
        return {group: Fraction(row[0], PARTS) for group, row in sums.items()}
    assert isinstance(part, SharedPart)
    rows = part.read(snapshot, plan.statement, plan.owners)
    parts = part.flow.part_groups(rows.owners, rows.added, rows.places)
    return {
        group: bound_within(one, LIMIT) for group, one in zip(plan.statement.groups(), parts, strict=True)
    }


def _paid_for(plan: UnitPlan, *, apart: bool) -> int:
    """By the definition of each case; that the noise is as wide is asked too."""
    (part,) = plan.parts
    if isinstance(part, TruncatedPart):
        noise = part.noises[0].truncation.noise
        whole = Fraction(3, 4)  # of ε, beside the choice
        assert noise.epsilon == (whole if apart else whole / 2)
        return LIMIT if apart else 2 * LIMIT
    groups = 1 if apart else len(plan.statement.groups())
    assert part.flow.truncation.grid[part.flow.grid.index(LIMIT)] >= groups * LIMIT
    return groups * LIMIT
