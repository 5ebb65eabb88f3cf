"""One-sided polynomial noise: P(Z > z) = (1 + z/ν)^{-ν} for z >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from sordino.core.parameters import positive
from sordino.sampling.shapes.shape import FloatArray, one_sided_radius


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Z = ν(U^{-1/ν} - 1); its hazard rate falls from 1, as 1/(1 + z/ν)."""

    nu: float
    symmetric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("nu", self.nu)

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density, minus infinity below 0."""
        z = np.asarray(z, dtype=np.float64)
        inside = -(self.nu + 1) * np.log1p(np.maximum(z, 0.0) / self.nu)
        return np.asarray(np.where(z >= 0, inside, -np.inf), dtype=np.float64)

    def cdf(self, z: ArrayLike) -> FloatArray:
        """P(Z <= z)."""
        return np.asarray(-np.expm1(self.log_tail(z)), dtype=np.float64)

    def log_tail(self, z: ArrayLike) -> FloatArray:
        """ln P(Z > z)."""
        z = np.maximum(np.asarray(z, dtype=np.float64), 0.0)
        return np.asarray(-self.nu * np.log1p(z / self.nu), dtype=np.float64)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The z with P(Z <= z) = p."""
        p = np.asarray(p, dtype=np.float64)
        return np.asarray(self.nu * np.expm1(-np.log1p(-p) / self.nu), dtype=np.float64)

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(Z > z) = v."""
        v = np.asarray(v, dtype=np.float64)
        return np.asarray(self.nu * np.expm1(-np.log(v) / self.nu), dtype=np.float64)

    def radius(self, confidence: float) -> float:
        """The z with P(Z <= z) = confidence."""
        return one_sided_radius(self.tail_quantile, confidence)

    def ball_tail(self, z: arb) -> arb:
        """P(Z > z) for z >= 0."""
        return (1 + z / self.nu) ** arb(-self.nu)
