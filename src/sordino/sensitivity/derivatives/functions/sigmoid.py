"""The sigmoid, a smooth "is t above 0?"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term, decay
from sordino.sensitivity.interval import Interval


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """σ(t) = 1/(1 + e^(−t)). Both bounds are exact on all numbers.

    **Source**: NAPLES report, Table 10, for rates ≥ 1. Below 1 the table has 1 and e^(bt)/(1 + e^(bt))², up to four
    times as much; these are the suprema.
    """

    def refuse(self, inside: Interval) -> str | None:
        """Nowhere."""
        return None

    def image(self, inside: Interval) -> Interval:
        """It increases within (0, 1)."""
        found = inside.increasing(_sigmoid)
        return Interval(max(found.low, 0.0), min(found.high, 1.0))

    def steepest(self, inside: Interval) -> float:
        """At 0."""
        return 0.25

    def value(self, algebra: Algebra, term: Term) -> Term:
        """By e^(−|t|), which cannot overflow."""
        small = decay(algebra, algebra.absolute(term))
        return algebra.where(term < 0.0, small, 1.0) / (1.0 + small)

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """σ itself where its logarithm is flat enough, an exponential before."""
        if rate >= 1:
            return self.value(algebra, term)
        if rate == 0:
            return 1.0
        turn = math.log(1 / rate - 1)
        before = decay(algebra, rate * (turn - term)) * (1 - rate)
        return algebra.where(term < turn, before, self.value(algebra, term))

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """σ' in the middle, exponentials outside."""
        distance = algebra.absolute(term)
        small = decay(algebra, distance)
        middle = small / ((1.0 + small) * (1.0 + small))
        if rate >= 1:
            return middle
        turn = 2 * math.atanh(rate)
        outside = decay(algebra, rate * (distance - turn)) * ((1 - rate * rate) / 4)
        return algebra.where(distance > turn, outside, middle)


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
