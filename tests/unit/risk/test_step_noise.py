"""Public noise of several numbers together, beside all moves and all outputs by their definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sordino.core import ParameterError
from sordino.risk import StepNoise, TradeOff

LOSSES = np.array([0.0, 0.1, 0.4, 0.9])


def law(noise, move, share=1.0):
    """The masses at -300 … 300 of a noise moved so far, from its density; its budget times ``share``."""
    k = np.arange(-300, 301) - move
    if noise.rho is None:
        weights = np.exp(-share * noise.epsilon / noise.steps * np.abs(k))
    else:
        weights = np.exp(-(k**2) * share * noise.rho / noise.steps**2)
    return weights / weights.sum()


def told(noises, moves, share=1.0):
    """δ at `LOSSES` for one move of all numbers, over all their outputs."""
    p = q = np.ones(1)
    for noise, move in zip(noises, moves, strict=True):
        p = np.multiply.outer(p, law(noise, 0, share)).reshape(-1)
        q = np.multiply.outer(q, law(noise, move, share)).reshape(-1)
    return np.array([np.maximum(p - np.exp(e) * q, 0).sum() for e in LOSSES])


@pytest.mark.parametrize(
    "noises",
    [
        [StepNoise(1, epsilon=1.0)],
        [StepNoise(3, epsilon=0.7)],
        [StepNoise(1, epsilon=0.5), StepNoise(4, epsilon=0.5)],
        [StepNoise(2, rho=0.3)],
        [StepNoise(1, rho=0.1), StepNoise(3, rho=0.2)],
        [StepNoise(2, epsilon=0.5), StepNoise(2, rho=0.2)],
    ],
)
def test_no_move_of_all_numbers_is_told_better(noises):
    found = TradeOff.of_steps(noises).delta(LOSSES)
    for moves in itertools.product(*(range(-noise.steps, noise.steps + 1) for noise in noises)):
        assert (told(noises, moves) <= found + 1e-12).all()
    largest = [noise.steps for noise in noises]
    assert told(noises, largest) == pytest.approx(found, abs=1e-9)
    # the control: noise for one percent less budget would not do
    assert (told(noises, largest, share=1.01) > found + 1e-6).any()


def test_outputs_that_are_taken_together_never_hide_anything():
    """Steps far beyond what is looked at one by one: Laplace and Gaussian noise not rounded are the limits."""
    epsilon = TradeOff.of_steps([StepNoise(10**9, epsilon=1.0)]).delta(LOSSES)
    exact = TradeOff.of_laplace(1.0).delta(LOSSES)
    assert (epsilon >= exact - 1e-12).all()
    assert epsilon == pytest.approx(exact, abs=1e-4)
    rho = TradeOff.of_steps([StepNoise(10**9, rho=0.5)]).delta(LOSSES)
    exact = TradeOff.of_gaussian(0.5).delta(LOSSES)
    assert (rho >= exact - 1e-12).all()
    assert rho == pytest.approx(exact, abs=1e-3)
    many = TradeOff.of_steps([StepNoise(10**6, rho=0.25)] * 2).delta(LOSSES)
    assert (many >= exact - 1e-12).all()
    assert many == pytest.approx(exact, abs=1e-3)
    four = TradeOff.of_steps([StepNoise(700, rho=0.125)] * 4).delta(LOSSES)
    assert (four >= exact - 1e-12).all()
    assert four == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize(
    ("steps", "budget"), [(0, {"epsilon": 1}), (1, {}), (1, {"epsilon": 1, "rho": 1}), (1, {"rho": 0})]
)
def test_what_is_no_noise_is_refused(steps, budget):
    with pytest.raises(ParameterError):
        StepNoise(steps, **budget)
    with pytest.raises(ParameterError, match="at least one"):
        TradeOff.of_steps([])
