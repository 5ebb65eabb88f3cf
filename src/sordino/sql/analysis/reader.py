"""Everything that the analyses of one question ask, as one statement: each count once, only numbers come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sordino.engines import KeepingSnapshot, Snapshot
from sordino.sql.analysis.counting import Counted, collect_links
from sordino.sql.analysis.shortcuts import read_with_wholes
from sordino.sql.analysis.statement import Asked, Group, Row, read_number_rows, split_asked, write_numbers
from sordino.sql.analysis.wholes import Wholes


@dataclass(frozen=True, slots=True)
class Asking:
    """What a plan asks, each number once. ``most_joined``: see `find_components`.

    ``counts``: all that the question now being planned reads, whether or not another question read it before.
    """

    most_joined: int
    found: dict[Asked, int] = field(default_factory=dict)
    counts: set[Counted] = field(default_factory=set)

    def largest(self, counted: Counted) -> int:
        """The place of the largest number of a count, 0 where it has none."""
        return self._place(Asked((counted,), ((),)))

    def together(self, counts: Sequence[Counted], classes: Sequence[tuple[int, ...]]) -> int:
        """The place of the numbers of several counts that go together, each combination at least once."""
        return self._place(Asked(tuple(counts), tuple(classes)))

    def _place(self, asked: Asked) -> int:
        vectors = split_asked(asked)
        self.counts.update(asked.counts if vectors is None else vectors.counts)
        return self.found.setdefault(asked, len(self.found))

    def numbers(
        self, values: Sequence[Sequence[Any]] = (), integers: frozenset[tuple[str, str]] = frozenset()
    ) -> AskedNumbers:
        """All that was asked until now, of all groups of these key values."""
        return AskedNumbers(dict(self.found), values, integers)


@dataclass(frozen=True, slots=True)
class AskedNumbers:
    """What the plans of one or more questions ask; depends on nothing private.

    ``values``: the public values of each group key, where the questions are about any group. ``integers``: the columns
    of their tables that are whole numbers.
    """

    found: Mapping[Asked, int]
    values: Sequence[Sequence[Any]] = ()
    integers: frozenset[tuple[str, str]] = frozenset()
    _written: list[exp.Query | None] = field(default_factory=list, compare=False)

    @property
    def statement(self) -> exp.Query | None:
        """One statement for all of it; None: nothing is asked."""
        if not self._written:
            self._written.append(write_numbers(self.found, self.values) if self.found else None)
        return self._written[0]


class Reader:
    """The numbers that a plan asked, read from one snapshot.

    Where there are group keys, the numbers are those of one group at a time (`of`).
    """

    def __init__(self, snapshot: Snapshot, numbers: AskedNumbers | None) -> None:
        self.numbers = numbers
        self._group: Group = ()
        self._rows: dict[int, dict[Group, list[Row]]] = {}
        self._restricts: dict[int, tuple[bool, ...]] = {}
        if numbers is not None:
            for place, group, found in _read(snapshot, numbers):
                self._restricts.setdefault(place, tuple(value is not None for value in group))
                self._rows.setdefault(place, {}).setdefault(group, []).append(found)

    def of(self, group: Group) -> Reader:
        """The numbers of one group, given by the places of its values."""
        found = copy(self)
        found._group = group
        return found

    def rows(self, place: int) -> list[Row]:
        """All that was found there."""
        if place not in self._rows:
            return []
        restricts = self._restricts[place]
        group = tuple(value if own else None for value, own in zip(self._group, restricts, strict=True))
        return self._rows[place].get(group, [])

    def told(self) -> tuple[tuple[int, tuple[Row, ...]], ...]:
        """All numbers of the group: where these are equal, so are bounds."""
        return tuple((place, tuple(sorted(self.rows(place)))) for place in self._rows)

    def largest(self, place: int) -> int:
        """The largest number, 0 if there is none."""
        return max((row[0] for row in self.rows(place)), default=0)


def _read(snapshot: Snapshot, numbers: AskedNumbers) -> Iterator[tuple[int, Group, Row]]:
    counts = [counted for asked in numbers.found for counted in asked.counts]
    tables = {table for counted in collect_links(counts) for _, table in counted.tables}
    kept = snapshot.kept(tables) if isinstance(snapshot, KeepingSnapshot) else None
    if kept is not None and numbers.found and not numbers.values:
        wholes = Wholes(kept, numbers.integers)
        if wholes.fill(snapshot, counts):
            for place, row in read_with_wholes(snapshot, numbers.found, wholes):
                yield place, (), row
            return
    if numbers.statement is not None:
        yield from read_number_rows(snapshot.aggregate(numbers.statement), len(numbers.values))
