"""Laws against the oracles and the goldens of the papers."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sordino.core import UnsupportedError
from sordino.mechanisms.selection import compare, error_quantile, expected_error, selection_law
from sordino.mechanisms.selection.local_dampening import dampened_scores
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.shifted_dampening import shifted_scores
from sordino.mechanisms.selection.single_winner import log_losers_and_winner
from sordino.mechanisms.selection.smooth_noisy_max import laplace_recipe, polynomial_recipe
from sordino.sensitivity import Profile
from tests.oracles import densities, selection_laws

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "selection.json").read_text())["entries"]


def golden(name):
    return GOLDEN[name]["value"]


def random_scores(seed, size):
    rng = np.random.default_rng(seed)
    return rng.integers(-8, 9, size=size) / 4


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_exponential_and_permute_and_flip_equal_their_oracles(seed, monotone, epsilon):
    scores = random_scores(seed, 2 + seed % 5)
    for name, oracle in (
        ("exponential", selection_laws.exponential_law),
        ("permute_and_flip", selection_laws.permute_and_flip_law),
    ):
        law = selection_law(scores, profile=1.5, epsilon=epsilon, mechanism=name, monotone=monotone)
        expected = oracle(scores.tolist(), epsilon=epsilon, sensitivity=1.5, monotone=monotone)
        np.testing.assert_allclose(law, expected, rtol=1e-10)


@pytest.mark.parametrize("noise", ["gumbel", "exponential", "laplace"])
@pytest.mark.parametrize("seed", range(3))
def test_report_noisy_max_equals_the_integral(noise, seed):
    scores = random_scores(seed, 5)
    law = selection_law(scores, profile=1.0, epsilon=1.3, mechanism="report_noisy_max", noise=noise)
    expected = selection_laws.report_noisy_max_law(scores.tolist(), epsilon=1.3, noise=noise)
    np.testing.assert_allclose(law, expected, rtol=1e-8)


@pytest.mark.parametrize("size", [97, 150, 400])
def test_permute_and_flip_law_of_many_equals_the_recursion(size):
    """The number of other heads by dynamic programming, candidate by candidate."""
    scores = np.random.default_rng(size).normal(size=size) * 3
    law = selection_law(scores, profile=1.0, epsilon=2.0, mechanism="permute_and_flip")
    heads = np.exp(scores - scores.max())
    for r in (int(scores.argmax()), 0, size // 2, int(scores.argmin())):
        ways = np.array([1.0])
        for s in range(size):
            if s != r:
                ways = np.append(ways, 0.0) * (1 - heads[s]) + np.append(0.0, ways) * heads[s]
        assert law[r] == pytest.approx(heads[r] * (ways / np.arange(1, size + 1)).sum(), rel=1e-6)


@pytest.mark.parametrize("size", [97, 120, 5000])
@pytest.mark.parametrize("lead", [0.0, 1e-9, 1.0, 74.0, 78.0, 80.0, 84.0, 1e4])
def test_permute_and_flip_law_of_a_clear_leader(size, lead):
    scores = np.full(size, -lead)
    scores[3] = 0.0
    law = selection_law(scores, profile=1.0, epsilon=1, mechanism="permute_and_flip")
    # the leader always shows heads; it shares with a binomial number of others: (1 − (1−p)^n)/(n p)
    p = np.exp(-lead / 2)
    expected = -np.expm1(size * np.log1p(-p)) / (size * p) if 0 < p < 1 else (1 / size if p == 1 else 1.0)
    assert law[3] == pytest.approx(expected, rel=1e-6)
    assert law.sum() == pytest.approx(1, abs=1e-12)


def profile_of(table):
    return lambda t, r: table[r][t] if t < len(table[r]) else 10


@pytest.mark.parametrize("seed", range(8))
def test_dampening_equals_its_definition_exactly(seed):
    rng = np.random.default_rng(seed)
    size = 6
    scores = rng.integers(-30, 31, size=size) / 2
    table = np.sort(rng.integers(0, 10, size=(size, 4)), axis=1)
    profile = Profile.from_table(table, bound=10)
    grid = dampened_scores(pose_question(scores, profile=profile, epsilon=1))
    for r in range(size):
        exact = selection_laws.dampening(Fraction(scores[r]), lambda t, r=r: profile_of(table)(t, r))
        assert grid.values[r] == (exact * grid.sensitivity).__floor__()


@pytest.mark.parametrize("direction", ["plus", "minus"])
@pytest.mark.parametrize("seed", range(4))
def test_shifted_dampening_is_the_limit_of_dampening(direction, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-8, 9, size=5)
    table = np.sort(rng.integers(1, 10, size=(5, 4)), axis=1)
    grid = shifted_scores(
        pose_question(scores, profile=Profile.from_table(table, bound=10), epsilon=1, direction=direction)
    )
    limit = selection_laws.shifted_dampening(
        scores.tolist(), profile_of(table), bound=10, horizon=4, direction=1 if direction == "plus" else -1
    )
    ours = [Fraction(int(v - grid.values[0]), grid.sensitivity) for v in grid.values]
    assert ours == limit


def test_figure_2a_of_local_dampening():
    scores = np.array(golden("fig2a_ebc"), dtype=float)
    flat = Profile.from_table([3, 5], bound=7.5)
    law = selection_law(scores, profile=flat, epsilon=2, mechanism="local_dampening", sampler="exponential")
    assert law[:3].round(2).tolist() == [0.32, 0.32, 0.06]
    plain = selection_law(scores, profile=7.5, epsilon=2, mechanism="exponential")
    assert plain[:3].round(2).tolist() == [0.22, 0.22, 0.09]


def test_example_7_inverts_the_order():
    """Dampening may rank by steps, not by score: u = (3, 4) becomes D = (2, 1)."""
    profile = Profile.from_table([[1, 2, 4], [4, 4, 4]], bound=4)
    grid = dampened_scores(pose_question([3.0, 4.0], profile=profile, epsilon=1))
    assert [v / grid.sensitivity for v in grid.values] == [2, 1]


def test_a_flat_profile_makes_shifted_dampening_the_plain_mechanism():
    scores = random_scores(3, 6)
    flat = Profile.from_table([0.1, 0.5, 0.7], bound=1.0)
    shifted = selection_law(scores, profile=flat, epsilon=1, mechanism="shifted_dampening")
    plain = selection_law(scores, profile=1.0, epsilon=1, mechanism="permute_and_flip")
    np.testing.assert_allclose(shifted, plain, rtol=1e-12)


@pytest.mark.parametrize("noise", ["polynomial", "laplace"])
def test_smooth_noisy_max_law_equals_the_oracle(noise):
    scores = np.array([0.0, 1.0, 2.5, 2.5, -4.0])
    profile = Profile.from_table([0.2, 0.5], bound=1.0)
    delta = 1e-5
    law = selection_law(
        scores, profile=profile, epsilon=1.0, delta=delta, mechanism="smooth_noisy_max", noise=noise
    )
    recipe = {"polynomial": polynomial_recipe, "laplace": laplace_recipe}[noise](1.0, delta, len(scores))
    density = (
        densities.one_sided_polynomial(recipe.shape.nu) if noise == "polynomial" else densities.laplace()
    )
    smooth = max(0.2, 0.5 * np.exp(-recipe.beta), np.exp(-2 * recipe.beta))
    expected = selection_laws.smooth_noisy_max_law(
        scores.tolist(), smooth=smooth, alpha=recipe.alpha, noise=density
    )
    np.testing.assert_allclose(law, expected, rtol=1e-7)


def test_the_best_polynomial_exponents_are_those_of_the_analysis():
    for d, nu in ((2, 2.0), (10, 4.4), (100, 7.6), (1000, 10.9)):
        recipe = polynomial_recipe(1.0, 0.0, d)
        assert recipe.shape.nu == pytest.approx(nu, abs=0.06)
        assert recipe.beta == pytest.approx(0.5 / recipe.shape.nu, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("candidates", [2, 7, 1000])
def test_single_winner_follows_the_recursion(epsilon, candidates):
    p = np.exp(epsilon) / (np.exp(epsilon) + candidates - 1)
    for margin in range(40):
        losers, winner = log_losers_and_winner(Fraction(epsilon), candidates, margin)
        assert np.exp(losers) == pytest.approx(1 - p, rel=1e-9)
        assert np.exp(winner) == pytest.approx(p, rel=1e-9)
        p = 1 - max(np.exp(-epsilon) * (1 - p), 1 - np.exp(epsilon) * p)


def test_laws_neither_overflow_nor_vanish():
    scores = np.arange(1000.0)
    for mechanism in ("exponential", "permute_and_flip", "shifted_dampening"):
        log_law = selection_law(scores, profile=1.0, epsilon=1e4, mechanism=mechanism, log=True)
        assert np.isfinite(log_law).all()
        assert log_law[-1] == pytest.approx(0, abs=1e-12)
        assert log_law[0] < -4e6


@pytest.mark.slow
def test_laws_of_a_million_candidates_have_mass_one():
    scores = np.random.default_rng(0).normal(size=10**6)
    for mechanism in ("exponential", "permute_and_flip"):
        assert selection_law(scores, profile=1.0, epsilon=5, mechanism=mechanism).sum() == pytest.approx(
            1, abs=1e-9
        )


def test_permute_and_flip_is_never_worse_than_exponential_on_the_same_scores():
    for seed in range(20):
        scores = random_scores(seed, 8)
        for epsilon in (0.1, 1, 10):
            errors = [
                expected_error(scores, profile=1.0, epsilon=epsilon, mechanism=m)
                for m in ("permute_and_flip", "exponential")
            ]
            assert errors[0] <= errors[1] * (1 + 1e-9)


def test_error_quantile_is_the_law_s_quantile():
    scores = [0.0, 3.0, 5.0]
    law = selection_law(scores, profile=1.0, epsilon=0.7)
    assert error_quantile(scores, float(law[2]) - 1e-6, profile=1.0, epsilon=0.7) == 0
    assert error_quantile(scores, float(law[2]) + 1e-6, profile=1.0, epsilon=0.7) == 2
    assert error_quantile(scores, 1 - 1e-9, profile=1.0, epsilon=0.7) == 5


def test_compare_ranks_every_mechanism_and_says_why_some_do_not_apply():
    table = compare([0.0, 1.0, 4.0], profile=Profile.from_table([[0.1]] * 3, bound=2.0), epsilon=1)
    errors = [entry.expected_error for entry in table if entry.reason is None]
    assert errors == sorted(errors)
    assert {entry.mechanism for entry in table} >= {"exponential", "local_dampening", "smooth_noisy_max"}
    reasons = [entry for entry in table if entry.reason is not None]
    assert any("delta" in entry.reason for entry in reasons)
    assert "expected error" in str(table)
    assert table.to_dicts()[0]["expected_error"] == table.best.expected_error


def test_a_profile_without_a_bound_is_for_local_dampening_only():
    profile = Profile.from_table([1.0, 2.0], bound=np.inf)
    law = selection_law([1.0, 2.0, 50.0], profile=profile, epsilon=1, mechanism="local_dampening", step=0.01)
    assert law.sum() == pytest.approx(1)
    for mechanism in ("exponential", "shifted_dampening", "inverse_sensitivity", "smooth_noisy_max"):
        with pytest.raises(UnsupportedError, match="bound"):
            selection_law([1.0, 2.0], profile=profile, epsilon=1, mechanism=mechanism, step=0.01)
