"""Numbers that a proof depends on, rounded in the safe direction: search, then verify in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from sordino.core import CalibrationError
from sordino.sampling.refined_uniform import precision

_BITS = 160


def certainly_at_most(value: Callable[[], arb], limit: float) -> bool:
    """Whether a ball, evaluated with spare precision, lies at or below the limit."""
    with precision(_BITS):
        return bool(value() <= limit)


def lower_until(candidate: float, holds: Callable[[float], bool], name: str) -> float:
    """The candidate, lowered by as little as makes ``holds`` true; ``holds`` is what is proved, the search is not."""
    slack = 0.0
    while slack < 1e-3:
        lowered = candidate * (1 - slack)
        if lowered > 0 and holds(lowered):
            return lowered
        slack = 4 * slack or 2.0**-52
    raise CalibrationError(f"{name} cannot be calibrated at these parameters: the loss cannot be certified")


def find_largest(holds: Callable[[float], bool], start: float) -> float:
    """The largest float for which a monotone condition holds, by doubling and bisection; 0 if it never does."""
    low, high = 0.0, start
    while holds(high):
        low, high = high, 2 * high
        if high > 1e300:
            return low
    floor = start * 2.0**-900
    while low == 0.0 and high > floor:
        high /= 16
        if holds(high):
            low, high = high, 16 * high
    for _ in range(70):
        middle = 0.5 * (low + high)
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
