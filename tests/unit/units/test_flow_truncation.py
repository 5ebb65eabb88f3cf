"""The plan for results with several owners: what it accepts, what it draws, what it refuses."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import EngineError, MissingExtraError, ParameterError, UnsupportedError
from sordino.testing import seeded
from sordino.units import flow_truncation
from sordino.units.concave_search import list_doubling_limits, list_gains
from sordino.units.flow_truncation import FlowTruncation

CERTAIN = Fraction(10**6)


def test_limits_double_up_to_the_bound():
    assert list_doubling_limits(1) == (1,)
    assert list_doubling_limits(8) == (1, 2, 4, 8)
    assert list_doubling_limits(11) == (1, 2, 4, 8, 11)


def test_gains_by_hand():
    """f = 3, 5, 8, 8: from 1 to 4 gains 5/4 units, from 2 to 4 gains 3/4; 5 is less than twice 4."""
    assert list_gains((1, 2, 4, 5), [Fraction(f) for f in (3, 5, 8, 8)]) == [80, 48, 0, 0]
    assert list_gains((4, 5), [Fraction(8), Fraction(9)]) == [8, 0]


@pytest.mark.parametrize("make", [FlowTruncation.of, FlowTruncation.of_rho])
def test_a_large_budget_gives_the_total_and_a_limit_that_keeps_it(make):
    budget = {"epsilon": CERTAIN} if make == FlowTruncation.of else {"rho": CERTAIN**2}
    plan = make(**budget, most=1000, owners=2)
    # supplier 9 has 5 of the 6
    with seeded(1):
        tau, total = plan.draw([[1, 2, 3, 3], [9, 9, 9, 8]], [1, 2, 2, 1])
        assert tau >= 8
        assert total == 6
        assert plan.draw([[], []], [])[1] == 0


@pytest.mark.parametrize(
    ("groups", "weight", "signed"), [(1, 10**9, False), (1, 10**9, True), (16, 16, False)]
)
def test_a_high_limit_is_chosen_where_many_units_need_it(groups, weight, signed):
    """A ring of 300 units, each with two results in every group: half of the total of each suffices for 75 dropped."""
    units, ring = 300, np.arange(300 * groups) % 300
    plan = FlowTruncation.of(epsilon=Fraction(4), most=2**38, owners=2, groups=groups, signed=signed)
    where = np.arange(units * groups) // units
    rows = plan.join_groups([ring, (ring + 1) % units], np.full(units * groups, weight), where)
    measures = plan.measure(rows)
    limit = plan.grid[plan.find_likely(measures)]
    assert 2 * weight <= limit < 4 * weight


def test_distinct_values_and_three_owners_take_the_same_way():
    with seeded(3):
        plan = FlowTruncation.of(epsilon=CERTAIN, most=100, owners=1, distinct=True)
        tau, total = plan.draw([[1, 1, 1, 2]], values=[5, 6, 7, 7])
        assert tau >= 2
        assert total == 3
        plan = FlowTruncation.of(epsilon=CERTAIN, most=100, owners=3)
        tau, total = plan.draw([[1, 1, 2], [11, 12, 13], [21, 22, 21]], [2, 3, 4])
    assert tau >= 8
    assert total == 9


def test_the_radius_follows_the_limit_and_the_slack():
    two, three = (FlowTruncation.of(epsilon=Fraction(1), most=2048, owners=m) for m in (2, 3))
    assert two.radius(2048) > 2 * two.radius(512)
    assert three.radius(1) > two.radius(1)
    assert two.radius(2048) <= three.radius(2048) < 1.01 * two.radius(2048)
    with pytest.raises(ParameterError, match="one of the grid"):
        two.radius(3)


def test_parts_of_the_budget_add_up_to_it():
    plan = FlowTruncation.of(epsilon=Fraction(4, 5), most=100, owners=2)
    assert plan.truncation.choice.epsilon + plan.truncation.noise.epsilon == Fraction(4, 5)
    plan = FlowTruncation.of_rho(rho=Fraction(1, 3), most=100, owners=2)
    assert plan.truncation.choice.epsilon**2 / 8 + plan.truncation.noise.rho == Fraction(1, 3)
    assert plan.truncation.choice.bounded_range


def test_more_results_than_the_plan_allows_fail_like_a_database(monkeypatch):
    monkeypatch.setattr(flow_truncation, "MOST_RESULTS", 3)
    plan = FlowTruncation.of(epsilon=Fraction(1), most=100, owners=2)
    assert plan.most_results == 3
    with pytest.raises(EngineError, match="more results"):
        plan.draw([np.arange(4), np.arange(4) + 10])


def test_bad_input_is_refused_before_anything_is_read():
    with pytest.raises(ParameterError, match="epsilon must be > 0"):
        FlowTruncation.of(epsilon=Fraction(0), most=10, owners=2)
    with pytest.raises(UnsupportedError, match="9 owners"):
        FlowTruncation.of(epsilon=Fraction(1), most=10, owners=9)
    with pytest.raises(ParameterError, match="too large"):
        FlowTruncation.of(epsilon=Fraction(1), most=10**15, owners=2)
    with pytest.raises(ParameterError, match="2 columns"):
        FlowTruncation.of(epsilon=Fraction(1), most=10, owners=2).draw([[1]])


def test_a_missing_solver_is_named_before_anything_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.graph.python.max_flow", None)
    with pytest.raises(MissingExtraError, match=r"sordino\[flows\]"):
        FlowTruncation.of(epsilon=Fraction(1), most=10, owners=2)
    assert FlowTruncation.of(epsilon=CERTAIN, most=10, owners=1).draw([[1, 2]], [3, 4])[1] == 7


@pytest.mark.parametrize("distinct", [False, True])
def test_groups_have_one_limit_and_their_own_totals(distinct):
    plan = FlowTruncation.of(epsilon=CERTAIN, most=100, owners=1, distinct=distinct, groups=3)
    owners, places = [[1, 1, 1, 2, 2, 3]], [0, 0, 2, 0, 2, 2]
    with seeded(5):
        if distinct:
            tau, totals = plan.draw_groups(owners, None, places, [7, 8, 7, 8, 9, 9])
            assert totals == (2, 0, 2)
        else:
            tau, totals = plan.draw_groups(owners, [4, 1, 2, 3, 3, 3], places)
            assert totals == (8, 0, 8)
            assert tau >= 5


def test_noise_of_groups_is_for_their_vector():
    one, four = (FlowTruncation.of(epsilon=Fraction(1), most=8, owners=2, groups=g) for g in (1, 4))
    assert four.truncation.grid == tuple(4 * limit for limit in one.truncation.grid)
    square = FlowTruncation.of_rho(rho=Fraction(1), most=8, owners=2, groups=5)
    assert square.truncation.grid == (3, 5, 9, 18)  # sqrt(5) of 1, 2, 4, 8, rounded up
