"""Majority labels: the law of permute-and-flip by its geometric form, and what a majority survives."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import ParameterError
from sordino.mechanisms.selection import MAJORITY_MECHANISMS, majority_labels, majority_law
from sordino.mechanisms.selection.majority import majority_margin
from sordino.testing import seeded


def largest_of_geometric(counts, epsilon):
    """P(label has the largest count + geometric noise, fair among ties), by summing over all noise that matters."""
    terms = math.ceil(40 / epsilon)
    q = math.exp(-epsilon)
    chances = (1 - q) * q ** np.arange(terms)
    noisy = [count + np.arange(terms).reshape([-1 if axis == i else 1 for axis in range(len(counts))])
             for i, count in enumerate(counts)]  # fmt: skip
    joint = np.ones([1] * len(counts))
    for i in range(len(counts)):
        joint = joint * chances.reshape([-1 if axis == i else 1 for axis in range(len(counts))])
    values = np.stack(np.broadcast_arrays(*noisy))
    tied = values == values.max(axis=0)
    share = tied / tied.sum(axis=0)
    return (share * joint).sum(axis=tuple(range(1, len(counts) + 1)))


@pytest.mark.parametrize("counts", [(0, 0), (3, 1), (0, 7), (2, 2, 2), (5, 4, 0), (1, 0, 1)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.3])
def test_permute_and_flip_is_the_largest_of_counts_with_geometric_noise(counts, epsilon):
    if len(counts) == 3 and epsilon < 1:
        epsilon = 0.8
    law = np.exp(majority_law(np.array(counts), Fraction(epsilon)))
    assert np.allclose(law, largest_of_geometric(counts, epsilon), rtol=0, atol=1e-12)


def test_ties_that_go_to_the_first_are_another_law():
    """The control: without the fair draw the law is not permute-and-flip's."""
    law = np.exp(majority_law(np.array([2, 2]), Fraction(1)))
    q = math.exp(-1)
    first_of_ties = 0.5 + (1 - q) / (1 + q) / 2
    assert law[0] == pytest.approx(0.5, abs=1e-12)
    assert abs(first_of_ties - law[0]) > 0.2


@pytest.mark.parametrize("labels", [2, 3])
def test_a_majority_survives_what_its_margin_says(labels):
    """Walked: the margin moves by at most 1 per row, and no walk of that many rows brings another winner."""
    counts = list(itertools.product(range(7 if labels == 2 else 5), repeat=labels))
    told = {one: majority_margin(np.array(one)) for one in counts}

    def neighbours(one):
        for place in range(labels):
            for step in (-1, 1):
                moved = (*one[:place], one[place] + step, *one[place + 1 :])
                if moved in told:
                    yield moved

    for one, (winner, margin) in told.items():
        assert winner == max(range(labels), key=lambda label: (one[label], -label))
        reached = {one}
        for _ in range(margin):
            reached |= {near for seen in reached for near in neighbours(seen)}
        assert {told[near][0] for near in reached} == {winner}
        for near in neighbours(one):
            other, left = told[near]
            if other == winner:
                assert abs(left - margin) <= 1
            else:
                assert left == margin == 0


@pytest.mark.parametrize("mechanism", MAJORITY_MECHANISMS)
def test_a_clear_majority_wins_at_a_large_budget(mechanism):
    counts = np.array([[9, 0, 1], [0, 0, 30], [2, 12, 2]])
    assert majority_labels(counts, Fraction(200), mechanism).tolist() == [0, 2, 1]


@pytest.mark.parametrize("mechanism", MAJORITY_MECHANISMS)
def test_laws_sum_to_one_and_prefer_the_majority(mechanism):
    law = np.exp(majority_law(np.array([1, 4, 2]), Fraction(1, 2), mechanism))
    assert law.sum() == pytest.approx(1)
    assert law.argmax() == 1


def test_labels_are_reproducible_from_a_seed_and_empty_groups_are_even():
    counts = np.zeros((2000, 2), dtype=np.int64)
    with seeded(8):
        labels = majority_labels(counts, Fraction(3))
    with seeded(8):
        assert (majority_labels(counts, Fraction(3)) == labels).all()
    assert 0.4 < labels.mean() < 0.6


def test_an_unknown_mechanism_names_the_nearest():
    for call in (majority_labels, majority_law):
        with pytest.raises(ParameterError, match="did you mean 'exponential'"):
            call(np.array([[1, 2]]), Fraction(1), "exponental")
