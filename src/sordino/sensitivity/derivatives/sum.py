"""WeightedSum: numbers times functions, added up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sordino.sensitivity.derivatives.algebra import Algebra, Term, clean, lift
from sordino.sensitivity.derivatives.functions import raise_smoothly
from sordino.sensitivity.derivatives.node import CellFunction, Cells, Rates, add_slopes, common_rate
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Σ kⱼfⱼ + k: sizes and slopes add with |kⱼ| (Figure 41, +D and +S, where |·| is missing).

    Where all slopes are constant, |f| itself moves no faster than they say, which is a second bound of the size.
    """

    terms: tuple[tuple[float, CellFunction], ...]
    constant: float = 0.0
    range: Interval = field(init=False, compare=False, repr=False)
    steepest: Mapping[str, float] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", self._range())
        object.__setattr__(self, "steepest", self._steepest())

    @property
    def columns(self) -> frozenset[str]:
        """Of all terms."""
        return frozenset().union(*(part.columns for _, part in self.terms))

    def _range(self) -> Interval:
        """By interval arithmetic."""
        total = Interval(self.constant, self.constant)
        for factor, part in self.terms:
            total = total + Interval(factor, factor) * part.range
        return total

    def _steepest(self) -> Mapping[str, float]:
        """Added up."""
        total: dict[str, float] = {}
        for factor, part in self.terms:
            for name, bound in part.steepest.items():
                total[name] = widen(total.get(name, 0.0) + abs(factor) * bound, math.inf)
        return total

    @property
    def steady(self) -> bool:
        """If all terms are."""
        return all(part.steady for _, part in self.terms)

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """Added up."""
        total: Term = self.constant
        for factor, part in self.terms:
            value = part.value(algebra, cells)
            total = total + factor * (clean(value) if abs(factor) < 1 else value)
        return total

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """Added up; where all slopes are constant also that of the first power of f, if it is smaller."""
        total: Term = abs(self.constant)
        for factor, part in self.terms:
            total = total + abs(factor) * lift(algebra, part.size(algebra, cells, rates))
        if not self.steady:
            return total
        magnitude = algebra.absolute(self.value(algebra, cells))
        rate = common_rate(rates, self.steepest)
        if math.isinf(rate):
            return magnitude
        direct = raise_smoothly(algebra, magnitude, 1.0, rate, self.range.magnitude())
        return algebra.minimum(total, direct)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """Added up."""
        return add_slopes(
            [
                {
                    name: abs(factor) * lift(algebra, slope)
                    for name, slope in part.slopes(algebra, cells, rates).items()
                }
                for factor, part in self.terms
            ]
        )
