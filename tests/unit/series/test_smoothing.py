"""Kalman filters and consistency: post-processing of releases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

import sordino as sd
from sordino.core import CalibrationError, ParameterError

S = sd.series


def test_the_golden_filter():
    smoothed = S.Kalman(step_variance=1, noise_variance=8).filter([10, 12, 11, 15])
    assert smoothed.estimates == pytest.approx([10, 11.058824, 11.035556, 12.392766], abs=1e-6)
    assert smoothed.variances[-1] == pytest.approx(2.738765, abs=1e-6)


def test_the_steady_state_is_what_the_filter_settles_at():
    kalman = S.Kalman(step_variance=1, noise_variance=8)
    forecast, gain = kalman.steady_state()
    assert (forecast, gain) == (pytest.approx(3.372281, abs=1e-6), pytest.approx(0.296535, abs=1e-6))
    assert kalman.filter(np.zeros(200)).variances[-1] == pytest.approx((1 - gain) * forecast)


def test_the_filter_is_the_weighted_mean_of_its_model():
    """From the definition: the posterior mean of a Gaussian vector, by solving its normal equations."""
    steps, noises, seen = [1.0, 2.0, 0.5, 1.5], [8.0, 3.0, 5.0, 2.0], [10.0, 12.0, 7.0, 9.0]
    precision, weighted = np.zeros((4, 4)), np.zeros(4)
    for time in range(4):
        precision[time, time] += 1 / noises[time]
        weighted[time] += seen[time] / noises[time]
        if time:
            move = np.zeros(4)
            move[time], move[time - 1] = 1, -1
            precision += np.outer(move, move) / steps[time]
    exact = np.linalg.solve(precision, weighted)[-1]
    filtered = S.Kalman(steps, noises).filter(seen)
    assert filtered.estimates[-1] == pytest.approx(exact)
    assert filtered.variances[-1] == pytest.approx(np.linalg.inv(precision)[-1, -1])


def test_a_missing_time_is_a_forecast():
    smoothed = S.Kalman(2, 8).filter([10, None, float("nan"), 11])
    assert smoothed.estimates[:3].tolist() == [10, 10, 10]
    assert smoothed.variances[:3].tolist() == [8, 10, 12]


def test_a_robust_filter_is_not_moved_far_by_one_wild_number():
    wild = [0.0] * 10 + [1e9] + [0.0] * 3
    assert S.Kalman(1, 8).filter(wild).estimates[10] > 1e8
    assert S.Kalman(1, 8, robust=3).filter(wild).estimates[10] < 5


def test_smoothing_helps_where_the_model_holds():
    source = np.random.default_rng(5)
    truth = np.cumsum(source.normal(size=4000))
    seen = truth + source.laplace(scale=5, size=4000)
    smoothed = S.Kalman(1, S.noise_variance_of("laplace", 5)).filter(seen)
    before, after = np.mean((seen - truth) ** 2), np.mean((smoothed.estimates - truth) ** 2)
    assert after < before / 4
    assert after == pytest.approx(smoothed.variances.mean(), rel=0.3)


@pytest.mark.parametrize("gamma", [3.5, 4.0, 6.0])
def test_the_variance_of_cauchy_noise_is_its_integral(gamma):
    total = quad(lambda x: 1 / (1 + x**gamma), 0, math.inf)[0]
    second = quad(lambda x: x * x / (1 + x**gamma), 0, math.inf)[0]
    assert S.noise_variance_of("cauchy", 2, gamma=gamma) == pytest.approx(4 * second / total, rel=1e-6)


def test_what_has_no_variance_is_refused():
    with pytest.raises(CalibrationError, match="above 3 only"):
        S.noise_variance_of("cauchy", 1, gamma=3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: S.Kalman(-1, 1),
        lambda: S.Kalman(1, 0),
        lambda: S.Kalman(1, [1, 0]),
        lambda: S.Kalman(1, 1).filter([]),
        lambda: S.Kalman(1, 1).filter([None, 1]),
        lambda: S.Kalman(1, [1, 2, 3]).filter([1, 2]),
        lambda: S.Kalman(1, 1).filter([float("inf")]),
        lambda: S.make_consistent([(1, 3)], [1.0], horizon=2),
        lambda: S.make_consistent([(1, 2)], [1.0, 2.0], horizon=2),
        lambda: S.make_consistent([(1, 2)], [1.0], horizon=2, variances=[0.0]),
    ],
)
def test_bad_input_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_releases_are_smoothed_as_numbers_are():
    releases = [sd.add_noise(5, 1, epsilon=1.0, noise="discrete_laplace", step=1) for _ in range(3)]
    kalman = S.Kalman(1, 8)
    assert (
        kalman.filter(releases).estimates.tolist()
        == kalman.filter([r.value for r in releases]).estimates.tolist()
    )


def test_consistent_changes_have_the_smallest_variance():
    """A binary tree over 4 times with all nodes: the total of three times is better than its own two blocks."""
    blocks = [(1, 1), (2, 2), (3, 3), (4, 4), (1, 2), (3, 4), (1, 4)]
    rows = np.array([[first <= t <= last for t in range(1, 5)] for first, last in blocks], dtype=float)
    exact = S.make_consistent(blocks, rows @ np.array([5.0, 1.0, 2.0, 8.0]), horizon=4)
    assert exact == pytest.approx([5, 1, 2, 8])
    weights = np.array([S.make_consistent(blocks, unit, horizon=4)[:3].sum() for unit in np.eye(7)])
    assert weights @ weights < 2
