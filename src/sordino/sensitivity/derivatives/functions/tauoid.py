"""The tauoid, a smooth "is t equal to 0?"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term, decay
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class Tauoid:
    """τ(t) = 2/(e^t + e^(−t)). Both bounds are exact on all numbers.

    |τ'| = u√(1 − u²) with u = tanh|t|, and the slope of its logarithm is (1 − 2u²)/u. That is b and −b at
    u = (∓b + √(b² + 8))/4: exponentials lie inside the first and outside the second.
    **Source**: NAPLES report, Table 10, for rates ≥ 1 and with τ in the place of |τ'|; the rest is ours.
    """

    def refuse(self, inside: Interval) -> str | None:
        """Nowhere."""
        return None

    def image(self, inside: Interval) -> Interval:
        """It falls with |t|."""
        near, far = inside.smallest, inside.largest
        low = 0.0 if far > 700 else max(widen(1 / math.cosh(far), -math.inf), 0.0)
        return Interval(low, 1.0 if near > 700 else min(widen(1 / math.cosh(near), math.inf), 1.0))

    def steepest(self, inside: Interval) -> float:
        """Where tanh² = 1/2."""
        return 0.5

    def value(self, algebra: Algebra, term: Term) -> Term:
        """By e^(−|t|), which cannot overflow."""
        small = decay(algebra, algebra.absolute(term))
        return 2.0 * small / (1.0 + small * small)

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """τ in the middle, exponentials outside."""
        if rate >= 1:
            return self.value(algebra, term)
        distance = algebra.absolute(term)
        turn = math.atanh(rate)
        outside = decay(algebra, rate * (distance - turn)) * math.sqrt(1 - rate * rate)
        return algebra.where(distance > turn, outside, self.value(algebra, term))

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """|τ'| between, exponentials inside and, for rates below 1, outside."""
        distance = algebra.absolute(term)
        small = decay(algebra, 2.0 * distance)
        tanh = (1.0 - small) / (1.0 + small)
        exact = tanh * self.value(algebra, term)
        root = math.sqrt(rate * rate + 8)
        inner, outer = (-rate + root) / 4, (rate + root) / 4
        first = math.atanh(inner)
        found = algebra.where(
            distance < first, decay(algebra, rate * (first - distance)) * _steepness(inner), exact
        )
        if rate >= 1:
            return found
        second = math.atanh(outer)
        outside = decay(algebra, rate * (distance - second)) * _steepness(outer)
        return algebra.where(distance > second, outside, found)


def _steepness(tanh: float) -> float:
    return tanh * math.sqrt(1 - tanh * tanh)
