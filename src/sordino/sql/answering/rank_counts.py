"""How many joined rows lie at every point of a lattice, group by group: all that a choice by rank needs of the rows.

One GROUP BY in the engine. What comes back are places of groups, points and numbers of rows: at most as many as there
are points in all groups, or rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.aggregates import Lattice, RankedValue
from sordino.sql.aggregates.measure import is_there
from sordino.sql.answering.counted import compute_counted
from sordino.sql.answering.exact import compute_answers, place_groups, write_join
from sordino.sql.question import GroupKey, Statement

Group = tuple[Any, ...]
Counts = NDArray[np.int64]
Cell = tuple[Group, int]


@dataclass(frozen=True, slots=True)
class RankCounts:
    """How much lies at some points of a lattice, given by their places; nothing lies at the others. Private."""

    places: Counts
    counts: Counts

    def spread(self, points: int) -> Counts:
        """One count per point."""
        spread = np.zeros(points, dtype=np.int64)
        np.add.at(spread, self.places, self.counts)
        return spread

    def find_place(self, q: Fraction) -> int:
        """The place of the k-th value, k = ⌈qn⌉ within 1 … n; the first point where there are no rows."""
        total = int(self.counts.sum())
        if not total:
            return 0
        order = np.argsort(self.places, kind="stable")
        rank = max(1, min(total, math.ceil(q * total)))
        return int(self.places[order][np.searchsorted(np.cumsum(self.counts[order]), rank)])


NOTHING = RankCounts(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def count_places(snapshot: Snapshot, statement: Statement, lattice: Lattice) -> dict[Group, RankCounts]:
    """Every group, empty ones too, with its rows at every point. Private."""
    return gather_counts(snapshot.aggregate(write_places_query(statement, lattice)), statement, lattice)


def write_places_query(statement: Statement, lattice: Lattice) -> exp.Select:
    """SELECT of the places of the groups' keys, the number of steps and the number of rows that have it."""
    steps, keys = lattice.steps(), statement.keys
    columns = [exp.alias_(key.column.copy(), f"key_{i}", quoted=True) for i, key in enumerate(keys)]
    columns.append(exp.alias_(steps, "place", quoted=True))
    counted = exp.alias_(exp.Count(this=exp.Star(), big_int=True), "rows_", quoted=True)
    conditions = (*statement.join.conditions, is_there(lattice.value))
    join = statement.join
    query = write_join([*columns, counted], join.occurrences, conditions, outer=join.outer)
    query.group_by(*(key.column.copy() for key in keys), steps.copy(), copy=False)
    return place_groups(query, keys, ("place", "rows_"), total="rows_") if keys else query


def gather_counts(found: pa.Table, statement: Statement, lattice: Lattice) -> dict[Group, RankCounts]:
    """From columns of key places, steps and counts to the counts of every group."""
    *keys, steps, counts = (column.to_numpy() for column in found.columns)
    places, counts = steps.astype(np.int64) - lattice.first, counts.astype(np.int64)
    group = _number_groups(statement.keys, keys, len(places))
    order = np.argsort(group, kind="stable")
    places, counts, group = places[order], counts[order], group[order]
    ends = np.flatnonzero(np.diff(group)) + 1
    gathered: dict[int, RankCounts] = {}
    for at, some_places, some_counts in zip(
        [0, *ends] if len(group) else [], np.split(places, ends), np.split(counts, ends), strict=False
    ):
        gathered[int(group[at])] = RankCounts(some_places, some_counts)
    numbers = _number_listed(statement)
    return {
        group: gathered.get(number, NOTHING)
        for group, number in zip(statement.groups(), numbers, strict=True)
    }


def _number_groups(keys: Sequence[GroupKey], columns: Sequence[NDArray[Any]], rows: int) -> Counts:
    """One number per combination of places; the last key changes first."""
    number = np.zeros(rows, dtype=np.int64)
    for key, column in zip(keys, columns, strict=True):
        number = number * len(key.values) + column.astype(np.int64)
    return number


def _number_listed(statement: Statement) -> list[int]:
    """The same number of every group that is asked for."""
    numbers = []
    places = [{value: place for place, value in enumerate(key.values)} for key in statement.keys]
    for group in statement.groups():
        number = 0
        for key, known, value in zip(statement.keys, places, group, strict=True):
            number = number * len(key.values) + known[value]
        numbers.append(number)
    return numbers


@dataclass(frozen=True, slots=True)
class ExactCell:
    """What the rows say of one cell: the exact number of steps, and the counts that it was chosen from if it was."""

    steps: int
    counts: RankCounts | None = None


def compute_cells(snapshot: Snapshot, statement: Statement) -> dict[Cell, ExactCell]:
    """Every cell of a statement: sums by one statement, ranks by one per lattice. Private.

    The least, the greatest or any other quantile of no rows is given as the first point of the lattice.
    """
    if statement.counted is not None:
        return {((), 0): ExactCell(compute_counted(snapshot, statement.counted))}
    cells: dict[Cell, ExactCell] = {}
    summed = [i for i, measure in enumerate(statement.measures) if not isinstance(measure, RankedValue)]
    if summed:
        asked = replace(statement, measures=tuple(statement.measures[i] for i in summed))
        for group, row in compute_answers(snapshot, asked).items():
            cells |= {(group, i): ExactCell(steps) for i, steps in zip(summed, row, strict=True)}
    known: dict[Lattice, dict[Group, RankCounts]] = {}
    for place, measure in enumerate(statement.measures):
        if isinstance(measure, RankedValue):
            if measure.lattice not in known:
                known[measure.lattice] = count_places(snapshot, statement, measure.lattice)
            for group, counts in known[measure.lattice].items():
                steps = measure.lattice.first + counts.find_place(measure.q)
                cells[group, place] = ExactCell(steps, counts)
    return {
        (group, i): cells[group, i] for group in statement.groups() for i in range(len(statement.measures))
    }
