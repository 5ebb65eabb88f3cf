"""Clipped vectors: by hand, and the sensitivity and loss over every small universe."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from tests.oracles.units.group_clipping import (
    clip_absolute,
    clip_euclidean,
    clipped_totals,
    group_vectors,
    released_mass,
)

VECTORS = list(itertools.product(range(-4, 5), repeat=3))


def test_clipping_by_hand():
    assert clip_absolute((3, -4), 7) == (3, -4)
    assert clip_absolute((3, -4), 5) == (2, -2)  # 15/7 and -20/7
    assert clip_absolute((1, 1, 1), 2) == (0, 0, 0)  # 2/3 each
    assert clip_euclidean((3, -4), 5) == (3, -4)
    assert clip_euclidean((6, -8), 5) == (3, -4)
    assert clip_euclidean((1, 1), 1) == (0, 0)
    assert clip_euclidean((2, 3, 6), 6) == (1, 2, 5)  # 12/7, 18/7, 36/7
    assert clip_absolute((5,), 0) == (0,) == clip_euclidean((5,), 0)


def test_vectors_and_totals_by_hand():
    rows = {"ann": {"x": 3, "y": 1}, "bob": {"y": 2, "elsewhere": 9}}
    vectors = group_vectors(rows, ["x", "y", "z"])
    assert vectors == [(3, 1, 0), (0, 2, 0)]
    assert clipped_totals(vectors, 2) == (1, 2, 0)  # 6/4 and 2/4 of ann, all of bob


@pytest.mark.parametrize("tau", [1, 2, 3, 5, 8])
def test_no_vector_is_longer_than_tau_and_some_are_just_as_long(tau):
    sizes = [sum(map(abs, clip_absolute(v, tau))) for v in VECTORS]
    assert max(sizes) == tau
    squares = [sum(c * c for c in clip_euclidean(v, tau)) for v in VECTORS]
    assert max(squares) <= tau * tau
    assert max(squares) == tau * tau or tau > 4


@pytest.mark.parametrize("clip", [clip_absolute, clip_euclidean])
def test_clipping_keeps_signs_shrinks_and_loses_less_than_one_step_by_rounding(clip):
    for vector in VECTORS:
        clipped = clip(vector, 3)
        power = 1 if clip is clip_absolute else 2
        size = sum(abs(v) ** power for v in vector)
        for v, c in zip(vector, clipped, strict=True):
            assert v * c >= 0
            assert abs(c) <= abs(v)
            if size > 3**power:
                assert abs(c) ** power <= Fraction(abs(v) ** power * 3**power, size) < (abs(c) + 1) ** power
            else:
                assert c == v


def small_universe():
    """Up to three units with two groups each, totals from -1 to 3."""
    each = list(itertools.product((-1, 0, 3), repeat=2))
    for size in range(1, 4):
        yield from itertools.combinations_with_replacement(each, size)


def test_one_unit_moves_the_totals_by_at_most_tau():
    worst = 0
    for units in small_universe():
        whole = clipped_totals(units, 2)
        for i in range(len(units)):
            rest = clipped_totals(units[:i] + units[i + 1 :], 2) or (0, 0)
            worst = max(worst, sum(abs(a - b) for a, b in zip(whole, rest, strict=True)))
    assert worst == 2


def test_every_group_may_have_the_noise_of_the_whole_budget():
    """Ratio 1/2 at tau = 2 is epsilon = 2 ln 2 for all groups together: no division by the number of groups."""
    ratio, worst = Fraction(1, 2), Fraction(0)
    for units in list(small_universe())[::3]:
        whole, rest = clipped_totals(units, 2), clipped_totals(units[1:], 2) or (0, 0)
        for outcome in itertools.product(range(-3, 7, 2), repeat=2):
            p, q = released_mass(whole, outcome, ratio), released_mass(rest, outcome, ratio)
            worst = max(worst, p / q, q / p)
    assert worst == 4


def test_rounding_to_the_nearest_step_would_exceed_tau():
    """Two thirds in each of three groups become three whole steps where two are allowed."""
    assert sum(round(Fraction(2, 3)) for _ in range(3)) == 3 > 2
