"""BlockNoise: the noise of one released block, in whole steps of the lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import Loss, ParameterError
from sordino.core.loss import round_as_written
from sordino.core.parameters import as_written, positive
from sordino.sampling.gaussian import draw_discrete_gaussians
from sordino.sampling.geometric import draw_discrete_laplaces

_NORMAL = 1.959963984540054  # 95 % of a normal law lie within so many deviations
_WIDEST = Fraction(2**40)  # steps of scale that are drawn in 64 bits
_POINTS = 1 << 14  # of the grid on which sums of noise are tabulated


@dataclass(frozen=True, slots=True)
class Budget:
    """What a whole series costs: pure ε, or zCDP ρ. Exactly one of the two, as a person wrote it."""

    epsilon: Fraction | None
    rho: Fraction | None

    @classmethod
    def checked(cls, epsilon: Any, rho: Any) -> Budget:
        """From the arguments of a series."""
        if (epsilon is None) == (rho is None):
            raise ParameterError("a series is paid for with either epsilon or rho, exactly one of them")
        if rho is None:
            positive("epsilon", epsilon)
            return cls(as_written("epsilon", epsilon), None)
        positive("rho", rho)
        return cls(None, as_written("rho", rho))

    @property
    def loss(self) -> Loss:
        """As the ledger counts it."""
        if self.epsilon is not None:
            return Loss(epsilon=round_as_written(self.epsilon))
        return Loss(rho=round_as_written(self.rho or Fraction(0)))

    def share(self, sensitivity: int, parts: Fraction) -> BlockNoise:
        """The noise of each of ``parts`` numbers that one change moves by ``sensitivity`` steps.

        **Guarantee**: all of them together cost this budget: ε/parts each for discrete Laplace noise of scale
        Δ·parts/ε, ρ/parts each for discrete Gaussian noise with σ² = Δ²·parts/(2ρ).
        """
        if self.epsilon is not None:
            rate = self.epsilon / (sensitivity * parts)
            if rate < 1 / _WIDEST:
                raise _too_wide("epsilon", self.epsilon)
            return LaplaceBlocks(rate)
        variance = sensitivity**2 * parts / (2 * (self.rho or Fraction(1)))
        if variance > (_WIDEST / 2) ** 2:
            raise _too_wide("rho", self.rho or Fraction(1))
        return GaussianBlocks(variance)


def _too_wide(name: str, amount: Fraction) -> ParameterError:
    return ParameterError(
        f"{name} {float(amount):.3g} is too small for this horizon and sensitivity: the noise of one number would be "
        "wider than 2**40 steps; nothing was spent; give more, a shorter horizon, or a larger step"
    )


@dataclass(frozen=True, slots=True)
class LaplaceBlocks:
    """Discrete Laplace noise: P(k) proportional to e^{−rate·|k|}."""

    rate: Fraction

    def draw(self, size: int) -> NDArray[np.int64]:
        """Exact and independent."""
        return draw_discrete_laplaces(self.rate, size)

    @property
    def variance(self) -> float:
        """2q/(1 − q)² with q = e^{−rate}."""
        rate = float(self.rate)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@dataclass(frozen=True, slots=True)
class GaussianBlocks:
    """Discrete Gaussian noise: P(k) proportional to e^{−k²/(2σ²)}."""

    sigma_squared: Fraction

    def draw(self, size: int) -> NDArray[np.int64]:
        """Exact and independent."""
        return draw_discrete_gaussians(self.sigma_squared, size)

    @property
    def variance(self) -> float:
        """σ² from σ = 2 on, to double precision; below it is summed."""
        squared = float(self.sigma_squared)
        if squared > 4:
            return squared
        k = np.arange(1, 64, dtype=np.float64)
        weights = 2 * np.exp(-k * k / (2 * squared))
        return float((k * k * weights).sum() / (1 + weights.sum()))


BlockNoise = LaplaceBlocks | GaussianBlocks


def sum_variances(parts: tuple[tuple[BlockNoise, int], ...]) -> float:
    """The variance of a sum of independent noises."""
    return sum(noise.variance * count for noise, count in parts)


@lru_cache(maxsize=4096)
def find_radius(parts: tuple[tuple[BlockNoise, int], ...]) -> float:
    """A radius within which 95 % of draws of a sum of independent noises lie, in steps.

    ``parts``: each noise with how often it is drawn. The law of the sum is tabulated by its characteristic function,
    on a grid that is coarser than the steps where these are too many: rounded up by at most 0.25 % of the deviation,
    and public.
    """
    variance = sum_variances(parts)
    if variance == 0:
        return 0.0
    if all(isinstance(noise, GaussianBlocks) for noise, _ in parts):
        return _NORMAL * math.sqrt(variance)
    coarse = max(1.0, 40 * math.sqrt(variance) / _POINTS)
    angles = 2 * np.pi * np.arange(_POINTS // 2 + 1) / _POINTS
    logs = np.zeros(len(angles))
    for noise, count in parts:
        logs += count * _log_transform(noise, coarse, angles)
    masses = np.fft.irfft(np.exp(logs), _POINTS)
    both = masses[1 : _POINTS // 2] * 2
    within = masses[0] + np.concatenate([[0.0], np.cumsum(both)])
    return float(np.searchsorted(within, 0.95)) * coarse


def _log_transform(noise: BlockNoise, coarse: float, angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the characteristic function, on a lattice that is ``coarse`` steps wide."""
    if isinstance(noise, GaussianBlocks):
        return -noise.variance / coarse**2 * angles**2 / 2
    half = math.sinh(min(float(noise.rate) * coarse / 2, 300.0)) ** 2
    logs: NDArray[np.float64] = -np.log1p(np.sin(angles / 2) ** 2 / half)
    return logs
