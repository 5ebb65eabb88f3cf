"""Noise with a constant bound, and noise by levels, on every pair of a small universe."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.mechanisms.noise import (
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Levels,
    RoundedLaw,
    calibrate_levels,
    levels_law,
    noise_law,
)

VALUES = [Fraction(k, 3) for k in range(-9, 10)]


def near(values, sensitivity):
    return lambda x: [y for y in values if y != x and abs(x - y) <= sensitivity]


@pytest.mark.parametrize(
    ("noise", "delta"), [("laplace", 0.0), ("student_t", 0.0), ("cauchy", 0.0), ("gaussian", 1e-4)]
)
@pytest.mark.parametrize("epsilon", [0.4, 1.0])
def test_continuous_noise_keeps_its_claim_and_eight_percent_less_noise_does_not(noise, delta, epsilon):
    def law(x, factor=Fraction(1)):
        plain = noise_law(x, 1, epsilon=epsilon, delta=delta, noise=noise, step=Fraction(1, 12))
        return RoundedLaw(plain.shape, plain.centre, plain.scale / factor, plain.step)

    proof = prove(law, VALUES, near(VALUES, 1), epsilon, delta)
    assert proof.holds
    spent = proof.worst_delta / delta if delta else proof.worst_epsilon / epsilon
    assert 0.95 < spent <= 1 + 1e-9
    assert not prove(lambda x: law(x, Fraction(108, 100)), VALUES, near(VALUES, 1), epsilon, delta).holds


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_discrete_laplace_keeps_epsilon_exactly(sensitivity, epsilon):
    values = list(range(-4, 5))
    noise = DiscreteLaplaceNoise()

    def law(x, factor=Fraction(1)):
        return noise.law(x, noise.width(Fraction(sensitivity), epsilon, 0.0) / factor, Fraction(1))

    proof = prove(law, values, near(values, sensitivity), epsilon)
    assert proof.holds
    assert proof.slack == pytest.approx(0, abs=1e-9)
    assert not prove(lambda x: law(x, Fraction(1001, 1000)), values, near(values, sensitivity), epsilon).holds
    assert (
        noise_law(3, sensitivity, epsilon=epsilon, noise="discrete_laplace", step=1).log_masses(0, 3)[-1]
        == (law(3).log_masses(3, 3)[0])
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"), [(1.0, 1e-5, 1), (0.5, 1e-3, 2), (4.0, 1e-2, 1)]
)
def test_discrete_gaussian_keeps_delta_and_uses_it_up(epsilon, delta, sensitivity):
    values = list(range(-4, 5))
    noise = DiscreteGaussianNoise()
    width = noise.width(Fraction(sensitivity), epsilon, delta)
    proof = prove(
        lambda x: noise.law(x, width, Fraction(1)), values, near(values, sensitivity), epsilon, delta
    )
    assert proof.holds
    assert proof.worst_delta > 0.99 * delta
    smaller = width * Fraction(9, 10)
    assert not prove(
        lambda x: noise.law(x, smaller, Fraction(1)), values, near(values, sensitivity), epsilon, delta
    ).holds


def level_universe(levels):
    """All (value, level) over a grid that contains the largest moves that the bounds allow."""
    values = sorted({0.0} | set(levels.bounds) | {-b for b in levels.bounds})
    databases = list(itertools.product(values, range(len(levels.bounds))))

    def neighbours(x):
        return [
            y
            for y in databases
            if y != x
            and (x[1] == y[1] or y[1] in levels.neighbours[x[1]])
            and abs(x[0] - y[0]) <= min(levels.bounds[x[1]], levels.bounds[y[1]])
        ]

    return databases, neighbours


LEVELS = [
    Levels.chain([1.0, 1.15, 1.3, 1.6, 2.0]),
    Levels.graph([1.0, 1.2, 1.5, 2.0], [(3, 2), (2, 1), (1, 0), (3, 0)]),
    Levels.graph([2.0, 1.0, 1.0, 1.9], [(0, 1), (1, 2)]),
]


@pytest.mark.parametrize("levels", LEVELS, ids=["chain", "ring", "two parts"])
@pytest.mark.parametrize("method", ["theorem14", "tight"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (0.5, 0.2), (0.3, 1e-3)])
def test_noise_by_levels_keeps_its_claim(levels, method, epsilon, delta):
    noise = calibrate_levels(levels, epsilon=epsilon, delta=delta, method=method, fallback=False)
    databases, neighbours = level_universe(levels)
    step = Fraction(1, 2)

    def law(x, factor=Fraction(1)):
        plain = levels_law(x[0], x[1], levels, epsilon=epsilon, delta=delta, step=step, method=method)
        return RoundedLaw(plain.shape, plain.centre, noise.scales[x[1]] / factor, step)

    def holds(factor):
        return prove(lambda x: law(x, Fraction(factor)), databases, neighbours, epsilon, delta).holds

    assert holds(1.0)
    assert not holds(16.0)  # a large δ hides much: the shift alone is pure, whatever δ is
    if delta == 1e-3 and levels is LEVELS[0]:
        low, high = 1.0, 16.0
        for _ in range(10):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if holds(middle) else (low, middle)
        assert low < (2.6 if method == "theorem14" else 1.4)
        assert not holds(low * 1.01)


def test_levels_without_smoothing_are_refused():
    """The scale of each level's own bound, 2·LS_k/ε, without the limit on the ratio."""
    levels = Levels.chain([1.0, 8.0])
    databases, neighbours = level_universe(levels)

    def law(x):
        plain = levels_law(x[0], x[1], levels, epsilon=0.5, delta=1e-6, step=1)
        return RoundedLaw(plain.shape, plain.centre, Fraction(4 * levels.bounds[x[1]]), plain.step)

    assert not prove(law, databases, neighbours, 0.5, 1e-6).holds


def test_the_window_of_a_light_tail_holds_almost_everything():
    law = noise_law(0, 1, epsilon=0.5, delta=1e-6, noise="gaussian", step=1)
    first, last = law.window()
    assert law.tail_mass(first, last) < 1e-14
    assert math.isclose(float(np.exp(law.log_masses(first, last)).sum()), 1.0, abs_tol=1e-12)
