"""How far two noise densities of one shape can differ beyond a point: analytic bounds, one per shape.

A noise whose shape is its own registers the bound in its own file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch

from sordino.core.errors import UnsupportedError
from sordino.sampling.shapes import GeneralisedCauchy, Laplace, Normal, Shape, StudentT

_ROUNDING = 1e-12  # outward, for the handful of float operations below


@singledispatch
def tail_loss(shape: Shape, shift: float, ratio: float, edge: float) -> float:
    """An upper bound on |ln(p/q)| beyond ``edge``: p about 0 with scale 1, q about ``shift`` with scale ``ratio``."""
    raise UnsupportedError(f"no tail bound is derived for {shape!r}")


def largest_beyond(loss: Callable[[float], float], points: list[float], edge: float, limit: float) -> float:
    """The sup over [edge, ∞) of a |function| that is monotone between the given points, outward."""
    values = [abs(loss(edge)), abs(limit)] + [abs(loss(x)) for x in points if x > edge]
    return max(values) * (1 + _ROUNDING) + _ROUNDING


@tail_loss.register
def _(shape: Laplace, shift: float, ratio: float, edge: float) -> float:
    """Piecewise linear with kinks at the two centres; bounded only where the scales agree."""
    if ratio != 1:
        return math.inf

    def loss(x: float) -> float:
        return abs(x - shift) - abs(x)

    return largest_beyond(loss, [0.0, shift], edge, shift)


@tail_loss.register
def _(shape: Normal, shift: float, ratio: float, edge: float) -> float:
    """Without bound unless the laws are the same."""
    return 0.0 if shift == 0 and ratio == 1 else math.inf


@tail_loss.register
def _(shape: StudentT, shift: float, ratio: float, edge: float) -> float:
    """Exact. With a = x and b = x - shift, the derivative of the log ratio vanishes where b/(νr² + b²) = a/(ν + a²).

    The cubic terms cancel, so there are at most two such points, the roots of
    shift·x² + (ν(1 - r²) - shift²)·x - ν·shift = 0; the limit at infinity is ν ln(1/r).
    """
    nu, root = shape.nu, math.sqrt(shape.nu)

    def loss(x: float) -> float:
        # ln(1 + z²/ν) is 2 ln of a hypotenuse, which does not overflow
        here, there = math.hypot(1, x / root), math.hypot(1, (x - shift) / ratio / root)
        return math.log(ratio) + (nu + 1) * (math.log(there) - math.log(here))

    return largest_beyond(
        loss, _roots(shift, nu * (1 - ratio**2) - shift**2, -nu * shift), edge, -nu * math.log(ratio)
    )


@tail_loss.register
def _(shape: GeneralisedCauchy, shift: float, ratio: float, edge: float) -> float:
    """Along the straight path of (centre, ln scale) between the two laws, at the worst point beyond the edge.

    The rate of a shift is γz^{γ-1}/(1 + z^γ), falling from z = (γ-1)^{1/γ} on; that of ln scale is
    |γz^γ/(1 + z^γ) - 1|, at most max(1, γ - 1), and exactly below γ - 1 where z^γ >= 1 and γ >= 2.
    """
    gamma = shape.gamma
    widest, narrowest = max(1.0, ratio), min(1.0, ratio)
    distance = min(edge, edge - shift)
    # the largest z at which the rate of a shift may still be at its maximum
    peak = (gamma - 1) ** (1 / gamma)
    nearest = distance / widest
    rate = _cauchy_rate(gamma, max(nearest, peak))
    stretch = max(1.0, gamma - 1)
    bound = abs(shift) / narrowest * rate + abs(math.log(ratio)) * stretch
    return bound * (1 + _ROUNDING) + _ROUNDING


def _cauchy_rate(gamma: float, z: float) -> float:
    return gamma / (z * (1 + math.pow(z, -gamma)))


def _roots(a: float, b: float, c: float) -> list[float]:
    """The real roots of ax² + bx + c, without cancellation."""
    if a == 0:
        return [] if b == 0 else [-c / b]
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    half = -(b + math.copysign(math.sqrt(discriminant), b)) / 2
    return [half / a] + ([c / half] if half else [])
