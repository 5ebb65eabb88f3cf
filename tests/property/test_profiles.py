"""Hypothesis: smooth bounds dominate and grow by at most e^β per step; laws and scores keep their sensitivities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.mechanisms.selection.inverse_sensitivity import inverse_scores
from sordino.mechanisms.selection.local_dampening import dampened_scores
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.shifted_dampening import shifted_scores

pytestmark = pytest.mark.slow

BOUND = 8.0
steps = st.lists(st.floats(0, BOUND, allow_subnormal=False), min_size=0, max_size=8).map(sorted)
scores = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def neighbours(draw):
    """Two databases' scores and profiles of three candidates, admissible for one another by construction."""
    mine, theirs, u, v = [], [], [], []
    for _ in range(3):
        base = np.array([*draw(steps), BOUND, BOUND])
        other = np.minimum.accumulate(np.array([*base[1:], BOUND, BOUND])[::-1])[::-1][: len(base)]
        low = np.concatenate([[0.0], base[:-1]])  # δ(y, t) must lie between δ(x, t−1) and δ(x, t+1)
        mix = draw(st.floats(0, 1))
        theirs.append(np.maximum.accumulate(low + mix * np.maximum(other - low, 0)))
        mine.append(base)
        here = draw(scores)
        u.append(here)
        v.append(here + draw(st.floats(-1, 1)) * min(base[0], theirs[-1][0]))
    width = max(len(row) for row in mine)
    pad = [np.concatenate([row, np.full(width - len(row), BOUND)]) for row in mine]
    pad_theirs = [
        np.minimum(np.concatenate([row, np.full(width - len(row), BOUND)]), BOUND) for row in theirs
    ]
    return (np.array(u), np.array(pad)), (np.array(v), np.array(pad_theirs))


def grids(pair, transform, **options):
    return [
        transform(pose_question(u, profile=sd.Profile.from_table(table, bound=BOUND), epsilon=1, **options))
        for u, table in pair
    ]


def assert_sensitivity(pair, transform, **options):
    one, two = grids(pair, transform, **options)
    assert one.sensitivity == two.sensitivity
    # the drawn neighbour's score was rounded to a double: one grid step of slack for that
    assert np.abs(one.values - two.values).max() <= one.sensitivity + 1


@given(neighbours())
@settings(max_examples=300, deadline=None)
def test_dampened_scores_move_by_one_step_at_most(pair):
    assert_sensitivity(pair, dampened_scores)


@given(neighbours(), st.sampled_from(["plus", "minus"]))
@settings(max_examples=300, deadline=None)
def test_shifted_scores_move_by_the_bound_at_most(pair, direction):
    assert_sensitivity(pair, shifted_scores, direction=direction)


@given(neighbours())
@settings(max_examples=300, deadline=None)
def test_changes_needed_move_by_one_at_most(pair):
    assert_sensitivity(pair, inverse_scores)


@given(neighbours(), st.floats(0.01, 3))
@settings(max_examples=200, deadline=None)
def test_smooth_bounds_dominate_and_grow_slowly(pair, beta):
    for (_, mine), (_, theirs) in (pair, pair[::-1]):
        one = sd.Profile.from_table(mine, bound=BOUND).smooth(beta)
        two = sd.Profile.from_table(theirs, bound=BOUND).smooth(beta)
        assert (one >= mine[:, 0]).all()
        assert (one <= math.exp(beta) * two * (1 + 1e-12)).all()


@given(
    st.lists(scores, min_size=1, max_size=12),
    st.floats(0.01, 50),
    st.sampled_from(["exponential", "permute_and_flip"]),
)
@settings(max_examples=200, deadline=None)
def test_laws_have_mass_one_and_prefer_larger_scores(values, epsilon, mechanism):
    law = sd.selection_law(values, profile=2.0, epsilon=epsilon, mechanism=mechanism)
    assert abs(law.sum() - 1) < 1e-9
    order = np.argsort(values, kind="stable")
    assert (np.diff(law[order]) >= -1e-12).all()


@given(steps, st.integers(0, 12))
def test_a_profile_reads_the_same_in_every_form(row, t):
    table = sd.Profile.from_table(np.array(row), bound=BOUND)
    full = np.array([*row, *[BOUND] * 40])
    function = sd.Profile.from_function(lambda steps: full[np.minimum(steps, len(full) - 1)], bound=BOUND)
    grouped = sd.Profile.grouped(np.array([row]), [0, 0], bound=BOUND)
    assert table.at(t) == function.at(t) == grouped.at(t)[0] == grouped.flat().at(t)
    assert math.isclose(table.gap(), function.gap(), abs_tol=1e-9)
    assert math.isclose(table.smooth(0.2), function.smooth(0.2), rel_tol=1e-12)
