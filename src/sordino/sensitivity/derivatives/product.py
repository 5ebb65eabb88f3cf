"""Product: several functions multiplied."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sordino.sensitivity.derivatives.algebra import Algebra, Term, clean, lift
from sordino.sensitivity.derivatives.node import CellFunction, Cells, Rates, add_slopes
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class Product:
    """f₁·…·f_k: the size is Π gⱼ, the slopes Σᵢ hᵢ·Π_{j≠i} gⱼ.

    Rates of products add. A column of one factor only may have its whole rate there; one that k factors share has a
    k-th of it in each (Figure 41, *S, *D and the rules for separate variables).
    """

    factors: tuple[CellFunction, ...]
    range: Interval = field(init=False, compare=False, repr=False)
    steepest: Mapping[str, float] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", self._range())
        object.__setattr__(self, "steepest", self._steepest())

    @property
    def columns(self) -> frozenset[str]:
        """Of all factors."""
        return frozenset().union(*(part.columns for part in self.factors))

    def _range(self) -> Interval:
        """By interval arithmetic."""
        total = Interval(1.0, 1.0)
        for part in self.factors:
            total = total * part.range
        return total

    def _steepest(self) -> Mapping[str, float]:
        """By the largest sizes."""
        total: dict[str, float] = {}
        for place, part in enumerate(self.factors):
            others = 1.0
            for other in self.factors[:place] + self.factors[place + 1 :]:
                others = widen(others * other.range.largest, math.inf)
            for name, bound in part.steepest.items():
                added = 0.0 if bound == 0 or others == 0 else bound * others
                total[name] = widen(total.get(name, 0.0) + added, math.inf)
        return total

    @property
    def steady(self) -> bool:
        """If one steady factor has private columns and all others are public."""
        private = [part for part in self.factors if part.columns]
        return len(private) == 1 and private[0].steady

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """Multiplied."""
        total: Term = 1.0
        for part in self.factors:
            total = total * clean(part.value(algebra, cells))
        return total

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """Multiplied, each with its share of the rates."""
        total: Term = 1.0
        for part, share in zip(self.factors, self._shares(rates), strict=True):
            total = total * lift(algebra, part.size(algebra, cells, share))
        return total

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """The slopes of each factor times the sizes of all others."""
        shares = self._shares(rates)
        sizes = [
            lift(algebra, part.size(algebra, cells, share))
            for part, share in zip(self.factors, shares, strict=True)
        ]
        parts = []
        for place, (part, share) in enumerate(zip(self.factors, shares, strict=True)):
            found = {name: lift(algebra, slope) for name, slope in part.slopes(algebra, cells, share).items()}
            for size in sizes[:place] + sizes[place + 1 :] if found else ():
                found = {name: slope * size for name, slope in found.items()}
            parts.append(found)
        return add_slopes(parts)

    def _shares(self, rates: Rates) -> list[dict[str, float]]:
        users = Counter(name for part in self.factors for name in part.columns)
        return [{name: rates[name] / users[name] for name in part.columns} for part in self.factors]
