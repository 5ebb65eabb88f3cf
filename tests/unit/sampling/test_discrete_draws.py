"""Exact coins and integer noise against their laws; a wrong law must be told apart.

Every test of counts asks, for each cell, whether a binomial law with the claimed probability would give a count this
far out with probability at least 1e-7 / (2·cells): the false-alarm rate of one test is below 1e-7.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.core import ParameterError
from sordino.sampling.bernoulli import draw_bernoulli, draw_bernoulli_exp
from sordino.sampling.discrete import draw_discrete_gaussian, draw_discrete_laplace
from sordino.testing import seeded


def consistent(counts: dict[int, int], law: dict[int, float], size: int) -> bool:
    level = 1e-7 / (2 * len(law))
    for cell, p in law.items():
        seen = counts.get(cell, 0)
        if min(stats.binom.cdf(seen, size, p), stats.binom.sf(seen - 1, size, p)) < level:
            return False
    return True


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1, 10**6)])
def test_bernoulli_exp_has_its_probability(x):
    size = 20_000
    with seeded(1):
        heads = sum(draw_bernoulli_exp(x) for _ in range(size))
    p = math.exp(-x)
    assert consistent({1: heads, 0: size - heads}, {1: p, 0: 1 - p}, size)
    if 0 < x < 4 and p < 0.99:
        wrong = 0.7 * p
        assert not consistent({1: heads}, {1: wrong}, size)


def test_certain_and_impossible_coins():
    assert all(draw_bernoulli(Fraction(1)) for _ in range(50))
    assert not any(draw_bernoulli(Fraction(0)) for _ in range(50))
    assert not any(draw_bernoulli_exp(Fraction(10**6)) for _ in range(50))


def laplace_law(scale: float) -> dict[int, float]:
    q = math.exp(-1 / scale)
    return {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-8, 9)}


def gaussian_law(variance: float) -> dict[int, float]:
    weight = {k: math.exp(-k * k / (2 * variance)) for k in range(-60, 61)}
    total = sum(weight.values())
    return {k: weight[k] / total for k in range(-8, 9)}


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 3)])
def test_discrete_laplace_has_its_law(scale):
    size = 20_000
    with seeded(2):
        counts = Counter(draw_discrete_laplace(scale) for _ in range(size))
    assert consistent(counts, laplace_law(float(scale)), size)
    assert not consistent(counts, laplace_law(float(scale) * 1.15), size)


@pytest.mark.slow
@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(1), Fraction(9, 2)])
def test_discrete_gaussian_has_its_law(variance):
    size = 20_000
    with seeded(3):
        counts = Counter(draw_discrete_gaussian(variance) for _ in range(size))
    assert consistent(counts, gaussian_law(float(variance)), size)
    assert not consistent(counts, gaussian_law(float(variance) * 1.25), size)


def test_huge_scales_are_drawn_without_overflow():
    scale = Fraction(10**40)
    with seeded(4):
        draws = [draw_discrete_laplace(scale) for _ in range(200)]
        gaussian = [draw_discrete_gaussian(scale**2) for _ in range(20)]
    assert 10**38 < np.median(np.abs(draws)) < 10**41
    assert max(map(abs, gaussian)) < 10**42


@pytest.mark.parametrize(
    "draw",
    [
        lambda: draw_bernoulli(Fraction(3, 2)),
        lambda: draw_bernoulli(Fraction(-1, 2)),
        lambda: draw_bernoulli_exp(Fraction(-1)),
        lambda: draw_discrete_laplace(Fraction(0)),
        lambda: draw_discrete_gaussian(Fraction(-1)),
    ],
)
def test_bad_parameters_are_refused(draw):
    with pytest.raises(ParameterError):
        draw()
