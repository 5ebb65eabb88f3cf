"""The exponential function."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term, decay
from sordino.sensitivity.interval import Interval

_MOST = 300.0


@dataclass(frozen=True, slots=True)
class NaturalExponential:
    """e^t: smooth by itself from rate 1 on, below that by the end of its range. Exact.

    **Source**: NAPLES report, Table 10, for rates ≥ 1; ranges are ours.
    """

    def refuse(self, inside: Interval) -> str | None:
        """Needs a range whose exponentials are numbers."""
        return (
            None
            if inside.largest <= _MOST
            else f"exp needs an argument between {-_MOST:g} and {_MOST:g}: give bounds"
        )

    def image(self, inside: Interval) -> Interval:
        """It increases."""
        return inside.increasing(math.exp)

    def steepest(self, inside: Interval) -> float:
        """At the upper end."""
        return self.image(inside).high

    def value(self, algebra: Algebra, term: Term) -> Term:
        """e^t."""
        return algebra.exp(term)

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """e^t, or e^(hi − b(hi − t))."""
        if rate >= 1:
            return algebra.exp(term)
        return decay(algebra, rate * (inside.high - term)) * math.exp(inside.high)

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """It is its own derivative."""
        return self.size(algebra, term, rate, inside)
