"""What a clumsy caller gives, and the sentence that comes back: before any randomness is used."""

from __future__ import annotations

import numpy as np
import pytest

import sordino as sd
from sordino.sampling import source

BAD = [
    ({"epsilon": 0}, sd.ParameterError, "epsilon must be > 0, got 0"),
    ({"epsilon": -0.5}, sd.ParameterError, "epsilon must be > 0, got -0.5"),
    ({"epsilon": float("nan")}, sd.ParameterError, "epsilon must be finite, got nan"),
    ({"epsilon": float("inf")}, sd.ParameterError, "epsilon must be finite, got inf"),
    ({"epsilon": "1"}, sd.ParameterError, r"epsilon must be a number .*, got '1'"),
    ({"epsilon": True}, sd.ParameterError, "epsilon must be a number .*, got True"),
    ({"delta": 1.0}, sd.ParameterError, r"delta must be in \[0, 1\), got 1.0"),
    ({"delta": -1e-9}, sd.ParameterError, "delta must be in"),
    ({"scores": []}, sd.ParameterError, "at least one candidate"),
    ({"scores": [[1, 2]]}, sd.ParameterError, "one-dimensional"),
    ({"scores": ["a", "b"]}, sd.ParameterError, "scores must be numbers"),
    ({"scores": [1.0, np.nan]}, sd.PrivateDataError, "finite"),
    ({"profile": 0}, sd.ParameterError, "bound must be > 0, got 0"),
    ({"profile": float("nan")}, sd.ParameterError, "bound must be finite"),
    ({"mechanism": "exponental"}, sd.ParameterError, "did you mean 'exponential'"),
    ({"sampler": "gumbel"}, sd.ParameterError, "sampler must be one of permute_and_flip, exponential"),
    ({"direction": "up"}, sd.ParameterError, "direction must be one of plus, minus"),
    ({"mechanism": "exponential", "sampler": "permute_and_flip"}, sd.ParameterError, "sampler of its own"),
    ({"mechanism": "exponential", "noise": "laplace"}, sd.ParameterError, "noise= belongs to"),
    ({"mechanism": "local_dampening", "monotone": True}, sd.ParameterError, "does not apply"),
    ({"mechanism": "exponential", "changes": [0, 1, 2]}, sd.ParameterError, "changes= belongs to"),
    ({"mechanism": "inverse_sensitivity", "changes": [0, 1]}, sd.ParameterError, "3 whole numbers"),
    ({"mechanism": "smooth_noisy_max", "noise": "cauchy"}, sd.ParameterError, "noise must be one of"),
    ({"mechanism": "smooth_noisy_max", "noise": "laplace"}, sd.ParameterError, "delta in"),
    ({"mechanism": "smooth_noisy_max", "noise": "winner"}, sd.PrivateDataError, "exactly one candidate"),
    (
        {"monotone": True, "mechanism": "exponential", "distance": sd.replace_row()},
        sd.ParameterError,
        "replaced row",
    ),
    ({"scores": [0, 1e30, 2]}, sd.PrivateDataError, "more than 2\\^30 times the bound"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD)
def test_bad_input_is_refused_before_randomness_is_used(change, error, message, monkeypatch):
    def no_randomness(count):
        raise AssertionError("randomness was used")

    monkeypatch.setattr(source, "random_bytes", no_randomness)
    given = {"scores": [0.0, 1.0, 2.0], "profile": 1.0, "epsilon": 1.0} | change
    scores = given.pop("scores")
    with pytest.raises(error, match=message):
        sd.select(scores, **given)


def test_steps_that_the_grid_cannot_hold_are_refused():
    with pytest.raises(sd.ParameterError, match="2\\^-31 of the bound"):
        sd.select([1.0, 2.0], profile=1.0, epsilon=1, step=1e-12)
    unbounded = sd.Profile.from_table([1e9], bound=np.inf)
    with pytest.raises(sd.PrivateDataError, match="larger step"):
        sd.select([1.0, 2.0], profile=unbounded, epsilon=1, step=1e-9, mechanism="local_dampening")


def test_a_profile_of_another_length_is_refused():
    profile = sd.Profile.from_table([[1.0]] * 4, bound=2)
    with pytest.raises(sd.ParameterError, match="4 candidates and there are 3 scores"):
        sd.select([1, 2, 3], profile=profile, epsilon=1)


@pytest.mark.parametrize(
    ("k", "message"), [(0, "k must be >= 1"), (4, "at most the number of candidates"), (1.5, "whole")]
)
def test_top_k_wants_a_count_of_candidates(k, message):
    with pytest.raises(sd.ParameterError, match=message):
        sd.top_k([1, 2, 3], k, profile=1, epsilon=1)


def test_messages_about_private_data_show_no_values():
    with pytest.raises(sd.PrivateDataError) as caught:
        sd.select([0, 123456.789e20, 2], profile=1, epsilon=1)
    assert "123" not in str(caught.value)
