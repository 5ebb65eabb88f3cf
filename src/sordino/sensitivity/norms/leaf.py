"""NormLeaf: one column of a norm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sordino.sensitivity.norms.part import Exponent, NormPart

LeafKind = Literal["plain", "log", "is"]
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


@dataclass(frozen=True, slots=True)
class NormLeaf:
    """|x − x'|, |ln x − ln x'| (`log`), or 0 and 1 for equal and different (`is`)."""

    column: str
    kind: LeafKind = "plain"

    def leaves(self, factor: Fraction = Fraction(1)) -> Iterator[tuple[NormLeaf, Fraction]]:
        """Itself."""
        yield self, factor

    def measure(self, moves: Mapping[str, Any]) -> Any:
        """|move|; of an `is` column 1 whatever it changes to."""
        move = np.abs(np.asarray(moves.get(self.column, 0.0), dtype=float))
        return np.where(move != 0, 1.0, 0.0) if self.kind == "is" else move

    def dual(self, slopes: Mapping[str, Any]) -> Any:
        """|slope|; of an `is` column the largest difference that a change makes."""
        return np.abs(np.asarray(slopes.get(self.column, 0.0), dtype=float))

    def unit_rates(self, factor: float) -> Iterator[tuple[str, float]]:
        """None for an `is` column: bounds do not move when a category jumps."""
        if self.kind != "is":
            yield self.column, factor

    def exponents(self) -> Iterator[Exponent]:
        """None."""
        yield from ()

    def parts(self) -> Iterator[NormPart]:
        """Itself."""
        yield self

    def replaced(self, old: NormPart, new: NormPart) -> NormPart:
        """Itself or the new one."""
        return new if self == old else self

    def __str__(self) -> str:
        quoted = self.column.replace('"', '""')
        name = self.column if _BARE.fullmatch(self.column) else f'"{quoted}"'
        return name if self.kind == "plain" else f"{self.kind}({name})"
