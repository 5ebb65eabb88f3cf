"""Releases of selections: what they show, what they hide, and that one index leaves."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sordino as sd
from sordino.testing import seeded


def test_a_release_says_what_it_costs_and_hides_the_rest():
    release = sd.select([0.0, 1.0, 9.0], profile=1.0, epsilon=2)
    assert release.value in (0, 1, 2)
    assert "ε = 2 for one row added or removed" in str(release)
    assert "several rows is not protected" in str(release)
    document = json.dumps(release.to_dict())
    assert "realised_error" not in document
    assert "realised_error" not in repr(release)
    assert release.details.reveal()["exact"] == 2


def test_seeded_releases_repeat_and_say_that_they_are_not_private():
    with seeded(7):
        first = [sd.select(np.zeros(50), profile=1, epsilon=1).value for _ in range(20)]
    with seeded(7):
        second = sd.select(np.zeros(50), profile=1, epsilon=1)
    assert second.value == first[0]
    assert len(set(first)) > 5
    assert not second.private
    assert "NOT PRIVATE" in str(second)
    assert sd.select([1, 2], profile=1, epsilon=1).private


@pytest.mark.parametrize(
    "mechanism", ["exponential", "permute_and_flip", "local_dampening", "inverse_sensitivity"]
)
def test_top_k_gives_different_candidates_best_first_when_the_budget_is_large(mechanism):
    scores = np.array([3.0, 9.0, 1.0, 7.0, 5.0])
    release = sd.top_k(scores, 3, profile=1.0, epsilon=3e3, mechanism=mechanism)
    assert release.value == [1, 3, 4]
    assert release.details.reveal()["overlap"] == 1
    assert "3-fold basic composition" in str(release)


def test_top_k_with_delta_pays_less_per_selection_only_where_that_helps():
    few = sd.top_k(np.arange(100.0), 2, profile=1.0, epsilon=1, delta=1e-6, mechanism="exponential")
    many = sd.top_k(np.arange(100.0), 60, profile=1.0, epsilon=1, delta=1e-6, mechanism="exponential")
    assert few.guarantee.delta == 0
    assert many.guarantee.delta == 1e-6
    assert "zCDP" in many.guarantee.theorem


@pytest.mark.parametrize(("mechanism", "first"), [("exponential", 8), ("permute_and_flip", 29)])
def test_zcdp_composition_pays_from_this_k_on(mechanism, first):
    options = {"profile": 1.0, "epsilon": 1, "delta": 1e-6, "mechanism": mechanism}
    assert sd.top_k(np.arange(40.0), first - 1, **options).guarantee.delta == 0
    assert sd.top_k(np.arange(40.0), first, **options).guarantee.delta == 1e-6


def test_top_k_spends_exactly_the_budget():
    """Two picks among two candidates: the law of the ordered pair is that of one exponential draw at ε/2."""
    law = sd.selection_law([0.0, 1.0], profile=1.0, epsilon=0.5, mechanism="exponential")
    with seeded(1):
        firsts = [
            sd.top_k([0.0, 1.0], 2, profile=1.0, epsilon=1.0, mechanism="exponential").value[0]
            for _ in range(4000)
        ]
    # 4000 coin flips: 6 standard deviations, a false alarm below 1e-8 over seeds
    assert abs(np.mean(firsts) - law[1]) < 6 * np.sqrt(0.25 / 4000)


def test_one_candidate_is_always_chosen():
    for mechanism in ("exponential", "permute_and_flip", "shifted_dampening", "local_dampening"):
        assert sd.select([4.2], profile=1, epsilon=0.1, mechanism=mechanism).value == 0
        assert sd.selection_law([4.2], profile=1, epsilon=0.1, mechanism=mechanism).tolist() == [1.0]
