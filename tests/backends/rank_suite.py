"""Values by their rank where users are protected, as an engine weighs them: as defined, and within their loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import add_remove_row
from sordino.engines import Engine, Snapshot
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.policy import Policy
from sordino.sql.question import Statement
from sordino.sql.reading.read import read_statement
from sordino.sql.units.owners import Owners
from sordino.sql.units.plan import make_unit_plan
from sordino.sql.units.rank_weights import sum_weights
from sordino.sql.units.ranked import RankedPart
from sordino.sql.units.unit_noise import SearchedLimit
from sordino.units import WEIGHT_STEPS
from tests.backends.unit_suite import CO, OI, POLICY, SCHEMA, Fill, make_database
from tests.oracles.ranks import weigh_extremes, weigh_rows
from tests.oracles.units.owners import Database, Join, joined_results, neighbours

EPSILON = 1.0
MOST = 4
BOUNDED = Policy.load(f"{POLICY}most_per_unit: {MOST}\n")
Value = Callable[[Any], object]
# the question, its join, what is ranked with its bounds, and the group of a joined row
QUESTIONS: dict[str, tuple[Join, Value, tuple[int, int], Value]] = {
    "SELECT MEDIAN(amount) FROM orders o": (
        Join({"o": "orders"}), lambda rows: rows["o"]["amount"], (-3, 4), lambda rows: ()),
    "SELECT QUANTILE(q, 0.9) FROM customers c JOIN orders o ON c.id = o.cid JOIN items i ON i.oid = o.id": (
        Join({"c": "customers", "o": "orders", "i": "items"}, [CO, OI]),
        lambda rows: rows["i"]["q"], (0, 3), lambda rows: ()),
    "SELECT kind, MEDIAN(amount) FROM orders o GROUP BY kind": (
        Join({"o": "orders"}, where=lambda rows: rows["o"]["kind"] in "xy"),
        lambda rows: rows["o"]["amount"], (-3, 4), lambda rows: (rows["o"]["kind"],)),
    "SELECT MIN(amount) FROM orders o WHERE amount > -3": (
        Join({"o": "orders"}, where=lambda rows: (rows["o"]["amount"] or -3) > -3),
        lambda rows: rows["o"]["amount"], (-3, 4), lambda rows: ()),
    "SELECT kind, city, MAX(q) FROM customers c JOIN orders o ON c.id = o.cid JOIN items i ON i.oid = o.id "
    "GROUP BY kind, city": (
        Join({"c": "customers", "o": "orders", "i": "items"}, [CO, OI],
             where=lambda rows: rows["o"]["kind"] in "xy" and rows["c"]["city"] in "ab"),
        lambda rows: rows["i"]["q"], (0, 3), lambda rows: (rows["o"]["kind"], rows["c"]["city"])),
}  # fmt: skip


def plan_ranks(engine: Engine, sql: str) -> tuple[Statement, Owners, RankedPart]:
    """The question with the one part that answers it."""
    catalogue = engine.catalogue()
    statement = read_statement(sql, policy=BOUNDED, catalogue=catalogue, dialect=engine.dialect)
    plan = make_unit_plan(statement, AnswerOptions.checked(EPSILON, 0), add_remove_row(), BOUNDED, catalogue)
    (part,) = plan.parts
    assert isinstance(part, RankedPart)
    return statement, plan.owners, part


def check_weights(engine: Engine, fill: Fill, seed: int) -> None:
    """At every limit owners weigh what is defined, and so many are above it."""
    database = make_database(seed)
    fill(database)
    with engine.snapshot() as snapshot:
        for sql, (join, value, (low, high), group) in QUESTIONS.items():
            statement, owners, part = plan_ranks(engine, sql)
            rows_of = _rows_of(database, join, value, group, low, high)
            measure = part.ranks[0].measure
            above = part.read_sizes(snapshot, statement, owners).above
            for place, limit in enumerate(part.limit.grid):
                if measure.is_extreme:
                    wanted = weigh_extremes(rows_of, limit, largest=bool(measure.q))
                    sizes = [len({where for where, _ in rows}) for rows in rows_of.values()]
                else:
                    wanted = weigh_rows(rows_of, limit)
                    sizes = [len(rows) for rows in rows_of.values()]
                if above:
                    assert above[place] == sum(size > limit for size in sizes), (sql, limit)
                found = sum_weights(snapshot, statement, owners, measure, limit)
                assert set(found) == set(statement.groups())
                for one in statement.groups():
                    spread = found[one].spread(high - low + 1)
                    for point in range(high - low + 1):
                        weights = [weight for at, weight in wanted.get(one, ()) if at == point]
                        gap = sum(weights, Fraction(0)) - Fraction(int(spread[point]), WEIGHT_STEPS)
                        # rounded down by less than a step per row
                        assert 0 <= gap <= Fraction(len(weights), WEIGHT_STEPS), (sql, limit, one)


def check_rank_loss(engine: Engine, fill: Fill, seed: int) -> None:
    """One owner less: the laws of the limit and of all values together differ by at most ε."""
    database = make_database(seed)
    found = []
    for one in (database, *neighbours(database, SCHEMA).values()):
        fill(one)
        with engine.snapshot() as snapshot:
            laws = []
            for sql in QUESTIONS:
                statement, owners, part = plan_ranks(engine, sql)
                laws.append(find_laws(part, read_weights(snapshot, statement, owners, part)))
            found.append(laws)
    full, *less = found
    for fewer in less:
        for sql, law, other in zip(QUESTIONS, full, fewer, strict=True):
            assert measure_loss(law, other) <= EPSILON + 1e-9, sql


Laws = tuple[np.ndarray, list[list[np.ndarray]]]
Weights = tuple[tuple[int, ...], list[dict[Any, np.ndarray]]]


def read_weights(
    snapshot: Snapshot, statement: Statement, owners: Owners, part: RankedPart, *, weigh: Any = sum_weights
) -> Weights:
    """How many are above every limit, and what lies at every point of every group at each."""
    points = part.measure.lattice.points
    held = [weigh(snapshot, statement, owners, part.measure, limit) for limit in part.limit.grid]
    above = part.read_sizes(snapshot, statement, owners).above
    return above, [{group: found.spread(points) for group, found in one.items()} for one in held]


def find_laws(part: RankedPart, weights: Weights) -> Laws:
    """ln P of every limit, and for each of them ln P of the points, choice after choice."""
    above, held = weights
    chances = np.zeros(1)
    if isinstance(part.limit, SearchedLimit):
        chances = part.limit.truncation.choice.law(above).log_probabilities
    laws = [
        [
            rank.choice(limit, len(one)).law(spread).log_probabilities
            for spread in one.values()
            for rank in part.ranks
        ]
        for limit, one in zip(part.limit.grid, held, strict=True)
    ]
    return chances, laws


def measure_loss(one: Laws, other: Laws) -> float:
    """sup |ln(P/Q)| of the limit and all values together: given the limit, the values are independent."""
    gaps = []
    for place, (left, right) in enumerate(zip(one[1], other[1], strict=True)):
        apart = one[0][place] - other[0][place]
        pairs = list(zip(left, right, strict=True))
        above = apart + sum(float(np.max(p - q)) for p, q in pairs)
        below = -apart + sum(float(np.max(q - p)) for p, q in pairs)
        gaps.append(max(above, below))
    return max(gaps)


def _rows_of(
    database: Database, join: Join, value: Value, group: Value, low: int, high: int
) -> Mapping[Any, list[tuple[Any, int]]]:
    """The group and the point of every joined row, by its owner; rows with two owners are left out, and so is NULL."""
    found: dict[Any, list[tuple[Any, int]]] = {}
    for result in joined_results(database, SCHEMA, join, lambda rows: (group(rows), value(rows))):
        where, number = result.value  # type: ignore[misc]
        if len(result.owners) == 1 and number is not None:
            (owner,) = result.owners
            found.setdefault(owner, []).append((where, min(max(number, low), high) - low))
    return found
