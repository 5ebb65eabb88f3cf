"""Statements of one analysis: run inside the engine once each, only numbers come back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from sordino.engines import Snapshot


@dataclass(frozen=True, slots=True)
class Asking:
    """The statements that a plan asks, each once.

    ``most_joined``: see `components`. ``largest``: joins whose largest count is the largest number in a column of a
    statement that is asked anyway.
    """

    most_joined: int
    found: dict[exp.Expr, int] = field(default_factory=dict)
    largest: dict[exp.Expr, tuple[int, int]] = field(default_factory=dict)

    def number_of(self, statement: exp.Expr) -> int:
        """The place of the statement among all that are asked."""
        return self.found.setdefault(statement, len(self.found))

    def statements(self) -> tuple[exp.Expr, ...]:
        """In the order in which they were met."""
        return tuple(self.found)


@dataclass(slots=True, repr=False)
class Reader:
    """Asks a snapshot; the same statement is not run twice.

    A statement may give numbers as text: those that 64 bits might not hold.
    """

    snapshot: Snapshot
    statements: tuple[exp.Expr, ...]
    answers: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)

    def rows(self, number: int) -> list[tuple[int, ...]]:
        """The rows of whole numbers that a statement gives; rows with a NULL are left out."""
        if number not in self.answers:
            self.answers[number] = _numbers(self.snapshot.aggregate(self.statements[number]))
        return self.answers[number]

    def largest(self, number: int, column: int = 0) -> int:
        """The largest number in a column, 0 if there is none."""
        return max((row[column] for row in self.rows(number)), default=0)


def _numbers(table: pa.Table) -> list[tuple[int, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(map(int, row)) for row in zip(*columns, strict=True) if None not in row]
