"""AffineForm: a range that remembers which numbers it came from, so that x − x is 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sordino.sensitivity.interval import Interval, round_towards, widen

_DIGITS = 60  # bits of a coefficient that are kept; what is cut off goes into the error


@dataclass(frozen=True, slots=True)
class AffineForm:
    """x₀ + Σ xᵢεᵢ ± e with εᵢ in [−1, 1]; each symbol i is one number that may occur in several forms.

    **Guarantee**: for the εᵢ that the inputs have, the result is within e of x₀ + Σ xᵢεᵢ.
    **Numerics**: coefficients are exact fractions; a long one is cut, and what is cut off is added to e.
    **Source**: NAPLES report, §3.3.11. Its product lacks absolute values, and fixing ε₂ = a/y is (a − y₀)/y₂.

    >>> x = AffineForm.of(Interval(0, 3), "x")
    >>> (x - x).interval()
    Interval(low=0.0, high=0.0)
    """

    centre: Fraction
    terms: Mapping[Hashable, Fraction] = field(default_factory=dict)
    error: Fraction = Fraction(0)

    @classmethod
    def of(cls, inside: Interval, symbol: Hashable) -> AffineForm:
        """A number within finite bounds."""
        low, high = Fraction(inside.low), Fraction(inside.high)
        radius = (high - low) / 2
        return cls((low + high) / 2, {symbol: radius} if radius else {})

    @classmethod
    def around(cls, inside: Interval) -> AffineForm:
        """Anything within finite bounds, related to nothing."""
        low, high = Fraction(inside.low), Fraction(inside.high)
        return cls((low + high) / 2, {}, (high - low) / 2)

    @property
    def radius(self) -> Fraction:
        """How far from the centre it can be."""
        return sum((abs(term) for term in self.terms.values()), self.error)

    def interval(self) -> Interval:
        """All values, rounded outwards."""
        radius = self.radius
        return Interval(
            round_towards(self.centre - radius, -math.inf), round_towards(self.centre + radius, math.inf)
        )

    def __add__(self, other: AffineForm) -> AffineForm:
        terms = dict(self.terms)
        for symbol, term in other.terms.items():
            terms[symbol] = terms.get(symbol, Fraction(0)) + term
        kept = {symbol: term for symbol, term in terms.items() if term}
        return AffineForm(self.centre + other.centre, kept, self.error + other.error)

    def scaled(
        self, factor: Fraction, shift: Fraction = Fraction(0), error: Fraction = Fraction(0)
    ) -> AffineForm:
        """factor·x + shift ± error."""
        terms = {symbol: factor * term for symbol, term in self.terms.items() if factor}
        return AffineForm(factor * self.centre + shift, terms, abs(factor) * self.error + error)

    def __neg__(self) -> AffineForm:
        return self.scaled(Fraction(-1))

    def __sub__(self, other: AffineForm) -> AffineForm:
        return self + -other

    def __mul__(self, other: AffineForm) -> AffineForm:
        linear = self.scaled(other.centre) + other.scaled(self.centre)
        product = AffineForm(
            self.centre * other.centre,
            linear.terms,
            linear.error + self.radius * other.radius,
        )
        return product._cut()

    def fixed(self, symbol: Hashable, sign: Fraction) -> AffineForm:
        """With one ε known."""
        term = self.terms.get(symbol, Fraction(0))
        terms = {other: factor for other, factor in self.terms.items() if other != symbol}
        return AffineForm(self.centre + sign * term, terms, self.error)

    def bent(self, function: Callable[[float], float], slope: float, inside: Interval) -> AffineForm:
        """f(x) for a monotone f with |f'| ≥ |slope| of the same sign on an interval around this form.

        f − slope·x is monotone too, so it lies between its values at the ends: the form has exactly f's range.
        """
        alpha = Fraction(widen(slope, 0.0) if slope else 0.0)
        ends = []
        for end in (inside.low, inside.high):
            value = function(end)
            for side in (-math.inf, math.inf):
                ends.append(Fraction(widen(value, side)) - alpha * Fraction(end))
        low, high = min(ends), max(ends)
        return self.scaled(alpha, (low + high) / 2, (high - low) / 2)._cut()

    def _cut(self) -> AffineForm:
        lost = self.error
        kept = {}
        for symbol, term in self.terms.items():
            kept[symbol] = _shorten(term)
            lost += abs(term - kept[symbol])
        centre = _shorten(self.centre)
        error = _shorten(lost + abs(self.centre - centre))
        if error < lost + abs(self.centre - centre):
            error *= 1 + Fraction(1, 2 ** (_DIGITS - 2))
        return AffineForm(centre, {symbol: term for symbol, term in kept.items() if term}, error)


def _shorten(value: Fraction) -> Fraction:
    if value.denominator.bit_length() <= _DIGITS:
        return value
    places = _DIGITS - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    unit = Fraction(1, 2**places) if places >= 0 else Fraction(2**-places)
    return round(value / unit) * unit
