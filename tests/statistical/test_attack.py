"""The attacker against mechanisms of known ε: never above the truth, near it, and not blind.

Each attack may exceed the truth with probability at most 1e-6; with fewer than 100 attacks below, a false alarm
of this file is less likely than 1e-4. The power statements fail less often still: every threshold lies at least six
standard deviations of the estimate below what is expected.
"""

import math

import numpy as np
import pytest

from sordino.audit import attack
from sordino.sampling.source import random_words

RUNS = 40_000


def uniform(size):
    return (random_words(size, np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def randomised_response(epsilon):
    truth = 1 / (1 + math.exp(-epsilon))
    return lambda x, size: np.where(uniform(size) < truth, x, 1 - x)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 2.0, 3.0])
def test_randomised_response_is_bounded_closely_and_never_above_the_truth(epsilon):
    for _ in range(10):
        found = attack(randomised_response(epsilon), 0, 1, runs=RUNS, epsilon=epsilon, vectorised=True)
        assert found.holds
        assert 0.4 * epsilon <= found.epsilon_lower_bound <= epsilon


def test_the_bound_is_wrong_no_more_often_than_stated():
    # 200 attacks on 1 000 runs at confidence 0.9: more than 45 wrong bounds have probability below 1e-6 even
    # if every one were wrong with the full 0.1 (binomial tail); the conservative bound is wrong less often.
    wrong = sum(
        attack(randomised_response(1.0), 0, 1, runs=1000, confidence=0.9, epsilon=1.0, vectorised=True).holds
        is False
        for _ in range(200)
    )
    assert wrong <= 45


def test_the_control_that_claims_too_little_is_caught():
    found = attack(randomised_response(1.0), 0, 1, runs=RUNS, epsilon=0.7, vectorised=True)
    assert found.holds is False


def test_one_run_at_a_time_gives_the_same_kind_of_answer():
    one = randomised_response(2.0)
    found = attack(lambda x: int(one(x, 1)[0]), 0, 1, runs=4000, epsilon=2.0)
    assert found.holds
    assert found.epsilon_lower_bound > 1.0


def magnitude(size):
    return np.floor(-np.log(uniform(size) + 2.0**-54) * 16) / 16


def laplace(x, size):
    return x + magnitude(size) - magnitude(size)


def doubled_zero(x, size):
    """A random sign on a magnitude that may be 0: both signs of 0 fall together, so 0 comes twice too often."""
    return x + np.where(uniform(size) < 0.5, 1, -1) * magnitude(size)


def test_numbers_are_attacked_by_intervals():
    found = attack(laplace, 0, 1, runs=RUNS, epsilon=1.0, vectorised=True)
    assert found.holds
    assert found.epsilon_lower_bound > 0.6


def test_a_doubled_zero_is_found():
    found = attack(doubled_zero, 0, 1, runs=5 * RUNS, epsilon=1.0, vectorised=True)
    assert found.holds is False


def test_a_catastrophe_of_probability_delta_is_priced_by_delta():
    def leaky(x, size):
        return np.where(uniform(size) < 0.01, 10 + x, randomised_response(1.0)(x, size))

    pure = attack(leaky, 0, 1, runs=RUNS, vectorised=True)
    assert pure.epsilon_lower_bound > 1.0
    forgiven = attack(leaky, 0, 1, runs=RUNS, epsilon=1.0, delta=0.01, vectorised=True)
    assert forgiven.holds
