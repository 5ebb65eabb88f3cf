"""Certified Student-t noise: what it truly spends, by closed forms and by an integral written apart from it."""

from __future__ import annotations

import math

import flint
import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms.selection.smooth_noisy_max import certified_recipe
from tests.oracles.densities import student_t
from tests.oracles.integration import integrate
from tests.oracles.two_noises import student_behind

BUDGETS = [1e-6, 1e-3, 0.1, 1.0, 5.0, 19.0, 60.0]


def two_logs(theta: float) -> tuple[float, float]:
    """ln P and ln L for two candidates, exactly."""
    with flint.ctx.workprec(1200):
        loser = student_behind(theta)
        return float((-loser).log1p()), float(loser.log())


def many_logs(theta: float, candidates: int) -> tuple[float, float]:
    noise = student_t(3)

    def losing(z: np.ndarray) -> np.ndarray:
        return np.exp(noise.log_pdf(z) + noise.log_cdf(z - theta) + (candidates - 2) * noise.log_cdf(z))

    loser = integrate(losing, (0.0, theta))
    return math.log1p(-(candidates - 1) * loser), math.log(loser)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_two_candidates_spend_epsilon_and_no_more(epsilon):
    recipe = certified_recipe(epsilon, 2)
    with flint.ctx.workprec(1200):
        loser = student_behind(recipe.alpha)
        spent = float(((1 - loser) / loser).log())
    assert epsilon * (1 - 1e-4) <= spent <= epsilon
    assert epsilon / recipe.beta < 3.25


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0, 19.0])
def test_no_step_of_the_margin_costs_more_than_epsilon(epsilon):
    recipe = certified_recipe(epsilon, 2)
    steps = min(2000, math.ceil(20 / recipe.beta))
    logs = [two_logs(recipe.alpha * math.exp(recipe.beta * m)) for m in range(steps)]
    losses = np.abs(np.diff(np.array(logs), axis=0))
    assert losses.max() <= epsilon
    assert losses.max() >= 0.9 * epsilon


@pytest.mark.parametrize(
    ("epsilon", "candidates"), [(0.5, 3), (1.0, 10), (18.0, 3), (20.0, 5), (22.0, 10), (3.0, 1000)]
)
def test_many_candidates_spend_epsilon_and_no_more(epsilon, candidates):
    recipe = certified_recipe(epsilon, candidates)
    winner, loser = many_logs(recipe.alpha, candidates)
    assert epsilon - 1e-6 <= winner - loser <= epsilon
    steps = min(60, math.ceil(12 / recipe.beta))
    logs = np.array([many_logs(recipe.alpha * math.exp(recipe.beta * m), candidates) for m in range(steps)])
    assert np.abs(np.diff(logs, axis=0)).max() <= epsilon


def test_the_noise_is_not_larger_than_its_rate_asks_for():
    """The rate of ln L is 3 far out, and 3.0 to 3.2 at its largest; noise of the quadrature once made it 9.9."""
    for candidates in (2, 3, 10, 100):
        assert 3.0 < 1 / certified_recipe(1.0, candidates).beta < 3.25


def test_a_budget_beyond_all_noise_is_answered_and_one_below_it_refused():
    utility, profile = [0.0, 1.0, 0.0], sd.Profile.from_table(np.zeros(10**4), bound=1.0)
    asked = {"profile": profile, "mechanism": "smooth_noisy_max", "noise": "certified"}
    assert sd.select(utility, epsilon=1e300, **asked).value == 1
    with pytest.raises(sd.CalibrationError, match="too small"):
        sd.select(utility, epsilon=1e-300, **asked)
