"""Laws with names and laws with a stated error: what is compared with what, and how far it is trusted."""

import math

import numpy as np
import pandas as pd
import pytest

from sordino.audit import LogLaw, prove
from sordino.core.errors import ParameterError, ProofError


def other_bit(x):
    return [1 - x]


# ---- positions and names ----------------------------------------------------------------------------------------

# Releases its candidate with certainty: position 0 has mass 1 in both arrays, and they are different outcomes.
CERTAIN = [(["red", "blue"], [1.0, 0.0]), (["blue", "red"], [1.0, 0.0])]


@pytest.mark.parametrize(
    "named",
    [
        lambda outcomes, masses: (outcomes, masses),
        lambda outcomes, masses: (np.array(outcomes), np.array(masses)),
        lambda outcomes, masses: dict(zip(outcomes, masses, strict=True)),
        lambda outcomes, masses: pd.Series(masses, index=outcomes),
        lambda outcomes, masses: LogLaw(np.log(np.maximum(masses, 1e-300)), outcomes=outcomes),
    ],
    ids=["pair", "arrays", "mapping", "series", "LogLaw"],
)
def test_names_decide_and_not_positions(named):
    proof = prove(lambda x: named(*CERTAIN[x]), [0, 1], other_bit, 0.5)
    assert proof.worst_epsilon > 600
    same = prove(
        lambda x: named(*(part[:: 1 - 2 * x] for part in (["a", "b"], [0.75, 0.25]))), [0, 1], other_bit, 0
    )
    assert same.holds


def test_a_proof_says_what_its_outcomes_are():
    assert "told apart by type and bits" in str(prove(CERTAIN.__getitem__, [0, 1], other_bit, 0.5))
    unnamed = prove(lambda x: [0.5, 0.5], [0, 1], other_bit, 0.5)
    assert "the position itself is what is released" in str(unnamed)
    stated = prove(lambda x: [0.25 + x / 2, 0.75 - x / 2], [0, 1], other_bit, 0.5, outcomes=["red", "blue"])
    assert stated.witness.outcome in ("red", "blue")
    assert "position" not in str(stated)


def test_stated_outcomes_are_the_only_ones():
    assert prove(lambda x: {"a": 1.0}, [0, 1], other_bit, 0.0, outcomes=("a", "b")).holds
    for law, stated, message in (
        (lambda x: {"a": 1.0} if x else {"c": 1.0}, "ab", "'c'"),
        (lambda x: {1: 1.0}, [1.0], "not among those stated"),
        (lambda x: [1.0], "ab", "2 outcomes are stated"),
        (lambda x: [0.5, 0.5], "aa", "stated twice"),
        (lambda x: (["a"], [0.5, 0.5]), None, "names 1 outcomes for 2"),
        (lambda x: [0.5, 0.5] if x else [0.5, 0.25, 0.25], None, "name"),
        (lambda x: (["a"], [1.0]) if x else [1.0], None, "different kinds"),
        (lambda x: LogLaw([0.0], outcomes="a") if x else LogLaw([0.0]), None, "different kinds"),
    ):
        with pytest.raises(ProofError, match=message):
            prove(law, [0, 1], other_bit, 0.0, outcomes=stated)


# ---- stated errors ----------------------------------------------------------------------------------------------


def response(epsilon, error):
    truth = 1 / (1 + math.exp(-epsilon))
    return lambda x: LogLaw(np.log([truth, 1 - truth][:: 1 - 2 * x]), error=error)


@pytest.mark.parametrize("error", [1e-6, [1e-6, 1e-6]])
def test_the_error_of_both_laws_is_added_to_the_loss(error):
    proof = prove(response(1.0, error), [0, 1], other_bit, 1.0 + 2e-6)
    assert proof.worst_epsilon == pytest.approx(1 + 2e-6, abs=1e-12)
    assert proof.holds
    assert not prove(response(1.0, error), [0, 1], other_bit, 1.0).holds


def test_the_error_is_added_to_delta_at_the_worse_ends():
    truth, error, epsilon = 1 / (1 + math.exp(-1.0)), 0.01, 0.5
    expected = truth * math.exp(error) - math.exp(epsilon) * (1 - truth) * math.exp(-error)
    proof = prove(response(1.0, error), [0, 1], other_bit, epsilon, expected)
    assert proof.worst_delta == pytest.approx(expected, rel=1e-12)
    assert proof.holds
    assert not prove(response(1.0, error), [0, 1], other_bit, epsilon, expected - 1e-6).holds


def test_an_unknown_probability_may_be_anything():
    law = lambda x: LogLaw([math.log(0.999), math.log(0.001)], error=[0.0, math.inf])  # noqa: E731
    assert prove(law, [0, 1], other_bit, 50.0).worst_epsilon == math.inf
    impossible = lambda x: LogLaw([0.0, -math.inf], error=0.1)  # noqa: E731
    assert prove(impossible, [0, 1], other_bit, 0.2).worst_epsilon == pytest.approx(
        0.1
    )  # P <= 1 holds as well


def test_masses_need_to_meet_one_only_within_the_error():
    off = lambda x: LogLaw(np.log([0.5, 0.5 - 1e-4]), error=1e-3)  # noqa: E731
    assert prove(off, [0, 1], other_bit, 0.01).holds
    for shift in (-1e-2, 1e-2):
        with pytest.raises(ProofError, match="between"):
            prove(lambda x, s=shift: LogLaw(np.log([0.5, 0.5]) + s, error=1e-3), [0, 1], other_bit, 1.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"error": -1e-9}, "error"),
        ({"error": math.nan}, "error"),
        ({"error": [0.1, 0.1, 0.1]}, "error"),
        ({"outcomes": ["a"]}, "outcomes"),
    ],
)
def test_wrong_statements_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        LogLaw([0.0, -1.0], **wrong)


def test_a_law_shows_its_error_and_its_outcomes():
    assert repr(LogLaw([0.0], error=0.5, outcomes="a")) == "LogLaw([0.0], error=0.5, outcomes=['a'])"
