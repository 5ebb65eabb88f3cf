"""attack on deterministic samples: the bound itself, the events it considers, and every refusal."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from sordino.audit import attack
from sordino.core.errors import ParameterError


def repeating(pattern_of):
    """A vectorised 'mechanism' that repeats a fixed pattern: counts are known without randomness."""
    return lambda x, size: np.resize(np.array(pattern_of[x], dtype=object), size)


MOSTLY = {"x": ["a", "a", "a", "b"], "y": ["a", "b", "b", "b"]}


def test_the_bound_is_clopper_pearson_on_the_fresh_half():
    found = attack(repeating(MOSTLY), "x", "y", runs=8000, confidence=0.99, vectorised=True)
    risk = 0.01 / 4
    low, high = beta.ppf(risk, 3000, 1001), beta.isf(risk, 1001, 3000)
    assert found.epsilon_lower_bound == pytest.approx(math.log(low / high), rel=1e-9)
    assert found.counts in ((3000, 1000), (1000, 3000))
    assert found.holds is None
    assert "no claim" in str(found)


def test_delta_is_subtracted_before_the_ratio():
    found = attack(repeating(MOSTLY), "x", "y", runs=8000, confidence=0.99, delta=0.25, vectorised=True)
    risk = 0.01 / 4
    low, high = beta.ppf(risk, 3000, 1001), beta.isf(risk, 1001, 3000)
    assert found.epsilon_lower_bound == pytest.approx(math.log((low - 0.25) / high), rel=1e-9)


def test_a_claim_is_refuted_or_survives():
    refuted = attack(repeating(MOSTLY), "x", "y", runs=8000, epsilon=0.5, vectorised=True)
    assert refuted.holds is False
    assert "REFUTED" in str(refuted)
    survived = attack(repeating(MOSTLY), "x", "y", runs=8000, epsilon=1.1, vectorised=True)
    assert survived.holds is True
    assert "not refuted" in str(survived)


def test_equal_samples_bound_nothing():
    found = attack(lambda x: "same", 0, 1, runs=100)
    assert found.epsilon_lower_bound == 0


def test_a_given_event_uses_every_run():
    found = attack(
        repeating(MOSTLY), "x", "y", runs=8000, event=lambda outcome: outcome == "a", vectorised=True
    )
    assert found.counts == (6000, 2000)
    assert found.favours == "x"
    assert found.event("a")
    assert not found.event("b")
    assert found.event.text == "as given"


def test_given_outcomes_are_the_labels():
    found = attack(repeating(MOSTLY), "x", "y", runs=8000, outcomes=["a"], vectorised=True)
    assert found.epsilon_lower_bound > 0.9
    none = attack(repeating(MOSTLY), "x", "y", runs=8000, outcomes=["c"], vectorised=True)
    assert none.epsilon_lower_bound == 0


def test_numbers_are_told_apart_by_intervals_and_by_their_last_bits():
    spread = np.linspace(0, 1, 997)
    apart = attack(lambda x, size: np.resize(spread + 5 * x, size), 0, 1, runs=4000, vectorised=True)
    assert apart.epsilon_lower_bound > 4
    coarse = lambda x, size: np.resize(np.round(spread * 2**40) / 2**40 if x else spread, size)  # noqa: E731
    bits = attack(coarse, 0, 1, runs=4000, vectorised=True)
    assert bits.epsilon_lower_bound > 4


def test_outcomes_that_are_not_finite_are_outcomes_too():
    found = attack(
        lambda x, size: np.full(size, math.nan if x else math.inf), 0, 1, runs=4000, vectorised=True
    )
    assert found.epsilon_lower_bound > 4


def test_no_more_is_reported_than_the_runs_support():
    certain = attack(lambda x: x, 0, 1, runs=1000)
    assert certain.epsilon_lower_bound < math.log(500)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"runs": 4}, "runs"),
        ({"runs": 10.5}, "runs"),
        ({"delta": 1.0}, "delta"),
        ({"confidence": 1.0}, "confidence"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"event": bool, "outcomes": [1]}, "not both"),
    ],
)
def test_parameters_outside_their_range_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        attack(lambda x: x, 0, 1, **({"runs": 100} | wrong))


class Faceless:
    __hash__ = None


def test_a_mechanism_that_gives_too_few_or_faceless_outcomes_is_refused():
    with pytest.raises(ParameterError, match="must give 100 outcomes, got 3"):
        attack(lambda x, size: [1, 2, 3], 0, 1, runs=100, vectorised=True)
    with pytest.raises(ParameterError, match="tuple"):
        attack(lambda x: Faceless(), 0, 1, runs=100)


def test_rare_outcomes_of_another_type_and_huge_integers_do_not_stop_the_attack():
    rare = np.array([0.5] * 999 + ["none"], dtype=object)
    assert (
        attack(lambda x, size: np.resize(rare, size), 0, 1, runs=4000, vectorised=True).epsilon_lower_bound
        == 0
    )
    huge = attack(lambda x: 10**400 + x, 0, 1, runs=1000)
    assert huge.epsilon_lower_bound > 3
