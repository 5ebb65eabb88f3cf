"""A bound for one kind of change is no bound for another: ``distance=`` cannot relabel it."""

from __future__ import annotations

import numpy as np
import pytest

import sordino as sd
from sordino.core import Distance

REPLACE, ADD_REMOVE = sd.replace_row(), sd.add_remove_row()
SELECTION = {"profile": sd.Profile.from_table([1.0, 2.0], bound=3.0, distance=REPLACE), "epsilon": 1.0}
ONE_ROW = sd.Profile.from_table([1.0, 2.0], bound=3.0, distance=REPLACE)
VALUES = {"values": [0, 1, 2, 3], "bounds": (0, 4), "epsilon": 1.0}

CALLS = {
    "select": lambda **d: sd.select([1.0, 2.0], **SELECTION, **d),
    "selection_law": lambda **d: sd.selection_law([1.0, 2.0], **SELECTION, **d),
    "expected_error": lambda **d: sd.expected_error([1.0, 2.0], **SELECTION, **d),
    "compare": lambda **d: sd.compare([1.0, 2.0], **SELECTION, **d),
    "top_k": lambda **d: sd.top_k([1.0, 2.0], 1, **SELECTION, **d),
    "add_noise": lambda **d: sd.add_noise(5, ONE_ROW, epsilon=1.0, step=1, **d),
    "add_noise, smooth bound": lambda **d: sd.add_noise(5, ONE_ROW.smooth_bound(), epsilon=1.0, step=1, **d),
    "noise_law": lambda **d: sd.noise_law(5, ONE_ROW, epsilon=1.0, step=1, **d),
    "ladder": lambda **d: sd.add_ladder_noise(5, ONE_ROW, epsilon=1.0, **d),
    "smooth bound": lambda **d: ONE_ROW.smooth_bound(**d),
    "percentile": lambda **d: sd.select_record_at_percentile(p=50, **VALUES, **d),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("other", [ADD_REMOVE, sd.flip_edge(), Distance("user", "replace")], ids=str)
def test_another_distance_than_the_bound_s_own_is_refused(name, other):
    with pytest.raises(sd.ParameterError, match="got distance"):
        CALLS[name](distance=other)


@pytest.mark.parametrize("name", CALLS)
def test_the_bound_s_own_distance_may_be_repeated(name):
    answer = CALLS[name](distance=REPLACE)
    if hasattr(answer, "guarantee"):
        assert answer.guarantee.distance == CALLS[name]().guarantee.distance == REPLACE


def test_a_bound_without_a_distance_takes_the_given_one():
    for given in (ADD_REMOVE, REPLACE):
        bare = sd.Profile.from_table([1.0], bound=2.0)
        assert sd.select([1.0, 2.0], profile=bare, epsilon=1, distance=given).guarantee.distance == given
        assert sd.add_noise(5, bare, epsilon=1, step=1, distance=given).guarantee.distance == given
        assert sd.add_ladder_noise(5, bare, epsilon=1, distance=given).guarantee.distance == given


def test_records_at_percentiles_are_not_monotone():
    """At the monotone rate a replaced record would cost 1.44 for a claimed ε = 1."""
    for distance in ({}, {"distance": REPLACE}, {"distance": ADD_REMOVE}):
        with pytest.raises(sd.ParameterError):
            sd.select_record_at_percentile(
                p=50, mechanism="permute_and_flip", monotone=True, **VALUES, **distance
            )


@pytest.mark.parametrize(
    "distance",
    [Distance("user", "replace"), Distance("user", "add_remove"), Distance("row", "replace", (("t", 0.5),))],
)
def test_a_quantile_counts_records_only(distance):
    with pytest.raises(sd.ParameterError, match="record by record"):
        sd.quantile(np.arange(4.0), 0.5, bounds=(0, 4), step=1, epsilon=1.0, distance=distance)


def test_the_number_of_distinct_values_is_private(monkeypatch):
    from sordino.stats import percentile

    monkeypatch.setattr(percentile, "_MOST_CELLS", 12 * 4)
    values = [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3]
    asked = {"bounds": (0, 9), "epsilon": 1.0, "mechanism": "shifted_dampening"}
    assert sd.select_record_at_percentile(values, 50, **asked).value in range(12)
    with pytest.raises(sd.PrivateDataError):
        sd.select_record_at_percentile([*values[:-1], 4], 50, **asked)


@pytest.mark.parametrize("bounds", [(-1e308, 1e308), (0.0, 1e-310)])
def test_percentiles_within_extreme_bounds_are_refused(bounds):
    with pytest.raises(sd.ParameterError, match="apart"):
        sd.select_record_at_percentile([0.0, 0.0], 50, bounds=bounds, epsilon=1.0)
