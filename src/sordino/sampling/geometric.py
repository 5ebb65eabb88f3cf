"""Many exact draws of geometric and discrete Laplace variables at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.core.errors import ParameterError
from sordino.sampling.choice import is_below_exp
from sordino.sampling.refined_uniform import RefinedUniform
from sordino.sampling.source import random_words

_LARGEST_RATE = Fraction(
    10**18
)  # the variable is 0 there unless 64 bits are all zero, which the exact path decides
_SMALLEST_RATE = Fraction(1, 1 << 40)  # below, 64 bits of U decide no k any more, and k outgrows its type
_RELATIVE, _ABSOLUTE = 2.0**-46, 2.0**-50


def draw_geometric(rate: Fraction, size: int) -> NDArray[np.int64]:
    """``size`` whole numbers k ≥ 0 with probability proportional to e^(−rate·k), exactly and independently.

    k is the number of thresholds e^(−rate), e^(−2·rate), … that lie above a uniform U. 64 bits of U enclose −ln U/rate;
    where that interval holds no whole number k is certain, and otherwise ball arithmetic decides with more bits.
    """
    if rate <= 0:
        raise ParameterError(f"rate must be > 0, got {rate}")
    if rate < _SMALLEST_RATE:
        raise ParameterError(f"rate must be at least 2**-40 (about 1e-12), got {float(rate):.3g}")
    words = random_words(size, np.uint64)
    width = float(min(rate, _LARGEST_RATE))
    with np.errstate(divide="ignore"):
        high = -np.log(words * 2.0**-64) * (1 + _RELATIVE) + _ABSOLUTE
        low = -np.log((words + 1.0) * 2.0**-64) * (1 - _RELATIVE) - _ABSOLUTE
    least = np.floor(np.maximum(low, 0.0) / width * (1 - _RELATIVE))
    most = np.floor(high / width * (1 + _RELATIVE))
    draws = least.astype(np.int64)
    for index in np.flatnonzero(least != most).tolist():
        uniform = RefinedUniform(int(words[index]), 64)
        while is_below_exp(uniform, rate * (int(draws[index]) + 1)):
            draws[index] += 1
    return draws


def draw_discrete_laplaces(rate: Fraction, size: int) -> NDArray[np.int64]:
    """``size`` integers k with probability proportional to e^(−rate·|k|): differences of two geometric variables."""
    draws = draw_geometric(rate, 2 * size)
    return draws[:size] - draws[size:]
