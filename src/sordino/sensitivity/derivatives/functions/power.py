"""Powers: x^r for r ≥ 1, whole r of any sign, roots and inverses of what stays away from 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term, decay, lift_constant
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class Power:
    """t^r. Bounds are those of |t|^r, exact on ranges that are symmetric or on one side of 0.

    **Source**: NAPLES report, Table 10, for r ≥ 1 on x > 0; ranges, negative powers and roots are ours.
    """

    exponent: float

    @property
    def _whole(self) -> bool:
        return self.exponent == math.floor(self.exponent)

    def refuse(self, inside: Interval) -> str | None:
        """Below 0 only whole powers; at 0 no slope of a power below 1."""
        if not self._whole and inside.low < 0:
            return f"a power of {self.exponent:g} needs a range >= 0"
        if self.exponent < 1 and inside.smallest == 0:
            return f"a power of {self.exponent:g} needs a range without 0"
        return None

    def image(self, inside: Interval) -> Interval:
        """By the ends; of an even power by magnitudes."""
        even = self._whole and int(self.exponent) % 2 == 0
        base = inside.magnitude() if even or inside.low >= 0 else inside
        ends = [_signed_power(end, self.exponent) for end in (base.low, base.high)]
        low, high = widen(min(ends), -math.inf), widen(max(ends), math.inf)
        return Interval(max(low, 0.0) if min(ends) >= 0 else low, high)

    def steepest(self, inside: Interval) -> float:
        """|r|·|t|^(r−1) at the far or at the near end."""
        end = inside.largest if self.exponent >= 1 else inside.smallest
        return 1.0 if self.exponent == 1 else widen(abs(self.exponent) * end ** (self.exponent - 1), math.inf)

    def value(self, algebra: Algebra, term: Term) -> Term:
        """By magnitude; the sign of an odd power is that of t."""
        size = algebra.power(algebra.absolute(term), self.exponent)
        if self._whole and int(self.exponent) % 2:
            return algebra.where(term < 0.0, -size, size)
        return size

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """Of |t|^r."""
        return raise_smoothly(algebra, algebra.absolute(term), self.exponent, rate, inside.magnitude())

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """|r| times that of |t|^(r−1)."""
        magnitude = algebra.absolute(term)
        return abs(self.exponent) * raise_smoothly(
            algebra, magnitude, self.exponent - 1, rate, inside.magnitude()
        )


def raise_smoothly(algebra: Algebra, size: Term, exponent: float, rate: float, inside: Interval) -> Term:
    """sup of s'^e·e^(−b|s − s'|) over s' in an interval of magnitudes.

    e > 0: s^e has a slope of its logarithm of at most b from s = e/b on; before that the supremum is at e/b, or at the
    end if that comes first. e < 0: the logarithm is convex, and the supremum is at s or at the near end.
    """
    if exponent == 0:
        return 1.0
    if exponent < 0:
        near = decay(algebra, rate * (size - inside.low)) * lift_constant(inside.low**exponent)
        safe = algebra.maximum(size, inside.low)
        return algebra.maximum(algebra.power(safe, exponent), near)
    if rate == 0 or inside.high < exponent / rate:
        if math.isinf(inside.high):
            return math.inf
        return decay(algebra, rate * (inside.high - size)) * lift_constant(inside.high**exponent)
    peak = exponent / rate
    before = decay(algebra, exponent - rate * size) * lift_constant(peak**exponent)
    # before the peak the exponential touches s^e from above, and from there on it is cut to peak^e
    return algebra.maximum(before, algebra.power(size, exponent))


def _signed_power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf if base > 0 or exponent % 2 == 0 else -math.inf
