"""Everything that the analyses of one question ask, as one statement: each count once, only numbers come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.analysis.counting import Counted
from sordino.sql.analysis.statement import Asked, split_asked, write_numbers

Row = tuple[int, ...]


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

    def statement(self) -> exp.Query | None:
        """One query for all numbers; None: no need."""
        return write_numbers(self.found) if self.found else None


class Reader:
    """The numbers that a plan asked, read from one snapshot."""

    def __init__(self, snapshot: Snapshot, statement: exp.Query | None) -> None:
        self.statement = statement
        self._rows: dict[int, list[Row]] = {}
        if statement is not None:
            for place, *numbers in _whole_numbers(snapshot.aggregate(statement)):
                self._rows.setdefault(place, []).append(tuple(numbers))

    def rows(self, place: int) -> list[Row]:
        """All that was found there."""
        return self._rows.get(place, [])

    def largest(self, place: int) -> int:
        """The largest number, 0 if there is none."""
        return max((row[0] for row in self.rows(place)), default=0)


def _whole_numbers(table: pa.Table) -> list[Row]:
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]
