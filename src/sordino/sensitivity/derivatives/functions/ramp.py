"""The ramp, a "is t above 0?" that is exact outside of [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term, decay
from sordino.sensitivity.interval import Interval


@dataclass(frozen=True, slots=True)
class Ramp:
    """t between 0 and 1, 0 below, 1 above. Both bounds are exact on all numbers.

    On values of a lattice of step 1 it says exactly whether t ≥ 1. At its kinks the slope is that of the steep side.
    """

    def refuse(self, inside: Interval) -> str | None:
        """Nowhere."""
        return None

    def image(self, inside: Interval) -> Interval:
        """Cut to [0, 1]."""
        return Interval(min(max(inside.low, 0.0), 1.0), min(max(inside.high, 0.0), 1.0))

    def steepest(self, inside: Interval) -> float:
        """Between 0 and 1."""
        return 1.0

    def value(self, algebra: Algebra, term: Term) -> Term:
        """Cut to [0, 1]."""
        return algebra.maximum(algebra.minimum(term, 1.0), 0.0)

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """The ramp where its logarithm is flat enough, an exponential before."""
        if rate <= 1:
            return decay(algebra, rate * (1.0 - term))
        before = decay(algebra, 1.0 - rate * term) / rate
        # the exponential touches the ramp from above at 1/b, and is cut from there on
        return algebra.maximum(before, algebra.minimum(term, 1.0))

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """1 on [0, 1], exponentials outside."""
        distance = algebra.maximum(algebra.maximum(-term, term - 1.0), 0.0)
        return decay(algebra, rate * distance)
