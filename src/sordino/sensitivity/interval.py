"""Interval: a range of numbers, whose arithmetic rounds outwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sordino.core import ParameterError

# Transcendental functions of the C library are right up to a few units in the last place.
_UNITS = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """[low, high]; an end may be infinite.

    **Guarantee**: a result holds every number that comes from numbers of the operands.
    **Numerics**: sums and products round an end that is no double to the next one outside; functions that increase
    go further by a few units in the last place.

    >>> Interval(1, 3) * Interval(-2, 1)
    Interval(low=-6.0, high=3.0)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ParameterError(f"an interval is [low, high], got [{self.low}, {self.high}]")

    @property
    def largest(self) -> float:
        """The largest magnitude."""
        return max(abs(self.low), abs(self.high))

    @property
    def smallest(self) -> float:
        """The smallest magnitude."""
        return 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))

    @property
    def width(self) -> float:
        """high − low, rounded up."""
        return _add(self.high, -self.low, math.inf)

    def holds(self, value: float) -> bool:
        """Whether a number is inside."""
        return self.low <= value <= self.high

    def __add__(self, other: Interval) -> Interval:
        return Interval(_add(self.low, other.low, -math.inf), _add(self.high, other.high, math.inf))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        corners = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(
            min(_multiply(a, b, -math.inf) for a, b in corners),
            max(_multiply(a, b, math.inf) for a, b in corners),
        )

    def inverse(self) -> Interval:
        """1/x; it has no 0 inside."""
        if self.low <= 0 <= self.high:
            raise ParameterError(f"1/x needs a range without 0, got [{self.low:g}, {self.high:g}]")
        return Interval(_divide(1.0, self.high, -math.inf), _divide(1.0, self.low, math.inf))

    def hull(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def meet(self, other: Interval) -> Interval | None:
        """What is in both, or None."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low <= high else None

    def magnitude(self) -> Interval:
        """Of |x|."""
        return Interval(self.smallest, self.largest)

    def increasing(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that increases and is computed to a few units in the last place."""
        return Interval(widen(function(self.low), -math.inf), widen(function(self.high), math.inf))


def widen(value: float, towards: float) -> float:
    """A few units in the last place further in a direction."""
    for _ in range(_UNITS if math.isfinite(value) else 0):
        value = math.nextafter(value, towards)
    return value


def round_towards(value: Fraction, towards: float) -> float:
    """The nearest double on one side of an exact number."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if math.isinf(nearest):
        # past all doubles: the largest one is still inside of the other side
        return nearest if (nearest > 0) == (towards > 0) else math.nextafter(nearest, towards)
    beyond = Fraction(nearest) < value if towards > 0 else Fraction(nearest) > value
    return math.nextafter(nearest, towards) if beyond else nearest


def _add(a: float, b: float, towards: float) -> float:
    if math.isinf(a) or math.isinf(b):
        return towards if a + b != a + b else a + b
    return round_towards(Fraction(a) + Fraction(b), towards)


def _multiply(a: float, b: float, towards: float) -> float:
    if a == 0 or b == 0:
        return 0.0  # an infinite end is never reached
    if math.isinf(a) or math.isinf(b):
        return a * b
    return round_towards(Fraction(a) * Fraction(b), towards)


def _divide(a: float, b: float, towards: float) -> float:
    return 0.0 if math.isinf(b) else round_towards(Fraction(a) / Fraction(b), towards)
