"""Curves: closed forms, two laws by their definition, and what follows from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import norm

import sordino as sd
from sordino.core import Loss, ParameterError, add_remove_row
from sordino.ledger import GaussianPart
from sordino.risk import TradeOff, compose_releases

RATES = np.array([0.0, 0.01, 0.1, 0.2, 0.3, 0.5, 0.7, 0.95, 1.0])


def laplace_misses(rate, epsilon):
    """Dong, Roth and Su 2022: the trade-off of two Laplace laws ε apart."""
    if rate < np.exp(-epsilon) / 2:
        return 1 - np.exp(epsilon) * rate
    return np.exp(-epsilon) / (4 * rate) if rate <= 0.5 else np.exp(-epsilon) * (1 - rate)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_laplace_noise_has_its_known_trade_off(epsilon):
    curve = TradeOff.of_laplace(epsilon)
    assert curve.misses(RATES) == pytest.approx([laplace_misses(rate, epsilon) for rate in RATES], abs=1e-12)
    assert curve.advantage == pytest.approx(1 - np.exp(-epsilon / 2))
    fine = TradeOff.of_discrete_laplace(epsilon, steps=1000)
    assert fine.misses(RATES) == pytest.approx(curve.misses(RATES), abs=1e-5)


def test_laplace_tells_less_than_its_epsilon_would_allow():
    assert TradeOff.of_laplace(1.0).advantage == pytest.approx(0.3935, abs=1e-4)
    assert TradeOff.of_loss(Loss(epsilon=1.0)).advantage == pytest.approx(0.4621, abs=1e-4)
    assert TradeOff.of_discrete_laplace(1.0).advantage == pytest.approx(np.tanh(0.5))  # one step: no better


@pytest.mark.parametrize("mu", [0.2, 1.0, 5.0])
def test_gaussian_noise_has_its_known_trade_off(mu):
    curve = TradeOff.of_gaussian(mu * mu / 2)
    assert curve.misses(RATES) == pytest.approx(norm.cdf(norm.ppf(1 - RATES) - mu), abs=1e-9)
    assert curve.advantage == pytest.approx(2 * norm.cdf(mu / 2) - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_a_choice_of_bounded_range_has_the_worst_of_all_two_outcomes(epsilon):
    """All pairs of laws on two outcomes whose losses are t and t - ε, by their definition."""
    t = np.linspace(0, epsilon, 20_001)[1:-1]
    p = (
        np.expm1(epsilon - t) / np.expm1(epsilon) * np.exp(t)
    )  # p + (1-p) = 1 and p·e^{-t} + (1-p)·e^{ε-t} = 1
    assert p * np.exp(-t) + (1 - p) * np.exp(epsilon - t) == pytest.approx(1)
    curve = TradeOff.of_loss(Loss(epsilon=epsilon, bounded_range=True))
    for e in np.linspace(0, epsilon, 7):
        told = np.maximum(p - np.exp(e) * p * np.exp(-t), 0) + np.maximum(
            1 - p - np.exp(e) * (1 - p) * np.exp(epsilon - t), 0
        )
        assert curve.delta(np.array([e]))[0] == pytest.approx(told.max(), abs=1e-8)
    assert curve.advantage == pytest.approx(np.tanh(epsilon / 4))
    assert curve.misses([0.3]) > TradeOff.of_loss(Loss(epsilon=epsilon)).misses([0.3])


@pytest.mark.parametrize("candidates", [2, 3, 4])
def test_the_exponential_mechanism_tells_no_more_than_its_range_allows(candidates):
    """Scores of 0 … 3 and all neighbours, whose scores differ by at most 1; one percent less would be too little."""
    scores = np.array(list(itertools.product(range(4), repeat=candidates)), dtype=float)
    moves = np.array(list(itertools.product((-1, 0, 1), repeat=candidates)), dtype=float)
    laws, moved = softmax(scores / 2, axis=1)[:, None], softmax((scores[:, None] + moves) / 2, axis=2)
    worst = float(np.abs(laws - moved).sum(axis=-1).max() / 2)
    loss = sd.select(
        [0.0, 1.0], profile=sd.Profile.constant(1), epsilon=1.0, mechanism="exponential"
    ).guarantee.loss
    assert loss.bounded_range
    assert worst <= TradeOff.of_loss(loss).advantage * (1 + 1e-12)
    assert worst > TradeOff.of_loss(Loss(epsilon=0.99, bounded_range=True)).advantage


@pytest.mark.parametrize("rho", [1e-4, 0.1, 0.5, 3.0])
def test_what_rho_alone_allows_bounds_the_noise_that_has_it(rho):
    allowed, gaussian = TradeOff.of_loss(Loss(rho=rho)), TradeOff.of_gaussian(rho)
    losses = np.linspace(0, 6 * np.sqrt(2 * rho) + rho, 50)
    assert (gaussian.delta(losses) <= allowed.delta(losses)).all()
    assert (allowed.delta(losses) < np.maximum(4 * gaussian.delta(losses), 1e-6) + 0.3 * np.sqrt(rho)).all()
    assert (allowed.misses(RATES) <= gaussian.misses(RATES)).all()
    # randomized response of ε = √(2ρ) has ρ too
    response = TradeOff.of_loss(Loss(epsilon=float(np.sqrt(2 * rho))))
    assert (response.delta(losses) <= allowed.delta(losses)).all()


def test_a_loss_has_the_trade_off_of_its_definition():
    found = TradeOff.of_loss(Loss(epsilon=0.7, delta=0.05)).misses(RATES)
    expected = np.maximum(0, np.maximum(0.95 - np.exp(0.7) * RATES, np.exp(-0.7) * (0.95 - RATES)))
    assert found == pytest.approx(expected, abs=1e-12)


def test_two_laws_are_told_apart_as_all_their_tests_say():
    """All events of five outcomes, and mixtures of two of them."""
    rng = np.random.default_rng(3)
    p, q = (weights / weights.sum() for weights in rng.random((2, 5)))
    q[0], q[1] = 0.0, q[0] + q[1]
    events = [list(event) for size in range(6) for event in itertools.combinations(range(5), size)]
    tests = [(a[e].sum(), 1 - b[e].sum()) for e in events for a, b in ((q, p), (p, q))]
    with np.errstate(divide="ignore"):
        curve = TradeOff.of_laws(np.log(p), np.log(q))
    rates = np.linspace(0, 1, 21)
    for rate, found in zip(rates, curve.misses(rates), strict=True):
        least = min(
            (1 - t) * m1 + t * m2
            for (a1, m1), (a2, m2) in itertools.combinations_with_replacement(tests, 2)
            for t in [0.0, 1.0, *([(rate - a1) / (a2 - a1)] if a1 != a2 else [])]
            if 0 <= t <= 1 and (1 - t) * a1 + t * a2 <= rate + 1e-12
        )
        assert found == pytest.approx(least, abs=1e-12)
    assert curve.advantage == pytest.approx(np.abs(p - q).sum() / 2)
    risk = min(0.3 * (1 - p[e].sum()) + 0.7 * q[e].sum() for e in events)
    other = min(0.3 * (1 - q[e].sum()) + 0.7 * p[e].sum() for e in events)
    assert curve.bayes_risk(0.3) == pytest.approx(min(risk, other))


def test_mass_that_a_law_lacks_counts_against_privacy():
    half = np.log([0.25, 0.25])
    assert TradeOff.of_laws(half, half).advantage == pytest.approx(0.5)


def test_a_reconstruction_is_a_test_whose_false_alarms_are_the_baseline():
    assert TradeOff.of_loss(Loss(epsilon=1.0)).reconstruction_bound(0.01) == pytest.approx(0.01 * np.e)
    assert TradeOff.of_gaussian(0.5).reconstruction_bound(0.01) == pytest.approx(
        1 - norm.cdf(norm.ppf(0.99) - 1), abs=1e-9
    )


@pytest.mark.slow
def test_several_releases_compose_as_gaussian_noise_does():
    parts = [GaussianPart(add_remove_row(), standard_deviation=4.0)] * 9
    some = RATES[[2, 5]]
    found = compose_releases(parts).misses(some)
    exact = TradeOff.of_gaussian(9 / (2 * 16)).misses(some)
    assert (found <= exact + 1e-9).all()  # pessimistic
    assert found == pytest.approx(exact, abs=1e-3)


def test_what_is_no_curve_is_refused():
    with pytest.raises(ParameterError, match="one length"):
        TradeOff.of_laws([0.0], [0.0, -1.0])
    with pytest.raises(ParameterError, match="sum is at most 1"):
        TradeOff.of_laws([0.0, 0.0], [-1.0, -1.0])
    with pytest.raises(ParameterError, match="false_alarms"):
        TradeOff.of_laplace(1.0).misses([1.5])
    with pytest.raises(ParameterError, match="prior"):
        TradeOff.of_laplace(1.0).bayes_risk(1.0)
