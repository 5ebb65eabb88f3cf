"""Units to drop: against the exact programme of the definition, by hand, and beside the gains that bound it."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from sordino.core import EngineError
from sordino.units import dropped_units as module
from sordino.units.concave_search import STEPS, list_gains
from sordino.units.dropped_units import PRECISION, bound_dropped
from sordino.units.shared_results import gather_results
from sordino.units.truncated_total import bound_within
from tests.oracles.units.contributions import dropped_units
from tests.oracles.units.owners import Result


def is_just_below(low, value):
    return 0 <= value - low < Fraction(1, PRECISION)


def test_everybody_alone_by_hand():
    """Totals 8, 4 and 2 with at most 2 each: three quarters of one and half of another."""
    results = gather_results([[1, 1, 2, 3]], [5, 3, 4, 2])
    assert is_just_below(bound_dropped(results, 2), Fraction(5, 4))
    assert bound_dropped(results, 8) == 0


def test_a_hub_is_dropped_instead_of_its_leaves():
    """Five leaves with 2 of their own and 1 of the hub: without the hub all fit."""
    leaves = list(range(2, 7))
    results = gather_results([leaves + [1] * 5, leaves + leaves], [2] * 5 + [1] * 5)
    assert is_just_below(bound_dropped(results, 2), Fraction(1))


@pytest.mark.slow
@pytest.mark.parametrize("columns", [2, 3, 4])
def test_the_programme_of_the_definition(columns):
    draw, above = random.Random(columns), 0
    for _ in range(60):
        size = draw.randint(2, 7)
        owners = [[draw.randint(0, 4) for _ in range(size)] for _ in range(columns)]
        weights = [draw.randint(1, 6) for _ in range(size)]
        tau = draw.randint(1, 5)
        listed = [Result(Fraction(w), frozenset(c[i] for c in owners)) for i, w in enumerate(weights)]
        value = dropped_units(listed, tau)
        assert is_just_below(bound_dropped(gather_results(owners, weights), tau), value)
        above += value > 0
    assert above > 20


@pytest.mark.parametrize("columns", [2, 3])
def test_weights_far_above_the_limit(columns):
    """Sums of money between owners: whether such questions are answered must not follow how large they are."""
    draw = random.Random(columns)
    for _ in range(60):
        size = draw.randint(2, 7)
        owners = [[draw.randint(0, 4) for _ in range(size)] for _ in range(columns)]
        weights = [int(2 ** draw.uniform(0, 38)) for _ in range(size)]
        tau = 1 << draw.randint(0, 12)
        listed = [Result(Fraction(w), frozenset(c[i] for c in owners)) for i, w in enumerate(weights)]
        assert is_just_below(bound_dropped(gather_results(owners, weights), tau), dropped_units(listed, tau))


@pytest.mark.slow
def test_gains_never_exceed_units_to_drop():
    draw, limits = random.Random(6), (1, 2, 4, 8, 16)
    for _ in range(40):
        size = draw.randint(4, 30)
        owners = [[draw.randint(0, 6) for _ in range(size)] for _ in range(2)]
        results = gather_results(owners, [draw.choice((1, 2, 9)) for _ in range(size)])
        gains = list_gains(limits, [bound_within(results, tau) for tau in limits])
        for tau, gain in zip(limits, gains, strict=True):
            assert gain <= STEPS * (bound_dropped(results, tau) + Fraction(1, PRECISION))


def test_a_core_that_is_too_large_fails_like_a_database(monkeypatch):
    results = gather_results([[1, 2, 3], [2, 3, 1]], [4, 4, 4])
    monkeypatch.setattr(module, "MOST_CORE_RESULTS", 2)
    with pytest.raises(EngineError, match="too many results"):
        bound_dropped(results, 2)
