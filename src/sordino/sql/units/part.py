"""UnitPart: some measures of a question that are read and drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sordino.engines import Snapshot
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.question import Statement
from sordino.sql.units.owners import Owners

Group = tuple[Any, ...]
Cells = dict[tuple[Group, int], DrawnSteps]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the owner may know of one cell, in steps: the likely limit, who is above it, and the noise at it."""

    limit: int
    scale: float
    radii: tuple[float, ...]
    above: int | None = None
    expected_error: float | None = None


class UnitPart(Protocol):
    """One way to release measures. What is read of the snapshot may depend on what was drawn before."""

    @property
    def theorem(self) -> str:
        """What its guarantee rests on."""

    def draw(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> Cells:
        """All cells of its measures."""

    def find_facts(
        self, snapshot: Snapshot, statement: Statement, owners: Owners, confidences: Sequence[float]
    ) -> Mapping[tuple[Group, int], Facts]:
        """Of all cells, for the owner: not private."""
