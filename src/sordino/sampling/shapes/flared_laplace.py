"""Flared Laplace noise: Laplace near the centre, with polynomial tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from sordino.core.errors import ParameterError
from sordino.core.parameters import positive
from sordino.sampling.shapes.shape import FloatArray, SymmetricShape


@dataclass(frozen=True, slots=True)
class FlaredLaplace(SymmetricShape):
    """Density e^{-κ(|z|)}/2M, with κ(z) = z up to the core c, and c + a·ln(1 + (z - c)/a) beyond.

    κ and its slope are continuous; beyond the core the density falls as z^{-a}. With T = e^{-c}·a/(a - 1) for the mass
    of one tail and M = 1 - e^{-c} + T, P(|Z| > z) is (e^{-z} + e^{-c}/(a - 1))/M within the core and
    T(1 + (z - c)/a)^{1-a}/M beyond it: elementary, and nothing cancels.
    """

    core: float
    power: float

    def __post_init__(self) -> None:
        positive("core", self.core)
        if not positive("power", self.power) > max(2.0, self.core):
            raise ParameterError(f"power must be above 2 and above the core, got {self.power!r}")

    @property
    def mean_size(self) -> float:
        """E|Z|, in closed form."""
        c, a = self.core, self.power
        inner = 1 - (1 + c) * math.exp(-c)
        outer = math.exp(-c) * a * (c / (a - 1) + a / ((a - 1) * (a - 2)))
        return (inner + outer) / self._mass

    @property
    def _mass(self) -> float:
        return -math.expm1(-self.core) + self._outside

    @property
    def _outside(self) -> float:
        return math.exp(-self.core) * self.power / (self.power - 1)

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""
        size = np.abs(np.asarray(z, dtype=np.float64))
        beyond = np.maximum(size - self.core, 0.0)
        exponent = np.minimum(size, self.core) + self.power * np.log1p(beyond / self.power)
        return np.asarray(-exponent - math.log(2 * self._mass), dtype=np.float64)

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        z = np.asarray(z, dtype=np.float64)
        beyond = np.maximum(z - self.core, 0.0)
        outer = math.log(self._outside / self._mass) - (self.power - 1) * np.log1p(beyond / self.power)
        inner = np.logaddexp(-np.minimum(z, self.core), -self.core - math.log(self.power - 1))
        inner -= math.log(self._mass)
        return np.asarray(np.where(z <= self.core, inner, outer), dtype=np.float64)

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v."""
        v = np.asarray(v, dtype=np.float64)
        share = self._outside / self._mass
        with np.errstate(over="ignore"):
            outer = self.core + self.power * np.expm1(-np.log(np.minimum(v / share, 1.0)) / (self.power - 1))
        rest = math.exp(-self.core) / (self.power - 1)
        far, near = (
            np.log(np.maximum(v, share) * self._mass - rest),
            np.log1p((np.maximum(v, 0.5) - 1) * self._mass),
        )
        inner = -np.where(v < 0.5, far, near)
        return np.asarray(np.where(v >= share, inner, outer), dtype=np.float64)

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z) for z >= 0; a ball that reaches over the edge of the core gets the hull of both formulas."""
        core, power = arb(self.core), arb(self.power)
        outside = (-core).exp() * power / (power - 1)
        mass = 1 - (-core).exp() + outside
        if z > core:
            return outside * (1 + (z - core) / power) ** (1 - power) / mass
        rest = (-core).exp() / (power - 1)
        if z <= core:
            return ((-z).exp() + rest) / mass
        below, above = arb(z.lower()), arb(z.upper())
        far = outside * (1 + (above - core) / power) ** (1 - power)
        return ((-below).exp() + rest).union(far) / mass
