"""Distinct values, extremes and ranks: by hand, and their sensitivity over small universes."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

from tests.oracles.units.contributions import without
from tests.oracles.units.distinct import (
    distinct_within,
    fractional_distinct,
    quantile_score,
    unit_maxima,
    units_at_least,
    weighted_rank,
)
from tests.oracles.units.owners import Result


def holding(**values: str) -> list[Result]:
    """ann="xy": ann holds x and y."""
    return [Result(Fraction(1), frozenset({name}), v) for name, held in values.items() for v in held]


def test_distinct_by_hand():
    held = holding(ann="wxyz", bob="wx")
    assert [distinct_within(held, tau) for tau in range(5)] == [0, 2, 4, 4, 4]
    assert distinct_within(holding(ann="x", bob="x", cid="x"), 2) == 1
    assert distinct_within(holding(ann="xy", bob="xy", cid="xyz"), 1) == 3
    assert distinct_within([], 1) == 0


def test_a_value_of_two_owners_takes_from_both():
    both = [
        Result(Fraction(1), frozenset(owners), value) for owners, value in (("ab", 1), ("ac", 2), ("bc", 3))
    ]
    assert [distinct_within(both, tau) for tau in (1, 2)] == [1, 3]
    assert fractional_distinct(both, 1) == Fraction(3, 2)


def holdings():
    sets = ["".join(c) for k in range(4) for c in itertools.combinations("xyz", k)]
    for a, b, c in itertools.combinations_with_replacement(sets, 3):
        yield holding(a=a, b=b, c=c)


def test_one_owner_is_integral_monotone_and_has_sensitivity_tau():
    reached = set()
    for held in holdings():
        for tau in (1, 2):
            value = distinct_within(held, tau)
            assert value == fractional_distinct(held, tau)
            for unit in "abc":
                lost = value - distinct_within(without(held, unit), tau)
                assert 0 <= lost <= tau
                reached.add((tau, lost))
        assert distinct_within(held, 3) == len({r.value for r in held})
    assert {(1, 1), (2, 2)} <= reached


def test_several_owners_have_sensitivity_tau_too():
    draw = random.Random(2)
    owners = [c for k in (1, 2, 3) for c in itertools.combinations("abcd", k)]
    for _ in range(150):
        results = [
            Result(Fraction(1), frozenset(draw.choice(owners)), draw.randint(1, 5))
            for _ in range(draw.randint(1, 7))
        ]
        for tau, unit in itertools.product((1, 2), "ab"):
            for count in (distinct_within, fractional_distinct):
                assert 0 <= count(results, tau) - count(without(results, unit), tau) <= tau


def test_plain_distinct_moves_by_all_that_one_unit_holds():
    held = holding(ann="wxyz")
    assert len({r.value for r in held}) - len({r.value for r in without(held, "ann")}) == 4


def small_units():
    rows = [v for k in range(4) for v in itertools.combinations_with_replacement((1, 2, 5), k)]
    for a, b in itertools.product(rows, repeat=2):
        yield {"a": a, "b": b}, {"b": b}


def test_extremes_by_hand():
    values = {"ann": [1, 7], "bob": [5], "cid": []}
    assert unit_maxima(values) == {"ann": 7, "bob": 5}
    assert [units_at_least(values, y) for y in (1, 5, 6, 8)] == [2, 2, 1, 0]


def test_units_at_least_is_monotone_with_sensitivity_one_but_rows_are_not():
    for whole, rest in small_units():
        assert all(units_at_least(whole, y) - units_at_least(rest, y) in (0, 1) for y in range(7))
    assert sum(v >= 5 for v in (5, 5, 5)) - 0 == 3


def test_weighted_ranks_by_hand():
    values = {"ann": [1, 1, 2, 5], "bob": [2]}
    assert weighted_rank(values, 2, 1) == 1
    assert weighted_rank(values, 2, 2) == Fraction(5, 2)
    assert weighted_rank(values, 9, 2) == 4
    assert quantile_score(values, 2, Fraction(1, 2), 2) == 1  # 5/2 of 3


def test_one_unit_moves_a_rank_by_m_and_a_quantile_score_by_its_larger_share_of_m():
    """The rank moves by up to m, not by 1: the weights bound a unit's rows, they do not make them one."""
    for most in (1, 2):
        ranks, scores = [], []
        for (whole, rest), bound in itertools.product(small_units(), (0, 1, 2, 5)):
            ranks.append(weighted_rank(whole, most, bound) - weighted_rank(rest, most, bound))
            share = Fraction(1, 4)
            scores.append(
                quantile_score(whole, most, share, bound) - quantile_score(rest, most, share, bound)
            )
        assert (min(ranks), max(ranks)) == (0, most)
        assert (min(scores), max(scores)) == (-most * Fraction(1, 4), most * Fraction(3, 4))
