"""Truncated totals of shared results: against the exact programme of the definition, and by hand."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import EngineError, ParameterError
from sordino.units.shared_results import LARGEST_SUM, gather_results, settle_results
from sordino.units.truncated_total import bound_truncated, bound_within, round_total, solver_slack
from tests.oracles.units.contributions import truncated_flow
from tests.oracles.units.distinct import fractional_distinct
from tests.oracles.units.owners import Result

pytestmark = pytest.mark.slow


def total(owners, weights, tau):
    low, high = bound_truncated(gather_results(owners, weights), tau)
    assert low == high
    return low


def truncate_total(results, tau):
    return round_total(bound_within(results, tau))


def as_results(owners, weights, values=None):
    return [
        Result(Fraction(w), frozenset(column[i] for column in owners), values[i] if values else None)
        for i, w in enumerate(weights)
    ]


def random_columns(draw, columns, *, results=8, units=5):
    size = draw.randint(1, results)
    owners = [[draw.randint(0, units) for _ in range(size)] for _ in range(columns)]
    return owners, [draw.randint(0, 5) for _ in range(size)]


def test_one_owner_is_the_sum_of_what_everybody_may_have():
    assert [total([[7, 7, 8]], [3, 2, 4], tau) for tau in (1, 3, 4, 5, 9)] == [2, 6, 8, 9, 9]


def test_two_entities_by_hand():
    """Two customers who both bought of one supplier: the supplier is full first."""
    owners = [[1, 2, 2], [10, 10, 11]]
    assert [total(owners, [4, 4, 1], tau) for tau in (1, 2, 4, 5, 8)] == [2, 3, 5, 6, 9]


def test_a_triangle_of_one_entity_is_half_integral():
    assert total([[1, 2, 3], [2, 3, 1]], [1, 1, 1], 1) == Fraction(3, 2)
    assert truncate_total(gather_results([[1, 2, 3], [2, 3, 1]], [1, 1, 1]), 1) == 1


def test_a_unit_joined_with_itself_counts_in_full():
    assert total([[1], [1]], [3], 2) == 2
    assert total([[1, 1, 2, 3], [1, 2, 3, 1]], [1, 4, 4, 4], 3) == truncated_flow(
        as_results([[1, 1, 2, 3], [1, 2, 3, 1]], [1, 4, 4, 4]), 3
    )


@pytest.mark.parametrize("columns", [1, 2])
def test_flows_are_the_programme_of_the_definition(columns):
    draw, opened = random.Random(columns), 0
    for _ in range(150):
        owners, weights = random_columns(draw, columns, units=3)
        tau = draw.randint(1, 6)
        assert total(owners, weights, tau) == truncated_flow(as_results(owners, weights), tau)
        opened += len(settle_results(gather_results(owners, weights), tau).weights) > 0
    assert opened > 10 or columns == 1


def test_odd_and_even_parts_of_one_graph_are_solved_side_by_side():
    """A circle of four and one of five, all full: each unit has tau, each result two units."""
    circles = [*zip("abcd", "bcda", strict=True), *zip("vwxyz", "wxyzv", strict=True)]
    owners = [[ord(pair[side]) for pair in circles] for side in (0, 1)]
    assert total(owners, [9] * 9, 3) == Fraction(9 * 3, 2)


@pytest.mark.parametrize("columns", [3, 4])
def test_programmes_are_bounded_from_both_sides(columns):
    draw, opened = random.Random(columns), 0
    for _ in range(80):
        owners, weights = random_columns(draw, columns)
        tau = draw.randint(1, 6)
        low, high = bound_truncated(gather_results(owners, weights), tau)
        assert low <= truncated_flow(as_results(owners, weights), tau) <= high
        assert high - low < 1e-6
        opened += low < high
    assert opened > 5


def test_distinct_values_are_counted_once_and_tau_times_per_unit():
    draw = random.Random(4)
    for columns, _ in itertools.product((1, 2), range(60)):
        owners, weights = random_columns(draw, columns)
        values = [draw.randint(0, 4) for _ in weights]
        tau = draw.randint(1, 3)
        low, high = bound_truncated(gather_results(owners, values=values), tau)
        assert low <= fractional_distinct(as_results(owners, [1] * len(weights), values), tau) <= high
        assert low == high or columns == 2


def test_a_value_with_the_code_of_a_unit_is_still_a_value():
    assert truncate_total(gather_results([[1, 1, 2]], values=[1, 2, 1]), 1) == 2


def test_equal_owners_are_merged_in_any_order():
    results = gather_results([[1, 2, 2, 3], [2, 1, 2, 4]], [1, 2, 5, 0])
    assert sorted(results.weights.tolist()) == [3, 5]
    assert repr(results) == "SharedResults(<secret>)"
    assert repr(settle_results(results, 1)) == "OpenResults(<secret>)"


def test_merged_weights_beyond_64_bits_are_cut_not_wrapped():
    results = gather_results([[1, 1, 1, 2]], [2**61, 2**61, 2**61, 3])
    assert sorted(results.weights.tolist()) == [3, LARGEST_SUM]
    assert truncate_total(results, 2**59) == 2**59 + 3


def test_sums_beyond_what_floats_hold_are_exact():
    """One less of the result that both full units share is enough for both."""
    odd = 2**55 + 1
    assert truncate_total(gather_results([[1, 1, 2], [8, 9, 8]], [odd, odd, odd]), 2 * odd - 1) == 3 * odd - 1


def test_trees_of_owners_are_settled_without_a_solver():
    """A hub with a hundred partners, each with partners of its own."""
    hub = [(0, k) for k in range(1, 101)]
    leaves = [(k, 1000 + 10 * k + i) for k in range(1, 101) for i in range(5)]
    pairs = hub + leaves
    owners = [[pair[side] for pair in pairs] for side in (0, 1)]
    results = gather_results(owners, [1] * len(pairs))
    left = settle_results(results, 3)
    assert (left.settled, len(left.weights)) == (300, 0)


def test_a_slack_covers_what_the_solver_may_miss():
    assert [solver_slack(tau, 2) for tau in (1, 1000)] == [0, 0]
    assert [solver_slack(tau, 3) for tau in (1, 1024, 1025, 10240)] == [1, 1, 2, 10]
    draw = random.Random(9)
    for _ in range(40):
        owners, weights = random_columns(draw, 3)
        f = truncated_flow(as_results(owners, weights), 2)
        assert f - 2 < truncate_total(gather_results(owners, weights), 2) <= math.floor(f)


def test_more_results_than_allowed_fail_like_a_database():
    with pytest.raises(EngineError, match="more results"):
        gather_results([[1, 2, 3]], [1, 1, 1], most_results=2)
    with pytest.raises(EngineError, match="64 bits"):
        settle_results(gather_results([[1, 2]], [1, 1]), 2**61)


def test_wrong_arguments_are_refused():
    with pytest.raises(ParameterError, match="one column"):
        gather_results([], [1])
    with pytest.raises(ParameterError, match=">= 0"):
        gather_results([[1]], [-1])
    with pytest.raises(ParameterError, match="one entry per result"):
        gather_results([[1, 2]], [1])


def test_nothing_to_share():
    nothing = gather_results([np.array([], dtype=np.int64)] * 2, [])
    assert (len(nothing), truncate_total(nothing, 5)) == (0, 0)
    assert truncate_total(gather_results([[1], [2]], [0]), 5) == 0
