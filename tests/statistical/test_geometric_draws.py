"""Geometric and discrete Laplace draws, noisy counts and majority labels against their laws.

Every test asks, for each cell, whether a binomial law with the claimed probability gives a count this far out with
probability at least 10⁻⁸/(2·cells): the false-alarm rate of one test is below 10⁻⁸, of the file below 5·10⁻⁷. The seeds
are fixed, so a pass repeats. The controls claim a rate that is 3 % off, or ties that are not fair, and must fail.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.mechanisms.noise.counts import add_count_noise
from sordino.mechanisms.selection import MAJORITY_MECHANISMS, majority_labels, majority_law
from sordino.sampling.geometric import draw_discrete_laplaces, draw_geometric
from sordino.testing import seeded

DRAWS = 100_000
RISK = 1e-8
RATES = [Fraction(1, 20), Fraction(2, 3), Fraction(3)]


def consistent(counts, law, draws):
    level = RISK / (2 * len(law))
    low, high = stats.binom.cdf(counts, draws, law), stats.binom.sf(counts - 1, draws, law)
    return bool((np.minimum(low, high) >= level).all())


def cells(rate):
    return np.arange(math.ceil(3 / rate) + 2)


def geometric_law(rate):
    q, k = math.exp(-rate), cells(rate)
    return np.append((1 - q) * q**k, q ** len(k))


def folded(values, rate):
    return np.bincount(np.minimum(values, len(cells(rate))), minlength=len(cells(rate)) + 1)


@pytest.mark.parametrize("rate", RATES)
def test_geometric_draws_follow_their_law_and_not_one_three_percent_off(rate):
    with seeded(11):
        counts = folded(draw_geometric(rate, DRAWS), rate)
    assert consistent(counts, geometric_law(rate), DRAWS)
    if rate <= 1:
        with seeded(11):
            off = folded(draw_geometric(rate * Fraction(103, 100), 4 * DRAWS), rate)
        assert not consistent(off, geometric_law(rate), 4 * DRAWS)


@pytest.mark.parametrize("rate", RATES)
def test_discrete_laplace_draws_follow_their_law(rate):
    with seeded(12):
        values = draw_discrete_laplaces(rate, DRAWS)
    q, k = math.exp(-rate), cells(rate)
    sizes = 2 * (1 - q) / (1 + q) * q**k
    sizes[0] /= 2
    law = np.append(sizes, 2 * q ** len(k) / (1 + q))
    assert consistent(folded(np.abs(values), rate), law, DRAWS)
    signs = np.array([(values > 0).sum(), (values < 0).sum()])
    assert consistent(signs, np.full(2, q / (1 + q)), DRAWS)


def test_two_counts_have_independent_noise():
    with seeded(13):
        noise = add_count_noise(np.zeros((DRAWS, 2), dtype=np.int64), Fraction(1))
    q = math.exp(-1)
    chances = np.array([q / (1 + q), (1 - q) / (1 + q), q / (1 + q)])
    places = (np.sign(noise) + 1) @ [3, 1]
    assert consistent(np.bincount(places, minlength=9), np.outer(chances, chances).ravel(), DRAWS)


@pytest.mark.parametrize("mechanism", MAJORITY_MECHANISMS)
@pytest.mark.parametrize("counts", [(2, 2, 1), (0, 3)])
def test_majority_labels_follow_their_law(mechanism, counts):
    draws = DRAWS if mechanism == "permute_and_flip" else 3000
    groups = np.tile(counts, (draws, 1))
    with seeded(14):
        labels = majority_labels(groups, Fraction(1, 2), mechanism)
    law = np.exp(majority_law(np.array(counts), Fraction(1, 2), mechanism))
    assert consistent(np.bincount(labels, minlength=len(counts)), law, draws)


def test_ties_that_are_not_fair_are_told_apart():
    groups = np.tile((2, 2, 1), (DRAWS, 1))
    with seeded(15):
        unfair = (groups + draw_geometric(Fraction(1, 2), groups.size).reshape(groups.shape)).argmax(axis=1)
    law = np.exp(majority_law(np.array((2, 2, 1)), Fraction(1, 2)))
    assert not consistent(np.bincount(unfair, minlength=3), law, DRAWS)
