"""Noise for sums in which no unit has more than a limit: discrete Laplace for ε, discrete Gaussian for ρ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from sordino.core import Loss
from sordino.core.loss import round_as_written
from sordino.core.parameters import probability
from sordino.mechanisms.noise.discrete_gaussian import DiscreteGaussianNoise
from sordino.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
from sordino.mechanisms.noise.integer_law import IntegerLaw
from sordino.sampling.discrete import draw_discrete_gaussian, draw_discrete_laplace
from sordino.sampling.geometric import draw_discrete_laplaces

_SMALLEST_RATE = Fraction(1, 1 << 40)
_STEP = Fraction(1)
_UPWARDS = 1 + 2.0**-40
# From this σ on a sum over the integers is its integral and two corrections, to double precision.
_SMOOTH = 30.0


class LimitNoise(Protocol):
    """Integer noise for vectors that one unit moves by at most ``limit`` in this noise's norm."""

    @property
    def loss(self) -> Loss:
        """What one vector costs, whatever its length."""

    @property
    def theorem(self) -> str:
        """What it rests on."""

    def law(self, limit: int, total: int) -> IntegerLaw:
        """The law of one released number."""

    def draw(self, limit: int, totals: Sequence[int]) -> tuple[int, ...]:
        """All numbers of one vector, each with its own noise, exactly."""

    def scale(self, limit: int) -> float:
        """How wide the noise of one number is: limit/ε, or σ."""

    def radius(self, limit: int, confidence: float) -> int:
        """An n that the noise of one number exceeds with a chance of at most 1 − confidence; public."""

    def mean_error(self, limit: int, shortfall: int) -> float:
        """E|noise − shortfall|: the error where clipping took ``shortfall`` away."""


@dataclass(frozen=True, slots=True)
class LaplacePerLimit:
    """Discrete Laplace noise of scale limit/ε on every number of a vector.

    **Guarantee**: ε-DP where one unit moves the vector by at most ``limit`` in ℓ₁: the loss of an outcome is at most
    Σ|shift|·ε/limit. How many numbers the vector has does not matter.
    **Source**: Ghosh, Roughgarden, Sundararajan 2009. **Numerics**: the scale is an exact fraction.
    """

    epsilon: Fraction

    @property
    def loss(self) -> Loss:
        """ε."""
        return Loss(epsilon=round_as_written(self.epsilon))

    @property
    def theorem(self) -> str:
        """See `LimitNoise`."""
        return "discrete Laplace mechanism"

    def law(self, limit: int, total: int) -> IntegerLaw:
        """See `LimitNoise`."""
        return DiscreteLaplaceNoise().law(total, limit / self.epsilon, _STEP)

    def draw(self, limit: int, totals: Sequence[int]) -> tuple[int, ...]:
        """See `LimitNoise`."""
        rate = self.epsilon / limit
        if rate < _SMALLEST_RATE:
            return tuple(int(total) + draw_discrete_laplace(1 / rate) for total in totals)
        noise = draw_discrete_laplaces(rate, len(totals)).tolist()
        return tuple(int(total) + k for total, k in zip(totals, noise, strict=True))

    def scale(self, limit: int) -> float:
        """See `LimitNoise`."""
        return float(limit / self.epsilon)

    def radius(self, limit: int, confidence: float) -> int:
        """P(|K| > n) = 2r^(n+1)/(1 + r) with r = e^(−ε/limit)."""
        doubt = 1 - probability("confidence", confidence)
        rate = float(self.epsilon / limit)
        needed = (math.log(2 / doubt) - math.log1p(math.exp(-rate))) / rate * _UPWARDS - 1
        return max(0, math.ceil(needed))

    def mean_error(self, limit: int, shortfall: int) -> float:
        """b + 2r^(b+1)/(1 − r²) for a shortfall of b."""
        rate = float(self.epsilon / limit)
        return shortfall + 2 * math.exp(-(shortfall + 1) * rate) / -math.expm1(-2 * rate)


@dataclass(frozen=True, slots=True)
class GaussianPerLimit:
    """Discrete Gaussian noise of σ² = limit²/(2ρ) on every number of a vector.

    **Guarantee**: ρ-zCDP where one unit moves the vector by at most ``limit`` in ℓ₂.
    **Source**: Canonne, Kamath and Steinke 2020, Theorem 14. **Numerics**: σ² is an exact fraction.
    """

    rho: Fraction

    @property
    def loss(self) -> Loss:
        """ρ."""
        return Loss(rho=round_as_written(self.rho))

    @property
    def theorem(self) -> str:
        """See `LimitNoise`."""
        return "discrete Gaussian mechanism"

    def law(self, limit: int, total: int) -> IntegerLaw:
        """See `LimitNoise`."""
        return DiscreteGaussianNoise().law(total, self._variance(limit), _STEP)

    def draw(self, limit: int, totals: Sequence[int]) -> tuple[int, ...]:
        """See `LimitNoise`."""
        variance = self._variance(limit)
        return tuple(int(total) + draw_discrete_gaussian(variance) for total in totals)

    def scale(self, limit: int) -> float:
        """See `LimitNoise`."""
        return math.sqrt(self._variance(limit))

    def radius(self, limit: int, confidence: float) -> int:
        """P(K > n) ≤ P(σZ > n) for a normal Z (Canonne, Kamath and Steinke 2020, Prop. 25)."""
        doubt = 1 - probability("confidence", confidence)
        return math.ceil(-float(ndtri(doubt / 2)) * math.sqrt(self._variance(limit)) * _UPWARDS)

    def mean_error(self, limit: int, shortfall: int) -> float:
        """E|K − b|: a sum for small σ, the integral otherwise."""
        sigma = math.sqrt(self._variance(limit))
        if sigma < _SMOOTH:
            reach = math.ceil(40 * sigma) + 1
            k = np.arange(-reach, reach + 1, dtype=np.float64)
            masses = np.exp(-k * k / (2 * sigma**2))
            return float(masses @ np.abs(k - shortfall) / masses.sum())
        z = shortfall / sigma
        density = math.exp(-z * z / 2) * math.sqrt(2 / math.pi)
        mass = density / (2 * sigma)
        kink = mass / 6 - mass * (z * z - 1) / (
            120 * sigma**2
        )  # of |k − b|: Euler and Maclaurin's first terms
        return sigma * density + shortfall * float(1 - 2 * ndtr(-z)) - kink

    def _variance(self, limit: int) -> Fraction:
        return limit**2 / (2 * self.rho)
