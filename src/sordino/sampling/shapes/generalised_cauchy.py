"""Generalised Cauchy noise: density proportional to 1/(1 + |z|^γ)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from sordino.core.errors import ParameterError
from sordino.core.parameters import number
from sordino.sampling.shapes.beta_tail import BetaTail
from sordino.sampling.shapes.shape import FloatArray, SymmetricShape, at_midpoint, magnitude_bits

_RANGE = (1.05, 64.0)


@dataclass(frozen=True, slots=True)
class GeneralisedCauchy(SymmetricShape):
    """Density γ sin(π/γ)/(2π)/(1 + |z|^γ); P(|Z| > z) = I_x(1 - 1/γ, 1/γ) with x = 1/(1 + z^γ).

    γ = 2 is the Cauchy law. Numerics: γ = 2 and 4 have closed forms, evaluated without loss far out; every
    other γ costs an incomplete beta function. γ must lie in [1.05, 64]: below, one draw in a million exceeds
    1e100.
    """

    gamma: float = 4.0

    def __post_init__(self) -> None:
        low, high = _RANGE
        if not low <= number("gamma", self.gamma) <= high:
            raise ParameterError(f"gamma must be in [{low:g}, {high:g}], got {self.gamma!r}")

    def _tail(self) -> BetaTail:
        return BetaTail(1.0 - 1.0 / self.gamma, 1.0 / self.gamma)

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""
        constant = math.log(self.gamma * math.sin(math.pi / self.gamma) / (2 * math.pi))
        with np.errstate(divide="ignore"):
            log_power = self.gamma * np.log(np.abs(np.asarray(z, dtype=np.float64)))
        return np.asarray(constant - np.logaddexp(0.0, log_power), dtype=np.float64)

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        with np.errstate(divide="ignore"):
            return self._tail().log_value(self.gamma * np.log(z))

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v."""
        log_odds = self._tail().log_odds(np.asarray(v, dtype=np.float64))
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(log_odds / self.gamma), dtype=np.float64)

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z) for z >= 0."""
        if self.gamma == 2:
            return 2 * arb.atan2(arb(1), z) / arb.pi()
        if self.gamma == 4:
            if z < 128:  # the cancellation costs at most 16 bits: not worth a detour
                return _quartic_tail(z)
            return at_midpoint(z, 2 * magnitude_bits(z) + 4, _quartic_tail, _quartic_density)
        if z == 0:
            return arb(1)
        inverse = 1 / arb(self.gamma)
        odds = z ** arb(self.gamma)
        if z < 1:  # x near 1 would lose what distinguishes it from 1
            return 1 - (odds / (1 + odds)).beta_lower(inverse, 1 - inverse, regularized=True)
        return (1 / (1 + odds)).beta_lower(1 - inverse, inverse, regularized=True)


def _quartic_tail(z: arb) -> arb:
    """(2√2/π)∫_z^∞ dx/(1 + x⁴) = (atan2(√2 z, z² - 1) - atanh(√2 z/(1 + z²)))/π."""
    side, square = arb(2).sqrt() * z, z * z
    return (arb.atan2(side, square - 1) - (side / (1 + square)).atanh()) / arb.pi()


def _quartic_density(z: arb) -> arb:
    return arb(8).sqrt() / (arb.pi() * (1 + z**4))
