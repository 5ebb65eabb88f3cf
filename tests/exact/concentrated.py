"""The ρ of two laws, from the definition of zero-concentrated differential privacy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ORDERS = (1.0001, 1.5, 2.0, 4.0, 8.0, 32.0)


def rho_of(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The largest of D_α(P‖Q)/α over some orders α, for the logarithms of two laws over the same outcomes."""
    found = []
    for a in ORDERS:
        terms = a * one + (1 - a) * other
        found.append((terms.max() + np.log(np.exp(terms - terms.max()).sum())) / (a - 1) / a)
    return float(max(found))
