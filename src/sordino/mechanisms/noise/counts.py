"""Noisy counts of disjoint groups of rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.sampling.geometric import draw_discrete_laplaces


def add_count_noise(counts: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
    """Every count plus its own discrete Laplace noise of rate ε.

    **Guarantee**: ε-DP for one row added or removed. **Requires**: every row is in at most one of the counts.
    **Source**: Ghosh, Roughgarden, Sundararajan 2009. **Numerics**: none, the noise is exact.
    """
    return counts + draw_discrete_laplaces(epsilon, counts.size).reshape(counts.shape)


def count_deviation(epsilon: Fraction) -> float:
    """The standard deviation of that noise: √(2q)/(1 − q) with q = e^(−ε)."""
    rate = float(epsilon)
    return float(np.sqrt(2 * np.exp(-rate)) / -np.expm1(-rate))
