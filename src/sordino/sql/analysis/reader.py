"""Statements of one analysis: run inside the engine once each, only numbers come back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from sordino.engines import Snapshot


@dataclass(slots=True, repr=False)
class Reader:
    """Asks a snapshot, and remembers what was asked: the same statement is not run twice.

    A statement may give numbers as text: those that 64 bits might not hold.
    """

    snapshot: Snapshot
    asked: dict[exp.Expr, list[tuple[int, ...]]] = field(default_factory=dict)

    def rows(self, statement: exp.Expr) -> list[tuple[int, ...]]:
        """The rows of whole numbers that the statement gives; rows with a NULL are left out."""
        if statement not in self.asked:
            self.asked[statement] = _numbers(self.snapshot.aggregate(statement))
        return self.asked[statement]

    def number(self, statement: exp.Expr) -> int:
        """The one number that the statement gives; 0 for NULL."""
        rows = self.rows(statement)
        return rows[0][0] if rows else 0


def _numbers(table: pa.Table) -> list[tuple[int, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(map(int, row)) for row in zip(*columns, strict=True) if None not in row]
