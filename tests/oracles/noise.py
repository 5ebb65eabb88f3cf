"""What two laws of one location-scale family tell apart: exact epsilon, exact delta(epsilon), quantiles.

The pair is always (centre 0, scale 1) against (centre `shift`, scale e^`stretch`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import flint
import numpy as np

from tests.oracles.densities import Noise
from tests.oracles.integration import integrate, integrate_panels, ladder


def _log_ratio(noise: Noise, shift: float, stretch: float) -> Callable[[np.ndarray], np.ndarray]:
    """ln of first density over second."""

    def ratio(z: np.ndarray) -> np.ndarray:
        z = np.asarray(z, dtype=float)
        return noise.log_pdf(z) - noise.log_pdf((z - shift) * math.exp(-stretch)) + stretch

    return ratio


def exact_epsilon(noise: Noise, shift: float, stretch: float) -> float:
    """sup over z of |ln(density ratio)|; inf if it keeps growing into a tail."""
    ratio = _log_ratio(noise, shift, stretch)

    def loss(z: np.ndarray) -> np.ndarray:
        return np.abs(ratio(z))

    far = 10.0 ** np.array([7.0, 9.0])
    for side in (-1.0, 1.0):
        near_loss, far_loss = loss(side * far)
        if not abs(far_loss - near_loss) < 1e-3:  # a power tail has settled by then
            return math.inf
    steps = np.sinh(np.linspace(0, math.asinh(1e9), 20_001))
    grid = np.unique(np.concatenate([c + s * steps for c in (0.0, shift) for s in (-1.0, 1.0)]))
    values = loss(grid)
    best = float(values.max())
    for i in np.argsort(values)[-8:]:
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        for _ in range(6):
            inner = np.linspace(low, high, 201)
            at = int(np.argmax(loss(inner)))
            low, high = inner[max(at - 1, 0)], inner[min(at + 1, 200)]
        best = max(best, float(loss(np.array([low, (low + high) / 2, high])).max()))
    return best


def hockey_stick(
    noise: Noise, shift: float, stretch: float, epsilon: float, *, reverse: bool = False
) -> float:
    """Integral of max(0, p - e^epsilon q); p the first law and q the second, exchanged if `reverse`."""
    ratio = _log_ratio(noise, shift, stretch)
    scale = math.exp(stretch)

    def first(z: np.ndarray) -> np.ndarray:
        return noise.pdf(z)

    def second(z: np.ndarray) -> np.ndarray:
        return noise.pdf((z - shift) / scale) / scale

    p, q, sign = (second, first, -1.0) if reverse else (first, second, 1.0)

    def margin(z: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(sign * ratio(z) - epsilon, nan=-1.0)

    points = ladder((0.0, shift))
    points = points[np.abs(points) < 1e12]
    fine = np.unique(np.concatenate([points, *(points[:-1] + np.diff(points) * j / 8 for j in range(1, 8))]))
    above = margin(fine) > 0
    crossings = np.flatnonzero(above[1:] != above[:-1])
    low, high, low_above = fine[crossings], fine[crossings + 1], above[crossings]
    for _ in range(80):
        middle = (low + high) / 2
        same = (margin(middle) > 0) == low_above
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    points = np.unique(np.concatenate([points, low]))
    return integrate_panels(lambda z: np.maximum(0.0, p(z) - math.exp(epsilon) * q(z)), points)


def exact_delta(noise: Noise, shift: float, stretch: float, epsilon: float) -> float:
    """The usual delta at epsilon: the worse of the two directions."""
    return max(hockey_stick(noise, shift, stretch, epsilon, reverse=side) for side in (False, True))


def finite_hockey_stick(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    """The usual delta of two finite laws: the worse direction of sum max(0, p - e^epsilon q)."""
    growth = math.exp(epsilon)
    one = math.fsum(max(0.0, a - growth * b) for a, b in zip(p, q, strict=True))
    return max(one, math.fsum(max(0.0, b - growth * a) for a, b in zip(p, q, strict=True)))


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """Balle and Wang: Phi(D/2s - e s/D) - e^e Phi(-D/2s - e s/D), in 300-bit ball arithmetic."""
    with flint.ctx.workprec(300):
        e, a, root = flint.arb(epsilon), flint.arb(sensitivity) / flint.arb(sigma), flint.arb(2).sqrt()
        phi_first = (-(a / 2 - e / a) / root).erfc() / 2
        phi_second = ((a / 2 + e / a) / root).erfc() / 2
        return float(phi_first - e.exp() * phi_second)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """An upper bound on delta from rho-zCDP: min over orders a of e^{(a-1)(a rho - eps)} (1-1/a)^a / (a-1)."""
    order = 1 + np.geomspace(1e-4, 1e5, 20_000)
    exponent = (order - 1) * (order * rho - epsilon) + order * np.log1p(-1 / order) - np.log(order - 1)
    return float(min(1.0, math.exp(exponent.min())))


def absolute_quantile(noise: Noise, probability: float) -> float:
    """The t with P(|Z| <= t) = probability for symmetric noise, by integrating the density and bisecting."""
    low, high = 0.0, 1.0
    while 2 * integrate(noise.pdf, (0.0,), 0.0, high) < probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if 2 * integrate(noise.pdf, (0.0,), 0.0, middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
