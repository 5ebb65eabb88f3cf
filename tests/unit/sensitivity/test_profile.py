"""Profiles: what they hold, what they refuse, and how they combine."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

import sordino as sd
from sordino.sensitivity import Profile


def quadratic(t):
    return np.minimum(t * t / 4.0, 50.0)


def test_reading_a_table_past_its_end_gives_the_bound_and_not_the_last_column():
    profile = Profile.from_table([1.0, 2.0], bound=9.0)
    assert [profile.at(t) for t in range(4)] == [1, 2, 9, 9]
    assert Profile.constant(3.0).at(0) == 3
    assert Profile.from_table(np.zeros(0), bound=2.0).at(0) == 2


def test_one_row_per_candidate_and_shared_rows():
    table = [[1.0, 2.0], [0.0, 5.0]]
    assert Profile.from_table(table, bound=9).at(1).tolist() == [2, 5]
    grouped = Profile.grouped(table, [1, 0, 1], bound=9)
    assert grouped.at(0).tolist() == [0, 1, 0]
    assert grouped.at(7).tolist() == [9, 9, 9]
    assert grouped.candidates == 3


@pytest.mark.parametrize("beta", [0.01, 0.3, 2.0])
def test_smooth_is_the_exact_maximum(beta):
    table = np.sort(np.random.default_rng(0).uniform(0, 10, size=(5, 30)), axis=1)
    profile = Profile.from_table(table, bound=12.0)
    steps = np.arange(31)
    full = np.concatenate([table, np.full((5, 1), 12.0)], axis=1)
    expected = (full * np.exp(-beta * steps)).max(axis=1)
    np.testing.assert_allclose(profile.smooth(beta), expected, rtol=1e-12)
    assert (profile.smooth(beta) >= expected).all()


@pytest.mark.parametrize("beta", [0.001, 0.05, 1.0])
def test_smooth_of_a_function_looks_far_enough(beta):
    profile = Profile.from_function(quadratic, bound=50.0)
    steps = np.arange(40_000)
    expected = (quadratic(steps) * np.exp(-beta * steps)).max()
    assert profile.smooth(beta) == pytest.approx(expected, rel=1e-12)


def test_smooth_of_a_profile_that_starts_late():
    late = Profile.from_function(lambda t: np.where(t < 5000, 0.0, 1.0), bound=1.0)
    assert late.smooth(0.01) == pytest.approx(math.exp(-50), rel=1e-9)


def test_gap_is_the_sum_up_to_the_bound():
    table = np.array([[1.0, 4.0], [0.0, 0.0]])
    assert Profile.from_table(table, bound=5.0).gap().tolist() == [5.0, 10.0]
    profile = Profile.from_function(quadratic, bound=50.0)
    assert profile.gap() == pytest.approx(sum(50 - min(t * t / 4, 50) for t in range(100)))
    assert Profile.constant(3.0).gap() == 0


def test_combinations():
    one = Profile.grouped([[1.0, 3.0], [2.0, 2.0]], [0, 1, 0], bound=4)
    two = Profile.from_table([[2.0], [1.0], [0.5]], bound=6)
    for t in range(4):
        assert (one | two).at(t).tolist() == np.maximum(one.at(t), two.at(t)).tolist()
        assert (one & two).at(t).tolist() == np.minimum(one.at(t), two.at(t)).tolist()
    assert (one & two).bound == 4
    assert (one | Profile.constant(1.5)).at(0).tolist() == [1.5, 2.0, 1.5]
    assert one.flat().at(0) == 2
    assert one.flat().candidates is None
    assert one.capped(2.5).at(1).tolist() == [2.5, 2.0, 2.5]
    assert one.capped(2.5).bound == 2.5
    growing = Profile.from_function(lambda t: 1.0 + t, bound=math.inf).capped(10)
    assert growing.gap() == 45
    assert growing.until(3).at(3) == 10
    assert growing.until(3).at(2) == 3


def test_functions_may_have_rows_and_groups():
    degrees = np.array([1.0, 4.0])
    profile = Profile.from_function(
        lambda t: degrees[:, None] + t, bound=math.inf, group_of=[0, 1, 1]
    ).capped(20)
    assert profile.at(3).tolist() == [4, 7, 7]
    assert profile.gap().tolist() == [sum(range(20)), sum(range(17)), sum(range(17))]


@pytest.mark.parametrize(
    ("table", "bound", "message"),
    [
        ([2.0, 1.0], 5, "must not decrease"),
        ([1.0, 6.0], 5, "must not exceed its bound 5"),
        ([-1.0, 0.0], 5, ">= 0"),
        ([np.nan], 5, "finite"),
        ([np.inf], math.inf, "finite"),
        ([[[1.0]]], 5, "shape"),
        (np.zeros((0, 3)), 5, "shape"),
        (["a"], 5, "numeric"),
        ([1.0], 0, "bound must be > 0"),
        ([1.0], float("nan"), "bound must be finite"),
        ([1.0], "3", "bound must be a number"),
    ],
)
def test_wrong_tables_are_refused(table, bound, message):
    with pytest.raises(sd.ParameterError, match=message):
        Profile.from_table(table, bound=bound)


def test_wrong_groups_functions_and_mixtures_are_refused():
    with pytest.raises(sd.ParameterError, match=r"row numbers in \[0, 1\)"):
        Profile.grouped([[1.0]], [0, 1], bound=2)
    with pytest.raises(sd.ParameterError, match="two axes"):
        Profile.grouped([1.0], [0], bound=2)
    with pytest.raises(sd.ParameterError, match="must not decrease"):
        Profile.from_function(lambda t: 5.0 - t, bound=9)
    with pytest.raises(sd.ParameterError, match="for 2 and 3 candidates"):
        _ = Profile.from_table([[1.0]] * 2, bound=2) | Profile.from_table([[1.0]] * 3, bound=2)
    mixed = Profile.from_table([1.0], bound=2, distance=sd.replace_row())
    with pytest.raises(sd.ParameterError, match="different changes"):
        _ = mixed & Profile.from_table([1.0], bound=2, distance=sd.flip_edge())
    with pytest.raises(sd.ParameterError, match="beta must be > 0"):
        mixed.smooth(0)
    with pytest.raises(sd.UnsupportedError, match="finite bound"):
        Profile.from_table([1.0], bound=math.inf).smooth(0.1)
    with pytest.raises(sd.UnsupportedError, match="finite bound"):
        Profile.from_table([1.0], bound=math.inf).gap()


def test_the_text_of_a_profile_shows_its_shape_and_bound_only():
    text = repr(Profile.from_table([[4711.0, 4712.0]], bound=9999))
    assert "4711" not in text
    assert "9999" in text


def test_a_million_candidates_in_shared_rows_stay_small():
    group_of = np.zeros(10**6, dtype=np.intp)
    group_of[::2] = 1
    tracemalloc.start()
    profile = Profile.grouped(np.sort(np.random.default_rng(0).uniform(size=(2, 1000))), group_of, bound=1)
    profile.gap()
    profile.smooth(0.1)
    sd.selection_law(np.zeros(10**6), profile=profile, epsilon=1, sampler="exponential")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # a table with one row per candidate would take 8 GB


def test_a_constant_bound_is_smooth_at_every_beta_and_others_above_their_least():
    constant = sd.SmoothBound.of_constant(2.0)
    assert constant.at(0) == constant.at(5) == 2
    bound = sd.SmoothBound(lambda beta: 1 / beta, beta_min=0.1)
    assert bound.at(0.5) == 2
    with pytest.raises(sd.ParameterError, match=r"smooth from beta = 0\.1 on"):
        bound.at(0.05)
    with pytest.raises(sd.PrivateDataError, match="finite"):
        sd.SmoothBound(lambda beta: math.nan).at(1)
    assert "lambda" not in repr(bound)
    assert (
        Profile.from_table([1.0], bound=3.0, distance=sd.replace_row()).smooth_bound().distance
        == sd.replace_row()
    )
