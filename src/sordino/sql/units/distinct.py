"""COUNT(DISTINCT x) where users are protected: values are shared out to owners that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sordino.core import EngineError
from sordino.engines import Snapshot
from sordino.sql.aggregates import DistinctCount
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.answering.exact import write_places
from sordino.sql.question import Statement
from sordino.sql.units.contributions import write_owned_join
from sordino.sql.units.owners import Owners
from sordino.sql.units.part import Cells, Facts, Group
from sordino.sql.units.shared import encode_keys, write_fetched
from sordino.units import FlowTruncation

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DistinctPart:
    """The number of different values that owners can hold, none of whom counts for more than a limit.

    **Guarantee**: that of ``flow`` for one owner with all its rows, in all groups together.
    **Requires**: ``sharers`` are the places of all owners, but one that x itself names may be left out if it stands at
    no other place: it holds one value, so no limit means anything to it.
    """

    place: int
    measure: DistinctCount
    flow: FlowTruncation
    sharers: tuple[int, ...]
    confidence: float

    @property
    def theorem(self) -> str:
        """Flow and noise."""
        return f"values shared out by a flow at a privately chosen limit, then the {self.flow.truncation.noise.theorem}"

    def draw(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> Cells:
        """One statement for who holds which values, then one limit, and a number per group."""
        held = self.read(snapshot, statement, owners)
        limit, steps = self.flow.draw_groups(held.owners, None, held.places, held.values)
        return {
            (group, self.place): DrawnSteps(number, limit)
            for group, number in zip(statement.groups(), steps, strict=True)
        }

    def find_facts(
        self, snapshot: Snapshot, statement: Statement, owners: Owners, confidences: Sequence[float]
    ) -> dict[tuple[Group, int], Facts]:
        """The limit that is chosen most often, and the noise at it."""
        held = self.read(snapshot, statement, owners)
        results = self.flow.join_groups(held.owners, None, held.places, held.values)
        index = self.flow.find_likely(self.flow.measure(results))
        limit = self.flow.grid[index]
        radii = tuple(float(self.flow.radius(limit, confidence)) for confidence in confidences)
        scale = self.flow.truncation.noise.scale(self.flow.truncation.grid[index])
        return {(group, self.place): Facts(limit, scale, radii) for group in statement.groups()}

    def radius(self, cell: DrawnSteps) -> float | None:
        """Public because the limit is released. What sharing out takes away is not in it."""
        return None if cell.scale is None else float(self.flow.radius(cell.scale, self.confidence))

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """The limit."""
        if cell.scale is None:
            return None
        return (
            f"{text}: no {owner} counts for more than {cell.scale} values; the error is that of the noise, and the "
            "values that this limit cuts off are not in it"
        )

    def read(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> HeldValues:
        """Who holds which values. Private."""
        return read_held(snapshot, statement, owners, self.measure, self.sharers, most=self.flow.most_results)


@dataclass(frozen=True, slots=True)
class HeldValues:
    """Who holds what: a column of codes per owner, the code of the value, and the place of the group. Private."""

    owners: tuple[Codes, ...]
    values: Codes
    places: Codes


def read_held(
    snapshot: Snapshot,
    statement: Statement,
    owners: Owners,
    measure: DistinctCount,
    sharers: Sequence[int],
    *,
    most: int,
) -> HeldValues:
    """Every set of owners with every value that it holds in every group, by one statement."""
    found = snapshot.aggregate(write_held_query(statement, owners, measure, sharers, most))
    if found.num_rows > most:
        raise EngineError(f"the owners hold more than {most} values")
    width = len(sharers)
    codes = encode_keys([owners.owners[place].entity for place in sharers], found.columns[:width])
    values = found.column(width).to_numpy().astype(np.int64)
    group = np.zeros(found.num_rows, dtype=np.int64)
    # The order of `Statement.groups`: the last key changes first.
    for key, column in zip(statement.keys, found.columns[width + 1 :], strict=True):
        group = group * len(key.values) + column.to_numpy().astype(np.int64)
    return HeldValues(tuple(codes), values, group)


def write_held_query(
    statement: Statement, owners: Owners, measure: DistinctCount, sharers: Sequence[int], most: int
) -> exp.Select:
    """SELECT of owners' keys, values and places of the groups, each combination once, at most one more than ``most``.

    Values are numbered in the engine: not every value of every engine can be fetched, and none has to be. Owners' keys
    are fetched as texts: an integer of an engine may have more than 64 bits.
    """
    keys, places = [owners.owners[place].key for place in sharers], write_places(statement.keys)
    names = [*(f"owner_{i}" for i in range(len(keys))), "value", *(f"key_{i}" for i in range(len(places)))]
    held = [*keys, measure.value, *places]
    fetched = [*(write_fetched(key, owners) for key in keys), measure.value, *places]
    columns = [exp.alias_(part.copy(), name, quoted=True) for part, name in zip(fetched, names, strict=True)]
    query = write_owned_join(columns, statement, owners)
    query.where(*map(exp.paren, measure.conditions()), copy=False)
    query.group_by(*(part.copy() for part in held), copy=False).limit(most + 1, copy=False)
    value = exp.column("value", quoted=True)
    order = exp.Order(expressions=[exp.Ordered(this=value)])
    number = exp.Window(this=exp.DenseRank(), order=order)
    shown: list[exp.Expr] = [
        exp.alias_(exp.cast(exp.column(name, quoted=True), exp.DataType.Type.TEXT), name, quoted=True)
        for name in names[: len(keys)]
    ]
    shown.append(exp.alias_(number, "value", quoted=True))
    shown += [exp.column(name, quoted=True) for name in names[len(keys) + 1 :]]
    return exp.select(*shown).from_(query.subquery("held"))
