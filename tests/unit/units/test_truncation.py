"""Truncation: its public parts, its draws, and what it says about its own error."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sordino import ParameterError
from sordino.units import GaussianPerLimit, LaplacePerLimit, LimitChoice, Truncation, list_limits


def test_limits_go_from_one_to_the_bound():
    assert list_limits(1) == (1,)
    assert list_limits(10) == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert list_limits(10, base=Fraction(3, 2)) == (1, 2, 3, 4, 6, 8, 10)
    grid = list_limits(10**6)
    assert (grid[0], grid[-1]) == (1, 10**6)
    assert all(after <= 1.2 * before + 1 for before, after in pairwise(grid))


@pytest.mark.parametrize("numbers", [1, 2, 10, 1000])
def test_the_parts_make_up_the_budget(numbers):
    epsilon = Fraction(7, 10)
    pure = Truncation.of(epsilon=epsilon, most=1000, numbers=numbers)
    assert pure.choice.epsilon + pure.noise.epsilon == epsilon
    rho = Fraction(3, 100)
    concentrated = Truncation.of_rho(rho=rho, most=1000, numbers=numbers)
    assert concentrated.choice.epsilon**2 / 8 + concentrated.noise.rho == rho
    assert concentrated.choice.bounded_range


@pytest.mark.parametrize("noise", [LaplacePerLimit(Fraction(3, 5)), GaussianPerLimit(Fraction(1, 8))])
@pytest.mark.parametrize("limit", [1, 7, 200, 3000])
def test_radius_and_mean_error_are_those_of_the_law(noise, limit):
    law = noise.law(limit, 0)
    reach = 2 * law.reach
    places = np.arange(-reach, reach + 1)
    masses = np.exp(law.log_masses(-reach, reach))
    for confidence in (0.5, 0.95, 0.999):
        radius = noise.radius(limit, confidence)
        assert masses[np.abs(places) > radius].sum() <= 1 - confidence + 1e-12
        assert masses[np.abs(places) > 0.9 * radius - 2].sum() > 1 - confidence  # and it is not much too wide
    for shortfall in (0, 1, 5, 3 * limit):
        expected = masses @ np.abs(places - shortfall)
        assert noise.mean_error(limit, shortfall) == pytest.approx(expected, rel=1e-9)


def test_expected_error_is_the_sum_over_all_outcomes():
    truncation = Truncation.of(epsilon=Fraction(1), most=6)
    users = [1, 2, 6, 6]
    above = [sum(c > t for c in users) for t in truncation.grid]
    totals = [sum(min(c, t) for c in users) for t in truncation.grid]
    outcomes, law = truncation.law(above, totals, (-500, 500))
    expected = sum(
        np.exp(log) * abs(number - sum(users))
        for (_, number), log in zip(outcomes, law.log_probabilities, strict=True)
        if not isinstance(number, str)
    )
    assert truncation.expected_error(above, totals) == pytest.approx(expected, rel=1e-9)


def test_release_adds_noise_of_the_limit_to_every_total():
    truncation = Truncation.of(epsilon=Fraction(1), most=10**13)
    for limit in (1, 2, 10**13):  # the last is too wide for draws in machine words
        totals = [0, 10**20, -5]
        released = truncation.release(limit, totals)
        assert all(
            abs(a - b) <= truncation.radius(limit, 1 - 1e-12) for a, b in zip(released, totals, strict=True)
        )
    with pytest.raises(ParameterError, match="one of the grid"):
        truncation.release(10**12 + 1, [1])


def test_few_units_are_clipped_with_the_stated_confidence():
    """The chance that more were clipped is computed from the law, for histograms of many kinds."""
    truncation = Truncation.of(epsilon=Fraction(1), most=1000)
    for users in ([1000] * 500, [1] * 10**4 + [900] * 40, list(range(1, 1001)), [3] * 30):
        sizes = np.array(users)
        above = [int((sizes > limit).sum()) for limit in truncation.grid]
        chances = np.exp(truncation.choice.law(above).log_probabilities)
        missed = sum(
            chance
            for chance, n, limit in zip(chances, above, truncation.grid, strict=True)
            if n > truncation.clipped(limit, 0.95)
        )
        assert missed <= 0.05
    assert truncation.clipped(1000) < truncation.clipped(1)


def test_answers_beyond_all_machine_words_are_cut():
    choice = LimitChoice.of((1, 2), epsilon=Fraction(1), slope=1)
    assert choice.draw([10**30, 0]) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Truncation.of(epsilon=Fraction(0), most=5), "epsilon must be > 0"),
        (lambda: Truncation.of_rho(rho=Fraction(-1), most=5), "rho must be > 0"),
        (lambda: Truncation.of(epsilon=Fraction(1), most=0), "most must be >= 1"),
        (lambda: Truncation.of(epsilon=Fraction(1), most=5, numbers=0), "numbers must be >= 1"),
        (lambda: Truncation.of(epsilon=Fraction(1, 10**15), most=5), "too small"),
        (lambda: LimitChoice.of((2, 1), epsilon=Fraction(1), slope=1), "increasing"),
        (lambda: LimitChoice.of((1, 2), epsilon=Fraction(1), slope=1).draw([1]), "one answer per limit"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_sums_of_few_units_in_small_steps_are_not_lost():
    """300 units of 37 000 cents each at ε = 1/6: clipping takes less than half, but for a chance below 5 %."""
    truncation = Truncation.of(epsilon=Fraction(1, 6), most=10**10, numbers=3, natural=10_000)
    above = [300 * (limit < 37_000) for limit in truncation.grid]
    chances = np.exp(truncation.choice.law(above).log_probabilities)
    lost = sum(chance for chance, limit in zip(chances, truncation.grid, strict=True) if limit < 18_500)
    assert lost < 0.05
    blind = Truncation.of(epsilon=Fraction(1, 6), most=10**10, numbers=3)
    chances = np.exp(blind.choice.law([300 * (limit < 37_000) for limit in blind.grid]).log_probabilities)
    assert chances[0] > 0.5  # without the natural limit, one cent
