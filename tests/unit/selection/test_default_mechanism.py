"""Which mechanism answers when none is named: chosen by public parameters alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.registry import best_mechanism

SCORES = [5.0, 3.0, 1.0]
TABLE = sd.Profile.from_table([[1, 2], [1, 3], [2, 4]], bound=9)
SHARED = sd.Profile.from_table([1, 2], bound=9)
FUNCTION = sd.Profile.from_function(lambda t: np.minimum(1.0 + t, 9.0), bound=9)


def chosen(profile, scores=SCORES, several=False, **options):
    return best_mechanism(pose_question(scores, profile=profile, epsilon=1, **options), several=several)


def test_a_global_sensitivity_is_served_by_what_is_never_worse():
    assert chosen(1.0) == chosen(sd.Profile.constant(3)) == chosen(1.0, several=True) == "permute_and_flip"


def test_a_profile_of_this_database_is_served_by_counting_changes():
    assert (
        chosen(TABLE) == chosen(SHARED) == chosen(FUNCTION) == "inverse_sensitivity"
    )  # of one row, the last two
    assert chosen(SHARED, scores=np.arange(5000.0)) == "inverse_sensitivity"


def test_many_candidates_and_several_winners_are_served_by_what_is_affordable():
    many = np.arange(2000.0)
    own = sd.Profile.from_table(np.ones((2000, 2)), bound=9)
    grown = sd.Profile.from_function(lambda t: np.ones((2000, len(t))), bound=9)
    assert chosen(own, scores=many) == chosen(TABLE, several=True) == "shifted_dampening"
    assert chosen(grown, scores=many) == "shifted_dampening"


def test_a_function_that_goes_on_is_served_by_its_sum():
    own = sd.Profile.from_function(lambda t: np.minimum(np.outer([1.0, 2, 3], 1 + t), 9), bound=9)
    assert chosen(own) == "shifted_dampening"


def test_a_record_is_chosen_by_counting_changes_where_there_are_not_many():
    asked = {"bounds": (0, 10), "epsilon": 1}
    assert sd.select_record_at_percentile(np.arange(9), 50, **asked).mechanism == "inverse_sensitivity"
    many = np.arange(2000) % 10
    assert sd.select_record_at_percentile(many, 50, **asked).mechanism == "local_dampening"


def test_without_a_bound_only_local_dampening_serves():
    unbounded = sd.Profile.from_table([[1, 2], [1, 3], [2, 4]], bound=math.inf)
    assert chosen(unbounded, step=0.5) == "local_dampening"


def test_options_choose_among_the_mechanisms_that_take_them():
    assert chosen(1.0, sampler="exponential") == "exponential"
    assert chosen(1.0, noise="gumbel") == "report_noisy_max"
    assert chosen(TABLE, noise="polynomial") == "smooth_noisy_max"
    assert chosen(TABLE, sampler="exponential") == "inverse_sensitivity"
    assert chosen(1.0, changes=np.array([0, 1, 2])) == "inverse_sensitivity"
    with pytest.raises(sd.ParameterError, match="leave one of them out"):
        chosen(1.0, noise="polynomial", sampler="exponential")


def test_that_scores_are_monotone_may_be_said_to_a_default_that_cannot_use_it():
    assert sd.select(SCORES, profile=TABLE, epsilon=1, monotone=True).mechanism == "inverse_sensitivity"
    with pytest.raises(sd.ParameterError, match="monotone=True does not apply"):
        sd.select(SCORES, profile=TABLE, epsilon=1, monotone=True, mechanism="inverse_sensitivity")


def test_the_choice_is_the_same_for_every_database_of_a_kind():
    """An empty table looks like a constant, but how long a table is may follow the data."""
    kinds = set()
    for seed in range(20):
        random = np.random.default_rng(seed)
        table = np.sort(random.uniform(0, 9, (3, seed % 4)), axis=1)
        kinds.add(chosen(sd.Profile.from_table(table, bound=9), scores=random.normal(size=3)))
    assert kinds == {"inverse_sensitivity"}


def test_law_and_errors_speak_of_the_default_too():
    named = {"profile": TABLE, "epsilon": 1.0, "mechanism": "inverse_sensitivity"}
    plain = {"profile": TABLE, "epsilon": 1.0}
    np.testing.assert_array_equal(sd.selection_law(SCORES, **plain), sd.selection_law(SCORES, **named))
    assert sd.expected_error(SCORES, **plain) == sd.expected_error(SCORES, **named)
