"""Levels: the smooth bound over level graphs, Example 22, conditions and the fallback."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import CalibrationError, ParameterError, PrivateDataError
from sordino.mechanisms.noise import Levels, add_noise_by_levels, calibrate_levels, levels_law
from sordino.testing import seeded


def distances(size, edges):
    far = np.full((size, size), np.inf)
    np.fill_diagonal(far, 0)
    for a, b in edges:
        far[a, b] = far[b, a] = 1 if a != b else 0
    for k in range(size):
        far = np.minimum(far, far[:, [k]] + far[[k], :])
    return far


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_smooth_levels_are_the_maximum_over_the_graph(data):
    size = data.draw(st.integers(1, 7))
    bounds = data.draw(st.lists(st.floats(0.01, 1000), min_size=size, max_size=size))
    possible = list(itertools.combinations(range(size), 2))
    edges = data.draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    beta = data.draw(st.floats(0.001, 3))
    smooth = Levels.graph(bounds, edges).smooth(beta)
    brute = (np.exp(-beta * distances(size, edges)) * np.array(bounds)).max(axis=1)
    assert np.allclose(smooth, brute, rtol=1e-12, atol=0)
    for a, b in edges:
        assert abs(math.log(smooth[a] / smooth[b])) <= beta * (1 + 1e-12)


def test_a_long_chain_keeps_its_relative_precision():
    smooth = Levels.chain([1.0] * 30_000 + [1e200]).smooth(0.01)
    assert smooth[0] == pytest.approx(max(1.0, 1e200 * math.exp(-300.0)), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "count"), [(1.0, 1e-3, 12), (0.5, 0.2, 30), (2.0, 1e-6, 400)])
def test_example_22(epsilon, delta, count):
    t = epsilon / math.log(1 / delta)
    levels = Levels.chain([(1 + t / 2) ** (1.5 * k) for k in range(count)])
    noise = calibrate_levels(levels, epsilon=epsilon, delta=delta, method="theorem14", fallback=False)
    printed = 2 * levels.largest / epsilon * (1 + 2 / t) * (1 - (1 + t / 2) ** -count)
    assert noise.expected_errors().sum() == pytest.approx(printed, rel=1e-6)


def test_lambda_is_the_minimum_over_levels_on_a_graph_where_greedy_descent_gets_stuck():
    bounds, edges = [1.0, 5.0, 30.0, 31.0], [(3, 2), (2, 1), (1, 0), (3, 0)]
    epsilon, delta = 0.8, 0.05
    t = epsilon / math.log(1 / delta)
    noise = calibrate_levels(
        Levels.graph(bounds, edges), epsilon=epsilon, delta=delta, method="theorem14", fallback=False
    )
    far = distances(4, edges)
    rates = [min((1 + t / 2) ** far[k, m] * epsilon / (2 * bounds[m]) for m in range(4)) for k in range(4)]
    assert np.allclose([1 / float(s) for s in noise.scales], rates, rtol=1e-9)


def test_levels_that_do_not_pay_fall_back_to_laplace_by_public_parameters_alone():
    levels = Levels.chain([1.0, 1.01, 1.02])
    noise = calibrate_levels(levels, epsilon=1.0, delta=1e-6)
    assert noise.pure
    assert noise.scales == (Fraction(1.02),) * 3
    with seeded(1):
        guarantees = {
            add_noise_by_levels(5, k, levels, epsilon=1.0, delta=1e-6, step=1).guarantee for k in range(3)
        }
    assert len(guarantees) == 1
    assert guarantees.pop().delta == 0


def test_levels_that_pay_have_less_noise_far_from_the_top():
    levels = Levels.chain([1.1**k for k in range(200)])
    noise = calibrate_levels(levels, epsilon=1.0, delta=1e-3)
    assert not noise.pure
    assert noise.scales[0] < noise.scales[-1] / 1000
    assert noise.expected_errors().mean() < levels.largest
    best = noise.expected_errors()
    theorem14 = calibrate_levels(levels, epsilon=1.0, delta=1e-3, method="theorem14").expected_errors()
    assert (best <= theorem14).all()


def test_conditions_of_the_repaired_theorem():
    levels = Levels.chain([1.0, 100.0])
    for epsilon, delta in ((1.0, 0.3), (3.0, 0.2)):
        with pytest.raises(CalibrationError, match="Theorem 14"):
            calibrate_levels(levels, epsilon=epsilon, delta=delta, method="theorem14", fallback=False)
        assert calibrate_levels(levels, epsilon=epsilon, delta=delta, method="tight", fallback=False).scales


def test_release_and_law():
    levels = Levels.chain([1.2**k for k in range(60)])
    with seeded(3):
        release = add_noise_by_levels(100, 2, levels, epsilon=1.0, delta=1e-3, step=1)
    law = levels_law(100, 2, levels, epsilon=1.0, delta=1e-3, step=1)
    assert isinstance(release.value, int)
    assert release.guarantee.delta == 1e-3
    assert release.details.reveal()["noise_scale"] == pytest.approx(float(law.scale))
    assert not release.private


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: Levels.chain([]), ParameterError),
        (lambda: Levels.chain([1.0, -1.0]), ParameterError),
        (lambda: Levels.chain([1.0, math.inf]), ParameterError),
        (lambda: Levels.graph([1.0, 2.0], [(0, 2)]), ParameterError),
        (lambda: Levels.graph([1.0, 2.0], [5]), ParameterError),
        (lambda: calibrate_levels(Levels.chain([1.0]), epsilon=0, delta=0.1), ParameterError),
        (lambda: calibrate_levels(Levels.chain([1.0]), epsilon=1, delta=0), ParameterError),
        (
            lambda: calibrate_levels(Levels.chain([1.0]), epsilon=1, delta=0.1, method="greedy"),
            ParameterError,
        ),
        (lambda: levels_law(1, 2, Levels.chain([1.0]), epsilon=1, delta=0.1, step=1), PrivateDataError),
        (lambda: levels_law(1, -1, Levels.chain([1.0]), epsilon=1, delta=0.1, step=1), PrivateDataError),
        (
            lambda: levels_law(math.nan, 0, Levels.chain([1.0]), epsilon=1, delta=0.1, step=1),
            PrivateDataError,
        ),
        (lambda: levels_law(1, 0, Levels.chain([1.0]), epsilon=1, delta=0.1, step=0), ParameterError),
    ],
)
def test_bad_input_is_refused(call, problem):
    with pytest.raises(problem):
        call()
