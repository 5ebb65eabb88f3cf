"""Shared rows: measures of joined rows with several owners each, shared out so that nobody takes part in too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp

from sordino.core import EngineError
from sordino.core.release_view import NOT_IN_ERROR
from sordino.engines import Snapshot
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.answering.exact import write_places
from sordino.sql.question import Statement
from sordino.sql.units.contributions import write_owned_join
from sordino.sql.units.owners import Owners
from sordino.sql.units.part import Cells, Facts, Group
from sordino.units import FlowTruncation

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SharedPart:
    """One measure of rows with several owners, in all groups: see `FlowTruncation`.

    **Guarantee**: that of ``flow``, whose noise is for all groups together, since an owner may be in all of them.
    """

    place: int
    flow: FlowTruncation
    step: Fraction
    confidence: float

    @property
    def theorem(self) -> str:
        """Flow and noise."""
        noise = self.flow.truncation.noise.theorem
        return f"shared results truncated by a flow at a privately chosen limit, then the {noise}"

    def draw(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> Cells:
        """One statement for the sets of owners, then one limit, and a number per group."""
        rows = self.read(snapshot, statement, owners)
        limit, steps = self.flow.draw_groups(rows.owners, rows.added, rows.places)
        return {
            (group, self.place): DrawnSteps(number, limit)
            for group, number in zip(statement.groups(), steps, strict=True)
        }

    def find_facts(
        self, snapshot: Snapshot, statement: Statement, owners: Owners, confidences: Sequence[float]
    ) -> dict[tuple[Group, int], Facts]:
        """The limit that is chosen most often, and the noise at it."""
        rows = self.read(snapshot, statement, owners)
        measures = self.flow.measure(self.flow.join_groups(rows.owners, rows.added, rows.places))
        index = self.flow.find_likely(measures)
        limit = self.flow.grid[index]
        radii = tuple(float(self.flow.radius(limit, confidence)) for confidence in confidences)
        scale = self.flow.truncation.noise.scale(self.flow.truncation.grid[index])
        parts = self.flow.part_groups(rows.owners, rows.added, rows.places)
        by_group = zip(*(self.flow.sum_groups(parts, limit) for limit in self.flow.grid), strict=True)
        return {
            (group, self.place): Facts(
                limit, scale, radii, expected_error=self.flow.expected_error(measures, totals)
            )
            for group, totals in zip(statement.groups(), by_group, strict=True)
        }

    def read(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> SharedRows:
        """The sets of owners and what each adds. Private."""
        asked = replace(statement, measures=(statement.measures[self.place],))
        return read_shared(snapshot, asked, owners, most=self.flow.most_results)

    def radius(self, cell: DrawnSteps) -> float | None:
        """Public because the limit is released. What sharing out takes away is not in it."""
        return None if cell.scale is None else float(self.flow.radius(cell.scale, self.confidence))

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """The limit."""
        if cell.scale is None:
            return None
        most = float(cell.scale * self.step)
        return f"{text}: no {owner} counts for more than {most:g}; what that cuts off {NOT_IN_ERROR}"


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The owners of every set, a column of codes per owner; what the set adds, and the place of its group."""

    owners: tuple[Codes, ...]
    added: Codes
    places: Codes


def read_shared(snapshot: Snapshot, statement: Statement, owners: Owners, *, most: int) -> SharedRows:
    """The sets of owners in the groups that are asked for. Private.

    Codes of different entities are different numbers, and the same owner has one code wherever it stands.
    """
    found = snapshot.aggregate(write_shared_query(statement, owners, most))
    if found.num_rows > most:
        raise EngineError(f"the joined rows have more than {most} different sets of owners")
    width, depth = len(owners.owners), len(statement.keys)
    codes = encode_keys([owner.entity for owner in owners.owners], found.columns[:width])
    places = [column.to_numpy() for column in found.columns[width : width + depth]]
    added = found.column(width + depth).to_numpy().astype(np.int64)
    place = np.full(found.num_rows, -1, dtype=np.int64)
    for number, group in enumerate(statement.groups()):
        chosen = np.ones(found.num_rows, dtype=bool)
        for key, column, value in zip(statement.keys, places, group, strict=True):
            chosen &= column == key.values.index(value)
        place[chosen] = number
    kept = place >= 0
    return SharedRows(tuple(column[kept] for column in codes), added[kept], place[kept])


def write_shared_query(statement: Statement, owners: Owners, most: int) -> exp.Select:
    """SELECT of the owners' keys, the places of the groups and the measure, of at most one set more than ``most``.

    Keys are fetched as texts: an integer of an engine may have more than 64 bits.
    """
    keys = [owner.key for owner in owners.owners]
    places = write_places(statement.keys)
    columns = [
        exp.alias_(write_fetched(key, owners), f"owner_{i}", quoted=True) for i, key in enumerate(keys)
    ]
    columns += [exp.alias_(place.copy(), f"key_{i}", quoted=True) for i, place in enumerate(places)]
    columns.append(exp.alias_(statement.measures[0].total(), "measure", quoted=True))
    query = write_owned_join(columns, statement, owners)
    grouped = query.group_by(*(key.copy() for key in keys), *(place.copy() for place in places), copy=False)
    return grouped.limit(most + 1)


def write_fetched(key: exp.Expr, owners: Owners) -> exp.Expr:
    """An owner's key in a form that can be fetched whatever it is: as text, since whole numbers may exceed 64 bits.

    Rows that are owners themselves are numbered in the statement, and such numbers fit.
    """
    if isinstance(key, exp.Column) and key.table in dict(owners.numbered):
        return key.copy()
    return exp.cast(key.copy(), exp.DataType.Type.TEXT)


def encode_keys(entities: Sequence[Any], columns: Sequence[pa.ChunkedArray]) -> list[Codes]:
    """One code per owner: the place of its key among all keys of its entity, entity after entity."""
    codes: list[Codes] = [np.empty(0, dtype=np.int64)] * len(columns)
    start = 0
    for entity in dict.fromkeys(entities):
        places = [i for i, other in enumerate(entities) if other == entity]
        together = pa.chunked_array(
            [chunk for i in places for chunk in columns[i].chunks], columns[places[0]].type
        )
        known = pc.unique(together)
        for i in places:
            codes[i] = pc.index_in(columns[i], value_set=known).to_numpy().astype(np.int64) + start
        start += len(known)
    return codes
