"""Standard normal noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy import special

from sordino.sampling.shapes.shape import FloatArray, SymmetricShape


@dataclass(frozen=True, slots=True)
class Normal(SymmetricShape):
    """P(|Z| > z) = erfc(z/√2)."""

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""
        z = np.asarray(z, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.asarray(-0.5 * z * z - 0.5 * math.log(2 * math.pi), dtype=np.float64)

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        return np.asarray(special.log_ndtr(-z) + math.log(2.0), dtype=np.float64)

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v."""
        v = np.asarray(v, dtype=np.float64)
        central = math.sqrt(2.0) * special.erfinv(np.maximum(1.0 - v, 0.0))
        return np.asarray(np.where(v < 0.5, -special.ndtri(v / 2), central), dtype=np.float64)

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z) for z >= 0."""
        return (z / arb(2).sqrt()).erfc()
