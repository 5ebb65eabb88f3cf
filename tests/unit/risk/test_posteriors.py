"""What a realistic attacker believes after a noisy count: closed forms beside quadrature and limits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from sordino.core import ParameterError
from sordino.risk import (
    CountNoise,
    GridPosterior,
    HistogramModel,
    bound_belief,
    cap_by_others,
    guessing_precision,
    posterior_expected,
    posterior_given_count,
    posterior_given_output,
    posterior_given_outputs,
)
from tests.oracles import posteriors as oracle

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "risk.json").read_text())
MODEL = HistogramModel.of(10, belief=binom(10, 0.3).pmf(range(11)))


def smooth_laplace(epsilon):
    return CountNoise(lambda x: np.log(epsilon / 2) - epsilon * np.abs(x), int(40 / epsilon) + 1, False)


@pytest.mark.parametrize("row", GOLDEN["binomial_10_0.3"])
def test_posteriors_are_those_of_the_table(row):
    epsilon, *expected = row
    found = [
        *posterior_given_output(MODEL, [5, -2], epsilon),
        *posterior_given_count(MODEL, epsilon)[[0, 3, 7, 10]],
        posterior_expected(MODEL, epsilon),
    ]
    assert found == pytest.approx(expected, abs=6e-10)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.0])
def test_closed_form_equals_quadrature_for_beliefs_with_gaps(epsilon):
    rng = np.random.default_rng(5)
    belief = rng.random(9) * (rng.random(9) < 0.6)
    belief[[0, 1]] = 0  # counts that the attacker rules out, at the end and between others
    belief[6] = 0.2
    reality, membership = rng.random(9), rng.random(9)
    model = HistogramModel.of(
        8, belief=belief / belief.sum(), reality=reality / reality.sum(), membership=membership
    )
    y = [-3.2, 0.0, 1.5, 2.0, 5.25, 8.0, 11.0]
    assert posterior_given_output(model, y, epsilon) == pytest.approx(
        [oracle.given_output(model.belief, membership, one, epsilon) for one in y], abs=1e-12
    )
    assert posterior_given_count(model, epsilon) == pytest.approx(
        [oracle.given_count(model.belief, membership, c, epsilon) for c in range(9)], abs=1e-11
    )
    assert posterior_expected(model, epsilon) == pytest.approx(
        oracle.expected(model.belief, model.reality, membership, epsilon), abs=1e-11
    )


def test_the_grid_agrees_with_the_closed_form_on_laplace_noise():
    grid = GridPosterior(MODEL, smooth_laplace(1.0))
    assert grid.given_count() == pytest.approx(posterior_given_count(MODEL, 1.0), abs=1e-9)
    assert grid.given_output([5.5, -2.0]) == pytest.approx(
        posterior_given_output(MODEL, [5.5, -2.0], 1.0), abs=1e-12
    )


def test_several_outputs_of_one_count_multiply_their_likelihoods():
    together = posterior_given_outputs(MODEL, [5, 6], 1.0)
    assert together == pytest.approx(GOLDEN["twice_5_and_6_at_1"], abs=1e-9)
    grid = GridPosterior(MODEL, smooth_laplace(1.0)).given_outputs_together([5, 6])
    assert grid == pytest.approx(together)
    one = posterior_given_outputs(MODEL, [5], noise=CountNoise.gaussian(2.0))
    assert one == pytest.approx(posterior_given_output(MODEL, [5], noise=CountNoise.gaussian(2.0))[0])
    with pytest.raises(ParameterError, match="at least one"):
        posterior_given_outputs(MODEL, [], 1.0)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_discrete_laplace_noise_is_summed_as_by_its_definition(epsilon):
    """All outputs far beyond the counts, one by one, for a belief with gaps."""
    rng = np.random.default_rng(7)
    belief, membership = rng.random(9) * (rng.random(9) < 0.7), rng.random(9)
    belief[0], belief[4] = 0, 0.3
    model = HistogramModel.of(8, belief=belief / belief.sum(), membership=membership)
    y = np.arange(-int(40 / epsilon), int(40 / epsilon) + 9)
    density = np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(y[:, None] - np.arange(9)))
    believed = (density * model.belief) @ membership / (density @ model.belief)
    noise = CountNoise.discrete_laplace(epsilon)
    assert posterior_given_count(model, noise=noise) == pytest.approx(believed @ density, abs=1e-11)
    assert posterior_given_output(model, y[::7], noise=noise) == pytest.approx(believed[::7], abs=1e-12)
    assert GridPosterior(model, noise).given_count() == pytest.approx(believed @ density, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0, 15.0])
def test_no_realistic_belief_exceeds_the_worst_case(epsilon):
    most = bound_belief(MODEL.prior, epsilon)
    for noise in (CountNoise.laplace(epsilon), CountNoise.discrete_laplace(epsilon)):
        assert posterior_given_output(MODEL, np.arange(-9, 20), noise=noise).max() <= most
        assert posterior_given_count(MODEL, noise=noise).max() <= most


def test_noise_of_a_private_count_is_weighed_for_many_people():
    people = 100_000
    model = HistogramModel.of(people, belief=binom(people, 0.3).pmf(range(people + 1)))
    found = posterior_expected(model, noise=CountNoise.discrete_laplace(1.0))
    assert model.prior <= found <= model.prior + (1 - model.prior) / people + 1e-12


def test_a_wrong_belief_is_not_reality():
    model = HistogramModel.of(10, belief=binom(10, 0.5).pmf(range(11)), reality=binom(10, 0.3).pmf(range(11)))
    assert posterior_expected(model, 1.0) == pytest.approx(GOLDEN["belief_half_reality_0.3_at_1"], abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0, 30.0])
@pytest.mark.parametrize(
    "noise", [None, CountNoise.discrete_laplace, lambda epsilon: CountNoise.gaussian(1 / epsilon)]
)
def test_beliefs_average_to_the_prior_and_rise_where_the_guess_is_right(epsilon, noise):
    given = {"epsilon": epsilon} if noise is None else {"noise": noise(epsilon)}
    counts = posterior_given_count(MODEL, **given)
    assert counts @ MODEL.reality == pytest.approx(MODEL.prior, abs=1e-9)
    assert posterior_expected(MODEL, **given) >= MODEL.prior - 1e-12
    if noise is not CountNoise.gaussian and epsilon < 20 and "noise" not in given:
        most = 1 / (1 + np.exp(-epsilon) * (1 - MODEL.prior) / MODEL.prior)
        assert posterior_given_output(MODEL, np.linspace(-5, 15, 81), epsilon).max() <= most + 1e-12


def test_without_privacy_the_count_is_known_and_with_all_of_it_nothing_is():
    assert posterior_given_count(MODEL, 300.0) == pytest.approx(np.arange(11) / 10, abs=1e-9)
    assert posterior_given_count(MODEL, 1e-7) == pytest.approx(np.full(11, 0.3), abs=1e-5)
    assert posterior_expected(MODEL, 300.0) == pytest.approx(0.3 + 0.7 / 10, abs=1e-9)


def test_precision_counts_the_guesses_that_are_made():
    assert guessing_precision([0.9, 0.95, 0.5, 0.99], [True, False, True, True]) == (2 / 3, 3)
    assert guessing_precision([0.5], [True]) == (None, 0)
    with pytest.raises(ParameterError, match="one True or False"):
        guessing_precision([0.5], [1])


def test_other_releases_multiply_a_belief_by_no_more_than_their_ratio():
    assert cap_by_others(0.2, epsilon=0.5, diameter=1, releases=3) == pytest.approx(0.2 * np.e)
    assert cap_by_others(0.5, epsilon=5, diameter=1, releases=3) == 1.0
    assert cap_by_others(0.5, epsilon=5, diameter=1, releases=1) == 0.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"belief": [0.5, 0.6]}, "sum to 1"),
        ({"belief": [0.5, 0.5, 0.0]}, "counts 0 to 1"),
        ({"belief": [1.5, -0.5]}, "sum to 1"),
        ({"belief": [1.0, 0.0]}, "certain"),
        ({"belief": [0.5, 0.5], "membership": [0.0, 2.0]}, "outside"),
        ({"belief": [0.5, float("nan")]}, "finite"),
    ],
)
def test_models_that_are_none_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        HistogramModel.of(1, **wrong)


def test_epsilon_or_noise_is_needed():
    with pytest.raises(ParameterError, match="exactly one"):
        posterior_given_count(MODEL)
    with pytest.raises(ParameterError, match="at most 500"):
        posterior_given_count(MODEL, 501.0)
