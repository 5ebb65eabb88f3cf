"""Many exact draws of the discrete Gaussian law at once."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from sordino.core.errors import ParameterError
from sordino.sampling.choice import is_below_exp
from sordino.sampling.geometric import draw_discrete_laplaces
from sordino.sampling.refined_uniform import RefinedUniform
from sordino.sampling.source import random_words

_MARGIN = (
    2.0**-40
)  # above the relative error of a float exponent below 1000, of its exponential and of a 64-bit uniform
_LARGEST_EXPONENT = 1000.0


def draw_discrete_gaussians(sigma_squared: Fraction, size: int) -> NDArray[np.int64]:
    """``size`` integers k with probability proportional to e^{−k²/(2σ²)}, exactly and independently.

    Source: Canonne, Kamath and Steinke 2020, Algorithm 3, as `draw_discrete_gaussian`. Proposals and coins come in
    arrays; a coin is decided in floats where its uniform is further from its bias than their error, and else by ball
    arithmetic with more bits.
    """
    if sigma_squared <= 0:
        raise ParameterError(f"sigma_squared must be > 0, got {sigma_squared}")
    scale = isqrt(sigma_squared.numerator // sigma_squared.denominator) + 1
    mode = sigma_squared / scale
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < size:
        proposals = draw_discrete_laplaces(Fraction(1, scale), 2 * (size - len(drawn)) + 16)
        kept = _accept(np.abs(proposals), mode, sigma_squared)
        drawn = np.concatenate([drawn, proposals[kept]])
    return drawn[:size]


def _accept(magnitudes: NDArray[np.int64], mode: Fraction, sigma_squared: Fraction) -> NDArray[np.bool_]:
    """Coins of bias e^{−(m − mode)²/(2σ²)}."""
    words = random_words(len(magnitudes), np.uint64)
    apart = magnitudes - float(mode)
    # The difference is off by less than 2⁻⁵² of the larger of its terms, which moves the exponent by the slack.
    slack = np.abs(apart) * (magnitudes + float(mode)) * (2.0**-51 / float(sigma_squared))
    exponents = np.minimum(apart * apart / (2 * float(sigma_squared)), _LARGEST_EXPONENT)
    uniforms = words * 2.0**-64
    heads = uniforms < np.exp(-exponents - slack) * (1 - _MARGIN) - 2.0**-60
    tails = uniforms > np.exp(-exponents + slack) * (1 + _MARGIN) + 2.0**-60
    for index in np.flatnonzero(~heads & ~tails).tolist():
        exponent = (int(magnitudes[index]) - mode) ** 2 / (2 * sigma_squared)
        heads[index] = is_below_exp(RefinedUniform(int(words[index]), 64), exponent)
    accepted: NDArray[np.bool_] = heads
    return accepted
