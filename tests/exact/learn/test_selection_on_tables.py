"""Selecting an attribute: the exact laws over all small data sets of two binary attributes and two classes."""

from __future__ import annotations

from functools import cache

import pytest

from sordino.core import ParameterError, replace_row
from sordino.learn.criteria import CRITERIA
from sordino.mechanisms.selection import selection_law
from sordino.testing import check_mechanism, prove_mechanism
from tests.oracles import trees

VALUES, CLASSES, ROWS = (2, 2), 2, 4
NAMES = sorted(trees.UTILITIES)
BASELINES = ["exponential", "permute_and_flip"]
DAMPENED = [
    ("local_dampening", {"sampler": "exponential"}),
    ("local_dampening", {"sampler": "permute_and_flip"}),
    ("shifted_dampening", {"sampler": "exponential", "direction": "plus"}),
    ("shifted_dampening", {"sampler": "exponential", "direction": "minus"}),
    ("shifted_dampening", {"sampler": "permute_and_flip", "direction": "plus"}),
    ("shifted_dampening", {"sampler": "permute_and_flip", "direction": "minus"}),
]


@cache
def data_sets(replace=False):
    return trees.joint_rows(VALUES, CLASSES, ROWS, replace=replace)


def question(name, *, with_profile):
    @cache
    def of(rows):
        tables = trees.attribute_tables(rows, VALUES, CLASSES)
        criterion = CRITERIA[name]
        return criterion.scores(tables, ROWS), (
            criterion.profile(tables, ROWS) if with_profile else criterion.sensitivity(ROWS)
        )

    return of


def arguments(mechanism, name, *, with_profile):
    space = data_sets()
    return mechanism, space.databases, space.neighbours, question(name, with_profile=with_profile)


def refuse_a_mutant(given, epsilon, worst, **options):
    """Spend just past the slack; where the loss is not linear in ε, a little further."""
    past = (epsilon * epsilon / worst * factor for factor in (1.01, 1.2, 1.5))
    mutants = (prove_mechanism(*given, epsilon=epsilon, spent=spent, **options) for spent in past)
    assert any(not mutant.holds for mutant in mutants)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mechanism", BASELINES)
def test_monotone_criteria_need_half_the_noise_when_rows_are_added_or_removed(mechanism, name):
    assert CRITERIA[name].monotone
    given = arguments(mechanism, name, with_profile=False)
    for epsilon in (0.3, 1.7):
        proof = check_mechanism(*given, epsilon=epsilon, monotone=True)
        assert (proof.databases, proof.pairs) == (495, 2 * 8 * 165)
        assert proof.worst_epsilon > 0.3 * epsilon
    refuse_a_mutant(given, 1.7, proof.worst_epsilon, monotone=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("mechanism", "options"),
    DAMPENED,
    ids=lambda part: "-".join(part.values()) if isinstance(part, dict) else part,
)
def test_dampened_criteria_are_private_when_rows_are_added_or_removed(mechanism, options, name):
    given = arguments(mechanism, name, with_profile=True)
    proof = check_mechanism(*given, epsilon=1.0, **options)
    assert (proof.databases, proof.pairs) == (495, 2 * 8 * 165)
    refuse_a_mutant(given, 1.0, proof.worst_epsilon, **options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mechanism", BASELINES)
def test_the_monotone_rate_is_refused_when_rows_are_replaced(mechanism, name):
    space, criterion = data_sets(replace=True), CRITERIA[name]

    def with_copies(rows):
        first, second = criterion.scores(trees.attribute_tables(rows, VALUES, CLASSES), ROWS)
        return [first, *[second] * 9], criterion.sensitivity(ROWS)

    # a replaced row may raise one score and lower all others: more attributes, equal to the second, show it
    mutant = prove_mechanism(
        mechanism, space.databases, space.neighbours, with_copies, epsilon=1.0, spent=1.0, monotone=True
    )
    assert not mutant.holds
    assert mutant.worst_epsilon > 1.3
    scores, bound = with_copies(space.databases[0])
    options = {"profile": bound, "epsilon": 1.0, "monotone": True, "distance": replace_row()}
    with pytest.raises(ParameterError, match="monotone"):
        selection_law(scores, mechanism=mechanism, **options)
