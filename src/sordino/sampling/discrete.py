"""Exact draws of the discrete Laplace and the discrete Gaussian law on the integers."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from sordino.core.errors import ParameterError
from sordino.sampling.bernoulli import draw_bernoulli_exp
from sordino.sampling.source import random_below, random_bits

_ONE = Fraction(1)


def draw_discrete_laplace(scale: Fraction) -> int:
    """An integer k with probability proportional to e^{-|k|/scale}, exactly.

    Source: Canonne, Kamath and Steinke 2020, Algorithm 2. With scale = t/s: a geometric variable X with ratio
    e^{-1/t} is a uniform remainder below t, kept with probability e^{-remainder/t}, plus t times a geometric
    variable with ratio e^{-1}; the magnitude is ⌊X/s⌋; the second zero (minus zero) is rejected.
    """
    if scale <= 0:
        raise ParameterError(f"scale must be > 0, got {scale}")
    t, s = scale.numerator, scale.denominator
    while True:
        remainder = random_below(t)
        if not draw_bernoulli_exp(Fraction(remainder, t)):
            continue
        blocks = 0
        while draw_bernoulli_exp(_ONE):
            blocks += 1
        magnitude = (remainder + t * blocks) // s
        negative = random_bits(1) == 1
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def draw_discrete_gaussian(sigma_squared: Fraction) -> int:
    """An integer k with probability proportional to e^{-k²/(2σ²)}, exactly.

    Source: Canonne, Kamath and Steinke 2020, Algorithm 3: rejection from the discrete Laplace law of the
    integer scale t = ⌊σ⌋ + 1, accepted with probability e^{-(|k| - σ²/t)²/(2σ²)}, a rational exponent.
    """
    if sigma_squared <= 0:
        raise ParameterError(f"sigma_squared must be > 0, got {sigma_squared}")
    t = isqrt(sigma_squared.numerator // sigma_squared.denominator) + 1
    mode = sigma_squared / t
    while True:
        candidate = draw_discrete_laplace(Fraction(t))
        if draw_bernoulli_exp((abs(candidate) - mode) ** 2 / (2 * sigma_squared)):
            return candidate
