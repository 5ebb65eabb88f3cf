"""Laplace noise: density ½e^{-|z|}."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from sordino.sampling.shapes.shape import FloatArray, SymmetricShape


@dataclass(frozen=True, slots=True)
class Laplace(SymmetricShape):
    """P(|Z| > z) = e^{-z}."""

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""
        return np.asarray(-np.abs(np.asarray(z, dtype=np.float64)) - np.log(2.0), dtype=np.float64)

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        return -z

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v."""
        return np.asarray(-np.log(np.asarray(v, dtype=np.float64)), dtype=np.float64)

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z) for z >= 0."""
        return (-z).exp()
