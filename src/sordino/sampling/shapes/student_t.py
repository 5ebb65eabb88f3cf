"""Student-t noise with ν degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from sordino.core.errors import ParameterError
from sordino.core.parameters import positive
from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes.beta_tail import BetaTail
from sordino.sampling.shapes.shape import FloatArray, SymmetricShape, at_midpoint, magnitude_bits

_LARGEST_NU = 1000.0


@dataclass(frozen=True, slots=True)
class StudentT(SymmetricShape):
    """Density proportional to (1 + z²/ν)^{-(ν+1)/2}; P(|Z| > z) = I_x(ν/2, ½) with x = ν/(ν + z²).

    Numerics: ν = 1…5 have closed forms, evaluated without loss far out; every other ν costs an incomplete
    beta function, some twenty times slower.
    """

    nu: float = 3.0

    def __post_init__(self) -> None:
        if positive("nu", self.nu) > _LARGEST_NU:
            raise ParameterError(
                f"nu must be <= {_LARGEST_NU:g}, got {self.nu!r}; beyond it use normal noise"
            )

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""
        with np.errstate(divide="ignore"):
            log_ratio = 2.0 * np.log(np.abs(np.asarray(z, dtype=np.float64))) - math.log(self.nu)
        return np.asarray(
            _log_constant(self.nu) - 0.5 * (self.nu + 1) * np.logaddexp(0.0, log_ratio), dtype=np.float64
        )

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        with np.errstate(divide="ignore"):
            log_odds = 2.0 * np.log(z) - math.log(self.nu)
        return BetaTail(self.nu / 2, 0.5).log_value(log_odds)

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v."""
        log_odds = BetaTail(self.nu / 2, 0.5).log_odds(np.asarray(v, dtype=np.float64))
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(0.5 * (log_odds + math.log(self.nu))), dtype=np.float64)

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z) for z >= 0."""
        nu = self.nu
        if nu == 1:
            return 2 * arb.atan2(arb(1), z) / arb.pi()
        if nu in (2, 4):
            root = (nu + z * z).sqrt()
            short = nu / (root * (root + z))  # 1 - z/√(ν + z²)
            return short if nu == 2 else short * short * (3 - short) / 2
        if nu in (3, 5):
            if z < (128 if nu == 3 else 8):  # the cancellation costs at most 16 bits: not worth a detour
                return self._odd_tail(z)
            bits = (2 if nu == 3 else 4) * magnitude_bits(z) + 4
            return at_midpoint(z, bits, self._odd_tail, self._ball_density)
        if z < 1:  # x near 1 would lose what distinguishes it from 1
            square = z * z
            return 1 - (square / (nu + square)).beta_lower(arb(0.5), arb(nu) / 2, regularized=True)
        return (nu / (nu + z * z)).beta_lower(arb(nu) / 2, arb(0.5), regularized=True)

    def _odd_tail(self, z: arb) -> arb:
        """ν = 3 and 5, with θ = atan(z/√ν) and c = cos²θ: 1 - (2/π)(θ + sin θ cos θ·(1 or 1 + 2c/3))."""
        x = z / arb(self.nu).sqrt()
        cosine_squared = 1 / (1 + x * x)
        product = x * cosine_squared
        if self.nu == 5:
            product *= 1 + 2 * cosine_squared / 3
        return 2 * (arb.atan2(arb(1), x) - product) / arb.pi()

    def _ball_density(self, z: arb) -> arb:
        """The density of |Z| for ν = 3 and 5."""
        nu = int(self.nu)
        root = arb(nu).sqrt()
        constant = 4 / (arb.pi() * root) if nu == 3 else 16 / (3 * arb.pi() * root)
        return constant / (1 + z * z / nu) ** ((nu + 1) // 2)


@lru_cache(maxsize=1024)
def _log_constant(nu: float) -> float:
    """ln of the density at 0, by ball arithmetic: differences of large log-gammas lose digits as floats."""
    with precision(128):
        half = arb(nu) / 2
        return float((half + arb(0.5)).lgamma() - half.lgamma() - (2 * half * arb.pi()).log() / 2)
