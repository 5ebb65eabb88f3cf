"""Coins whose bias is exact: rational probabilities, and e^{-x} for rational x."""

from __future__ import annotations

from fractions import Fraction

from sordino.core.errors import ParameterError
from sordino.sampling.source import random_below


def draw_bernoulli(p: Fraction) -> bool:
    """True with probability exactly ``p``, a rational number in [0, 1]."""
    if not 0 <= p <= 1:
        raise ParameterError(f"p must be in [0, 1], got {p}")
    return random_below(p.denominator) < p.numerator


def draw_bernoulli_exp(x: Fraction) -> bool:
    """True with probability exactly e^{-x}, for a rational x >= 0.

    Source: Canonne, Kamath and Steinke 2020, Algorithm 1 (after von Neumann): for x in [0, 1] the number of
    successes before the first failure of coins with bias x/1, x/2, x/3, … is even with probability e^{-x}.
    A larger x is split into ones, which end at the first failure, so the cost does not grow with x.
    """
    if x < 0:
        raise ParameterError(f"x must be >= 0, got {x}")
    whole, rest = divmod(x.numerator, x.denominator)
    for _ in range(whole):
        if not _bernoulli_exp_unit(1, 1):
            return False
    return _bernoulli_exp_unit(rest, x.denominator)


def _bernoulli_exp_unit(numerator: int, denominator: int) -> bool:
    """Bernoulli(e^{-numerator/denominator}) for a ratio in [0, 1]."""
    count = 1
    while random_below(denominator * count) < numerator:
        count += 1
    return count % 2 == 1
