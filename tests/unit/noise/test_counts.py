"""Noisy counts of disjoint groups."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import ParameterError
from sordino.mechanisms.noise.counts import add_count_noise, count_deviation
from sordino.testing import seeded


def test_counts_keep_their_shape_and_at_a_large_budget_their_values():
    counts = np.arange(24).reshape(2, 3, 4)
    noisy = add_count_noise(counts, Fraction(500))
    assert noisy.dtype == np.int64
    assert (noisy == counts).all()


def test_a_seed_gives_the_same_noise_and_every_count_its_own():
    counts = np.zeros(500, dtype=np.int64)
    with seeded(1):
        once = add_count_noise(counts, Fraction(1, 10))
    with seeded(1):
        assert (add_count_noise(counts, Fraction(1, 10)) == once).all()
    assert len(set(once.tolist())) > 20


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 3.0])
def test_the_deviation_is_that_of_the_law(epsilon):
    k = np.arange(-20_000, 20_001)
    weights = np.exp(-epsilon * np.abs(k))
    expected = math.sqrt((weights * k * k).sum() / weights.sum())
    assert count_deviation(Fraction(epsilon)) == pytest.approx(expected, rel=1e-9)


def test_the_deviation_at_the_ends():
    assert count_deviation(Fraction(10_000)) == 0.0
    assert count_deviation(Fraction(1, 10**9)) == pytest.approx(math.sqrt(2) * 1e9)


def test_no_budget_is_refused():
    with pytest.raises(ParameterError, match="> 0"):
        add_count_noise(np.array([1]), Fraction(0))
