"""FlowTable: what a process tells about parties, objects and inputs, as text, CSV, JSON or a page."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FlowCell:
    """One word, the sentence that explains it, and what else programs may want of it."""

    text: str
    why: str = ""
    conditions: tuple[tuple[str, ...], ...] | None = None
    epsilon: float | None = None

    def __str__(self) -> str:
        return self.text if self.epsilon is None else f"{self.text}, ε ≤ {self.epsilon:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told: dict[str, Any] = {"value": self.text, "why": self.why}
        if self.conditions is not None:
            told["conditions"] = [list(one) for one in self.conditions]
        if self.epsilon is not None:
            told["epsilon"] = self.epsilon
        return told


@dataclass(frozen=True, slots=True)
class FlowTable:
    """Rows by name, the names of columns, and a cell for each pair; ``legend`` explains the words."""

    kind: str
    corner: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[FlowCell, ...]]
    legend: str
    warnings: tuple[str, ...] = field(default=())

    def cell(self, row: str, column: str) -> FlowCell:
        """The cell of a row and a column."""
        return self.rows[row][self.columns.index(column)]

    def words(self) -> dict[str, tuple[str, ...]]:
        """The words alone."""
        return {name: tuple(cell.text for cell in cells) for name, cells in self.rows.items()}

    def __str__(self) -> str:
        lines = [
            (self.corner, *self.columns),
            *((name, *map(str, cells)) for name, cells in self.rows.items()),
        ]
        widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def to_csv(self) -> str:
        """The same as comma-separated values; texts that a spreadsheet would reckon with are quoted by it."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for line in [
            (self.corner, *self.columns),
            *((name, *map(str, row)) for name, row in self.rows.items()),
        ]:
            writer.writerow([_plain(text) for text in line])
        return out.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "table": self.kind,
            "columns": list(self.columns),
            "rows": [
                {
                    "name": name,
                    "cells": {
                        column: cell.to_dict() for column, cell in zip(self.columns, cells, strict=True)
                    },
                }
                for name, cells in self.rows.items()
            ],
            "legend": self.legend,
            "warnings": list(self.warnings),
        }


def _plain(text: str) -> str:
    """A name that begins like a formula is not one: an apostrophe keeps spreadsheets from computing it."""
    return (
        f"'{text}" if text[:1] in ("=", "+", "@", "\t", "\r") or (text[:1] == "-" and len(text) > 1) else text
    )
