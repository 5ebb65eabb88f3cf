"""Truncated sums and flows: by hand, against cuts and lattices, and their sensitivity over whole universes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from tests.oracles.units.contributions import (
    concave_gap,
    contributions,
    double_cover,
    dropped_units,
    truncated_flow,
    truncated_sum,
    units_above,
    without,
)
from tests.oracles.units.owners import Result

HALF = Fraction(1, 2)


def shared(*owned: tuple[int, str]) -> list[Result]:
    """Results from (weight, owners as letters)."""
    return [Result(Fraction(w), frozenset(("unit", name) for name in names)) for w, names in owned]


def everyone(results):
    return sorted({unit for result in results for unit in result.owners})


def test_contributions_count_a_shared_result_for_each_owner():
    assert contributions(shared((2, "a"), (3, "ab"))) == {("unit", "a"): 5, ("unit", "b"): 3}


def test_one_owner_sums_and_counts_by_hand():
    totals = [5, 3, 1]
    assert [truncated_sum(totals, tau) for tau in (0, 1, 2, 4, 8)] == [0, 3, 5, 8, 9]
    assert [units_above(totals, tau) for tau in (0, 1, 2, 4, 8)] == [3, 2, 2, 1, 0]


def histograms(users: int, top: int) -> Iterator[tuple[int, ...]]:
    for size in range(users + 1):
        yield from itertools.combinations_with_replacement(range(1, top + 1), size)


def test_one_owner_sum_has_sensitivity_tau_and_the_count_is_monotone_with_sensitivity_one():
    reached = set()
    for totals in histograms(3, 4):
        for i in range(len(totals)):
            rest = totals[:i] + totals[i + 1 :]
            for tau in range(5):
                gained = truncated_sum(totals, tau) - truncated_sum(rest, tau)
                assert 0 <= gained <= tau
                assert units_above(totals, tau) - units_above(rest, tau) in (0, 1)
                reached.add((tau, gained))
    assert {(tau, tau) for tau in range(5)} <= reached


def test_flow_of_single_owners_is_the_truncated_sum():
    for totals in histograms(3, 4):
        results = [Result(Fraction(1), frozenset({("u", i)})) for i, c in enumerate(totals) for _ in range(c)]
        for tau in (0, 1, Fraction(3, 2), 2, 4):
            assert truncated_flow(results, tau) == truncated_sum(totals, tau)


def test_flows_by_hand():
    star = shared(*((1, "h" + leaf) for leaf in "abcd"))
    assert [truncated_flow(star, tau) for tau in (1, 2, 5)] == [1, 2, 4]
    triangle = shared((1, "ab"), (1, "bc"), (1, "ac"))
    assert [truncated_flow(triangle, tau) for tau in (1, 2)] == [3 * HALF, 3]
    assert truncated_flow(shared((9, "abc"), (9, "abd"), (9, "cd")), 1) == 3 * HALF
    assert truncated_flow(shared((4, ""), (4, "a")), 1) == 5


PAIRS = ("a", "b", "c", "ab", "ac", "bc")


def weighted_graphs() -> Iterator[list[Result]]:
    """All self-joins of three units with weights 0 to 2 on a pair and 0 or 2 on a unit alone."""
    for alone in itertools.product((0, 2), repeat=3):
        for pairs in itertools.product((0, 1, 2), repeat=3):
            yield shared(*((w, names) for w, names in zip(alone + pairs, PAIRS, strict=True) if w))


def cheapest_cover(results, tau, steps):
    """min tau·|cover| + what is not covered, every unit in the cover by one of `steps`: the dual by enumeration."""
    names = everyone(results)
    costs = []
    for shares in itertools.product(steps, repeat=len(names)):
        part = dict(zip(names, shares, strict=True))
        left = sum(r.weight * max(0, 1 - sum(part[u] for u in r.owners)) for r in results)
        costs.append(tau * sum(shares) + left)
    return min(costs)


def best_half_integral(results, tau):
    """max sum x_j over x_j in {0, 1/2, 1, ...}: all of them."""
    choices = itertools.product(*([HALF * k for k in range(int(2 * r.weight) + 1)] for r in results))
    names = everyone(results)
    return max(
        sum(x)
        for x in choices
        if all(sum(v for v, r in zip(x, results, strict=True) if u in r.owners) <= tau for u in names)
    )


def test_self_joins_are_half_integral_and_half_of_their_double_cover():
    fractional = 0
    for results in weighted_graphs():
        for tau in (1, 3):
            value = truncated_flow(results, tau)
            assert value == cheapest_cover(results, tau, (0, HALF, 1))
            assert value == truncated_flow(double_cover(results), tau) / 2
            fractional += value.denominator == 2
    assert fractional > 10


def test_half_integral_solutions_reach_the_flow():
    for results in list(weighted_graphs())[::9]:
        assert truncated_flow(results, 1) == best_half_integral(results, 1)


def test_a_unit_joined_with_itself_counts_in_full_in_the_double_cover():
    """A loop drawn as one edge of the cover would count for half."""
    alone = shared((3, "a"))
    assert truncated_flow(alone, 2) == 2 == truncated_flow(double_cover(alone), 2) / 2
    one_edge = [Result(Fraction(3), frozenset({("left", "a"), ("right", "a")}))]
    assert truncated_flow(one_edge, 2) / 2 == 1
    with pytest.raises(ValueError, match="one or two owners"):
        double_cover(shared((1, "abc")))


def test_two_entities_are_integral_flows_and_equal_the_cheapest_cut():
    cells = [a + b for a in "ab" for b in "xyz"]
    for weights in itertools.product((0, 1, 3), repeat=6):
        if sum(weights) % 4:
            continue
        results = shared(*((w, cell) for w, cell in zip(weights, cells, strict=True) if w))
        assert truncated_flow(results, 2) == cheapest_cover(results, 2, (0, 1))


def shared_universe() -> Iterator[list[Result]]:
    """The self-joins of three units, and results of up to three owners among five units."""
    yield from list(weighted_graphs())[::3]
    draw = random.Random(8)
    groups = [c for k in (1, 2, 3) for c in itertools.combinations("abcde", k)]
    for _ in range(100):
        yield shared(*((draw.randint(1, 4), names) for names in draw.sample(groups, draw.randint(1, 7))))


def test_flow_is_concave_reaches_the_total_and_has_sensitivity_tau():
    for results in shared_universe():
        largest = max(contributions(results).values(), default=Fraction(0))
        curve = [truncated_flow(results, tau) for tau in range(5)]
        slopes = [b - a for a, b in itertools.pairwise(curve)]
        assert slopes == sorted(slopes, reverse=True)
        assert curve[0] == 0
        assert truncated_flow(results, largest) == sum(r.weight for r in results)
        for unit in everyone(results):
            rest = without(results, unit)
            assert all(0 <= curve[tau] - truncated_flow(rest, tau) <= tau for tau in (1, 3))


def test_concave_gap_falls_and_one_unit_moves_it_between_minus_one_over_base_and_one():
    moves = []
    for results in list(shared_universe())[::2]:
        curve = [concave_gap(results, tau, 2) for tau in (1, 2, 4)]
        assert curve == sorted(curve, reverse=True)
        for unit in everyone(results):
            rest = without(results, unit)
            moves += [curve[i] - concave_gap(rest, tau, 2) for i, tau in enumerate((1, 2))]
    assert min(moves) >= -HALF
    assert HALF < max(moves) <= 1


def test_concave_gap_reaches_both_ends_of_its_range():
    """A new partner of the hub makes the hub alone the cheapest cut; a new partner of full units waits for 2 tau."""
    before = shared((1, "a"), (1, "b"), (9, "ha"), (9, "hb"))
    after = [*before, *shared((9, "hu"))]
    assert concave_gap(after, 1, 2) - concave_gap(before, 1, 2) == -HALF
    before = shared((1, "a"), (1, "b"))
    after = [*before, *shared((9, "ua"), (9, "ub"))]
    assert concave_gap(after, 1, 2) - concave_gap(before, 1, 2) == 1


def test_a_result_capped_pair_by_pair_moves_with_the_number_of_partners():
    """Not the flow: min(w, tau) per pair. One hub of four partners moves it by four tau."""
    star = shared(*((9, "h" + leaf) for leaf in "abcd"))
    by_pair = sum(min(r.weight, 2) for r in star) - sum(
        min(r.weight, 2) for r in without(star, ("unit", "h"))
    )
    assert by_pair == 8
    assert truncated_flow(star, 2) == 2


def dropped_whole(results, tau):
    """The least number of whole units to take out: all subsets."""
    names = everyone(results)
    for size in range(len(names) + 1):
        for gone in itertools.combinations(names, size):
            rest = [r for r in results if not r.owners & set(gone)]
            if all(c <= tau for c in contributions(rest).values()):
                return size
    raise AssertionError("an empty database exceeds nothing")


def test_dropped_units_by_hand():
    assert dropped_units(shared((4, "a"), (1, "b")), 2) == HALF  # keep half of a
    star = shared(*((1, "h" + leaf) for leaf in "abcd"))
    assert dropped_units(star, 1) == Fraction(3, 4)  # a quarter of the hub stays with all leaves
    assert dropped_units(star, 4) == 0
    assert dropped_whole(star, 1) == 1


def test_dropped_units_are_monotone_with_sensitivity_one_and_fall_with_tau():
    for results in list(shared_universe())[::2]:
        curve = {tau: dropped_units(results, tau) for tau in (1, 2, 4)}
        assert curve[1] >= curve[2] >= curve[4] >= 0
        for tau in (1, 4):
            assert curve[tau] <= dropped_whole(results, tau)
            for unit in everyone(results):
                rest = without(results, unit)
                assert 0 <= curve[tau] - dropped_units(rest, tau) <= 1
                assert 0 <= dropped_whole(results, tau) - dropped_whole(rest, tau) <= 1
