"""Composition: an elementary function of an expression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sordino.sensitivity.derivatives.algebra import Algebra, Term, lift
from sordino.sensitivity.derivatives.functions import Elementary
from sordino.sensitivity.derivatives.node import CellFunction, Cells, Rates, common_rate, scaled_rates
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class Composition:
    """φ(f): φ may have the rate b = min ρᵢ/Bᵢ, since f moves by at most Bᵢ per unit of column i.

    The slopes are those of φ times those of f. If the bounds on f's slopes do not move, φ' has the whole rate; else the
    two share it evenly (Figure 41, ∘S and ∘D).
    """

    function: Elementary
    inner: CellFunction
    range: Interval = field(init=False, compare=False, repr=False)
    steepest: Mapping[str, float] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", self._range())
        object.__setattr__(self, "steepest", self._steepest())

    @property
    def columns(self) -> frozenset[str]:
        """Those of the inner one."""
        return self.inner.columns

    def _range(self) -> Interval:
        """The image of its range."""
        return self.function.image(self.inner.range)

    def _steepest(self) -> Mapping[str, float]:
        """By the chain rule."""
        outer = self.function.steepest(self.inner.range)
        return {
            name: widen(outer * bound, math.inf) if outer and bound else 0.0
            for name, bound in self.inner.steepest.items()
        }

    @property
    def steady(self) -> bool:
        """If nothing private is inside."""
        return not self.columns

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """φ(f)."""
        return self.function.value(algebra, self.inner.value(algebra, cells))

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """φ's, at the rate that f leaves."""
        rate = common_rate(rates, self.inner.steepest)
        if math.isinf(rate):
            return algebra.absolute(self.value(algebra, cells))
        return self.function.size(algebra, self.inner.value(algebra, cells), rate, self.inner.range)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """By the chain rule."""
        if not self.columns:
            return {}
        share = 1.0 if self.inner.steady else 0.5
        rate = common_rate(rates, self.inner.steepest)
        if math.isinf(rate):
            return {}
        term = self.inner.value(algebra, cells)
        outer = lift(algebra, self.function.slope(algebra, term, rate * share, self.inner.range))
        inner = self.inner.slopes(algebra, cells, scaled_rates(rates, 1 - share))
        return {name: outer * lift(algebra, slope) for name, slope in inner.items()}
