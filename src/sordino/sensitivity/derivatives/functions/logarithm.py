"""The natural logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term
from sordino.sensitivity.derivatives.functions.power import raise_smoothly
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class NaturalLogarithm:
    """ln t for t ≥ lo > 0. The bound of the slope is exact, that of the size is the largest there is."""

    def refuse(self, inside: Interval) -> str | None:
        """Needs a range above 0 with ends."""
        if inside.low <= 0:
            return "ln needs a range above 0"
        return None if math.isfinite(inside.high) else "ln needs a range with an upper bound"

    def image(self, inside: Interval) -> Interval:
        """It increases."""
        return inside.increasing(math.log)

    def steepest(self, inside: Interval) -> float:
        """At the lower end."""
        return widen(1 / inside.low, math.inf)

    def value(self, algebra: Algebra, term: Term) -> Term:
        """ln t."""
        return algebra.ln(term)

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """The same for all t."""
        return self.image(inside).largest

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """Of 1/t."""
        return raise_smoothly(algebra, term, -1.0, rate, inside)
