"""Results with several owners, over all small databases: limit and total together are as private as claimed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

import sordino as sd
from sordino.units.concave_search import STEPS, gain_spread, list_gains
from sordino.units.dropped_units import PRECISION
from sordino.units.flow_truncation import FlowTruncation
from sordino.units.limit_choice import LimitChoice
from sordino.units.limit_noise import GaussianPerLimit
from sordino.units.truncated_total import bound_within
from tests.exact.concentrated import rho_of
from tests.oracles.units.contributions import contributions, dropped_units, truncated_flow, units_above
from tests.oracles.units.distinct import fractional_distinct
from tests.oracles.units.owners import Result

EPSILON = Fraction(4, 5)
MOST = 4


def every_database(places, weights):
    """All ways to give each place (a tuple of owners) a weight, as tuples of (owners, weight)."""
    return [
        tuple((owners, w) for owners, w in zip(places, chosen, strict=True) if w)
        for chosen in product(*weights)
    ]


def without(database, unit):
    return tuple(result for result in database if unit not in result[0])


def neighbours_in(universe):
    """One unit less, with all results that name it, or one more."""
    near = {database: set() for database in universe}
    for database in universe:
        for unit in {unit for owners, _ in database for unit in owners}:
            rest = without(database, unit)
            near[database].add(rest)
            near[rest].add(database)
    return lambda database: sorted(near[database])


CUSTOMERS_AND_SUPPLIERS = every_database([(1, 8), (1, 9), (2, 8), (2, 9)], [(0, 1, 2, 5)] * 4)
SELF_JOIN = every_database([(1, 2), (1, 3), (2, 3), (1, 1), (2, 2)], [(0, 1, 3)] * 3 + [(0, 2)] * 2)
THREE_OWNERS = every_database(
    [(1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4), (1, 1, 2)], [(0, 1, 3)] * 4 + [(0, 2)]
)
UNIVERSES = {"entities": CUSTOMERS_AND_SUPPLIERS, "self join": SELF_JOIN, "three": THREE_OWNERS}


@cache
def measured_by(columns, database):
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=columns)
    owners = [[result[0][k] for result in database] for k in range(columns)]
    return plan.measure(plan.gather(owners, [w for _, w in database]))


def measured(plan, database):
    """What a plan measures, which depends on its number of owners alone here."""
    return measured_by(plan.columns, database)


def as_results(database):
    return [Result(Fraction(w), frozenset(owners)) for owners, w in database]


def joint_law(plan, measures_of=measured):
    def law(database):
        outcomes, stated = plan.law(measures_of(plan, database), (0, 30))
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error, outcomes=outcomes)

    return law


@pytest.mark.parametrize("name", UNIVERSES)
def test_limit_and_total_together_cost_epsilon(name):
    universe = UNIVERSES[name]
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=3 if name == "three" else 2)
    proof = sd.audit.prove(joint_law(plan), universe, neighbours_in(universe), float(EPSILON))
    assert proof.holds, str(proof)
    assert proof.worst_epsilon > 0.45  # the noise alone costs 3/5 of it, where a unit fills its limit


@pytest.mark.parametrize("name", ["entities", "self join"])
def test_totals_and_answers_are_those_of_the_definition(name):
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2)
    for database in UNIVERSES[name][::3]:
        totals = [truncated_flow(as_results(database), tau) for tau in plan.grid]
        found = measured(plan, database)
        assert found.totals == tuple(totals)
        # units to drop, of what is cut to the public bound: a lower bound on the lattice
        cut = as_results([(owners, min(w, MOST)) for owners, w in database])
        dropped = [dropped_units(cut, tau) for tau in plan.grid]
        assert all(
            0 <= STEPS * d - answer < 1 + Fraction(STEPS, PRECISION)
            for d, answer in zip(dropped, found.answers, strict=True)
        )


def test_gains_are_those_of_the_definition_and_move_within_their_interval():
    """Written anew: what a larger limit brings, counted in units of it, and never in fewer than twice the smaller."""
    limits, moves = (1, 2, 4), set()
    for universe in (CUSTOMERS_AND_SUPPLIERS, SELF_JOIN):
        near, plan = neighbours_in(universe), FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2)
        gains = {}
        for database in universe:
            f = dict(zip(limits, measured(plan, database).totals, strict=True))
            expected = [
                max([0] + [STEPS * (f[t] - f[tau]) / t for t in limits if t >= 2 * tau]) // 1
                for tau in limits
            ]
            gains[database] = list_gains(limits, list(f.values()))
            assert gains[database] == expected
        for database in universe:
            for other in near(database):
                if len(other) < len(database):
                    moves |= {a - b for a, b in zip(gains[database], gains[other], strict=True)}
    assert min(moves) >= -STEPS // 2
    assert STEPS // 2 < max(moves) <= STEPS  # both ends at once: the last test of this file


def test_distinct_values_cost_epsilon():
    """Two units and three values, each held or not; a value is no unit, so only units come and go."""
    pairs = list(product((1, 2), ("x", "y", "z")))
    universe = [
        tuple(pair for pair, held in zip(pairs, chosen, strict=True) if held)
        for chosen in product((False, True), repeat=len(pairs))
    ]
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=1, distinct=True)

    def measures_of(plan, database):
        units, values = [u for u, _ in database], [ord(v) for _, v in database]
        return plan.measure(plan.gather([units], values=values))

    def near(database):
        by_unit = {unit: tuple(p for p in database if p[0] == unit) for unit in (1, 2)}
        found = set()
        for unit in (1, 2):
            rest = tuple(p for p in database if p[0] != unit)
            if by_unit[unit]:
                found.add(rest)
            else:
                found |= {
                    d for d in universe if d != database and tuple(p for p in d if p[0] != unit) == rest
                }
        return sorted(found)

    proof = sd.audit.prove(joint_law(plan, measures_of), universe, near, float(EPSILON))
    assert proof.holds, str(proof)
    for database in universe:
        results = [Result(Fraction(1), frozenset({u}), v) for u, v in database]
        totals = tuple(fractional_distinct(results, tau) for tau in plan.grid)
        assert measures_of(plan, database).totals == totals


@pytest.mark.parametrize("distinct", [False, True])
def test_the_limit_of_groups_costs_its_share_and_totals_move_within_the_norm(distinct):
    """Two groups, two customers, two suppliers; or two customers with two values."""
    pairs = [(1, 8), (1, 9), (2, 8), (2, 9)]
    universe = every_database([(*pair, g) for g in (0, 1) for pair in pairs], [(0, 3)] * 8)
    plan = FlowTruncation.of(
        epsilon=EPSILON, most=MOST, owners=1 if distinct else 2, distinct=distinct, groups=2
    )

    def read(database):
        columns = [[result[0][k] for result in database] for k in range(3)]
        weights = None if distinct else [w for _, w in database]
        return (
            (columns[:1], weights, columns[2], columns[1]) if distinct else (columns[:2], weights, columns[2])
        )

    def answers(database):
        return plan.measure(plan.join_groups(*read(database))).answers

    def totals(database):
        return [[bound_within(part, tau) for tau in plan.grid] for part in plan.part_groups(*read(database))]

    leaving = (1, 2) if distinct else (1, 2, 8, 9)
    near = {database: set() for database in universe}
    found = {database: totals(database) for database in universe}
    for database in universe:
        for unit in leaving:
            # the last of the three is the group, which is no owner
            rest = tuple(r for r in database if unit not in r[0][: plan.columns - distinct])
            if rest != database:
                near[database].add(rest)
                near[rest].add(database)
                for place in range(len(plan.grid)):
                    moved = sum(
                        abs(a[place] - b[place]) for a, b in zip(found[database], found[rest], strict=True)
                    )
                    assert moved <= plan.truncation.grid[place]
    choice = plan.truncation.choice
    proof = sd.audit.prove(
        choice_law(choice, answers), universe, lambda d: sorted(near[d]), float(choice.epsilon)
    )
    assert proof.holds, str(proof)
    assert proof.worst_epsilon > 0.3 * float(choice.epsilon)


SIGNED = every_database([(1, 8), (1, 9), (2, 8), (2, 9)], [(0, -4, 1, 4)] * 4)


@cache
def signed_plan():
    return FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2, signed=True)


def read_signed(database):
    return [[o[k] for o, _ in database] for k in range(2)], [w for _, w in database], [0] * len(database)


@cache
def signed_answers(database):
    plan = signed_plan()
    return plan.measure(plan.join_groups(*read_signed(database))).answers


@cache
def signed_totals(database):
    """From the definition: what is there of the positive results, less what is there of the negative ones."""
    parts = ([(o, sign * w) for o, w in database if sign * w > 0] for sign in (1, -1))
    more, less = (
        [truncated_flow(as_results(part), tau) // 1 for tau in signed_plan().grid] for part in parts
    )
    return [int(a - b) for a, b in zip(more, less, strict=True)]


def signed_law(truncation):
    def law(database):
        outcomes, stated = truncation.law(signed_answers(database), signed_totals(database), (-20, 20))
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error, outcomes=outcomes)

    return law


def test_results_with_signs_cost_epsilon_and_the_difference_moves_like_one():
    plan = signed_plan()
    proof = sd.audit.prove(signed_law(plan.truncation), SIGNED, neighbours_in(SIGNED), float(EPSILON))
    assert proof.holds, str(proof)
    assert proof.worst_epsilon > 0.45
    assert plan.truncation.grid == plan.grid  # noise for one limit, not for two
    for database in SIGNED[::7]:
        parts = plan.part_groups(*read_signed(database))
        found = [plan.sum_groups(parts, tau) for tau in plan.grid]
        assert found == [[total] for total in signed_totals(database)]


def test_results_of_three_with_signs_pay_for_the_slack_of_both():
    plain = FlowTruncation.of(epsilon=EPSILON, most=1 << 12, owners=3)
    signed = FlowTruncation.of(epsilon=EPSILON, most=1 << 12, owners=3, signed=True)
    slack = plain.truncation.grid[-1] - plain.grid[-1]
    assert signed.truncation.grid[-1] == signed.grid[-1] + 2 * slack > plain.truncation.grid[-1]


def groups_apart(units_of_groups):
    """All databases of two groups with results between two units each, and the measures of a plan for apart groups."""
    places = [(a, b, g) for g, (one, two) in enumerate(units_of_groups) for a, b in product(one, two)]
    universe = every_database(places, [(0, 3)] * len(places))
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2, groups=2, apart=True)

    def read(database):
        columns = [[result[0][k] for result in database] for k in range(3)]
        return columns[:2], [w for _, w in database], columns[2]

    found = {}
    for database in universe:
        parts = plan.part_groups(*read(database))
        totals = [[bound_within(part, tau) for tau in plan.grid] for part in parts]
        found[database] = plan.measure(plan.join_groups(*read(database))).answers, totals
    near = {database: set() for database in universe}
    for database in universe:
        for unit in {unit for owners, _ in database for unit in owners[:2]}:
            rest = tuple(r for r in database if unit not in r[0][:2])
            near[database].add(rest)
            near[rest].add(database)
    return plan, found, near


def cost_of_apart(plan, found, near):
    """Whether the choice keeps to its ε, and the most that a unit moves both groups in units of what is paid for."""
    choice = plan.truncation.choice
    proof = sd.audit.prove(
        choice_law(choice, lambda d: found[d][0]),
        list(found),
        lambda d: sorted(near[d]),
        float(choice.epsilon),
    )
    moved = max(
        sum(abs(a[place] - b[place]) for a, b in zip(found[d][1], found[o][1], strict=True)) / norm
        for d in found
        for o in near[d]
        for place, norm in enumerate(plan.truncation.grid)
    )
    return proof.holds, moved


def test_groups_apart_each_take_the_whole_budget():
    holds, moved = cost_of_apart(*groups_apart([((1, 2), (8, 9)), ((3,), (6, 7))]))
    assert holds
    assert moved == 1


def test_a_unit_in_both_groups_is_not_apart():
    _, moved = cost_of_apart(*groups_apart([((1, 2), (8, 9)), ((1,), (8, 9))]))
    assert moved == 2  # noise for one limit is too little


@pytest.mark.parametrize("name", ["entities", "self join"])
def test_limit_and_total_together_cost_rho(name):
    rho, universe = Fraction(1, 2), UNIVERSES[name]
    plan = FlowTruncation.of_rho(rho=rho, most=MOST, owners=2)
    near = neighbours_in(universe)

    def worst(truncation):
        logs = {
            database: truncation.law(measured(plan, database).answers, totals(database), (-40, 60))[1]
            for database in universe[::3]
        }
        found = {database: law.log_probabilities for database, law in logs.items()}
        pairs = [(found[d], found[o]) for d in found for o in near(d) if o in found]
        assert len(pairs) > 50
        return max(rho_of(p, q) for p, q in pairs)

    def totals(database):
        return [int(total // 1) for total in measured(plan, database).totals]

    assert 0.5 * rho < worst(plan.truncation) <= rho * (1 + 1e-6)
    wasteful = replace(plan.truncation, noise=GaussianPerLimit(plan.truncation.noise.rho * 3))
    assert worst(wasteful) > rho


# Mutants.


def refuse(law, universe, epsilon=EPSILON):
    assert not sd.audit.prove(law, universe, neighbours_in(universe), float(epsilon)).holds


def test_noise_for_half_a_limit_is_refused():
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2)
    halved = replace(plan.truncation, grid=tuple(Fraction(tau, 2) for tau in plan.grid))
    refuse(joint_law(replace(plan, truncation=halved)), CUSTOMERS_AND_SUPPLIERS)


def test_noise_for_less_than_the_difference_of_signs_is_refused():
    truncation = signed_plan().truncation
    halved = replace(truncation, grid=tuple(Fraction(tau, 2) for tau in truncation.grid))
    refuse(signed_law(halved), SIGNED)


def test_answers_of_both_signs_that_are_not_shared_are_refused():
    """A hub between whose results of either sign nothing stays: it moves the sum of the answers by two."""
    whole = (((1, 8), 4), ((1, 9), 4), ((1, 6), -4), ((1, 7), -4))
    universe, epsilon = close(whole), Fraction(1, 10)
    plan = FlowTruncation.of(epsilon=epsilon, most=MOST, owners=2, signed=True)
    alone = replace(plan, signed=False)

    def answers_by(measuring):
        return lambda database: measuring.measure(plan.join_groups(*read_signed(database))).answers

    choice = plan.truncation.choice
    refuse(choice_law(choice, answers_by(alone)), universe, choice.epsilon)
    law = choice_law(choice, answers_by(plan))
    proof = sd.audit.prove(law, universe, neighbours_in(universe), float(choice.epsilon))
    assert proof.holds, str(proof)


def test_capping_pairs_of_owners_is_refused():
    """A unit with several partners has several caps."""

    def by_pair(plan, database):
        capped = [Fraction(sum(min(w, tau) for _, w in database)) for tau in plan.grid]
        return replace(measured(plan, database), totals=tuple(capped))

    universe = every_database([(1, k) for k in (6, 7, 8, 9)], [(0, 4)] * 4)
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2)
    refuse(joint_law(plan, by_pair), universe)
    assert sd.audit.prove(joint_law(plan), universe, neighbours_in(universe), float(EPSILON)).holds


def choice_law(choice, answers_of):
    def law(database):
        stated = choice.law(answers_of(database))
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error)

    return law


def close(database):
    """The database, and what is left without each of its units, and so on."""
    found, new = set(), {database}
    while new:
        found |= new
        new = {without(d, u) for d in new for owners, _ in d for u in owners} - found
    return sorted(found)


def test_units_above_a_limit_are_refused_where_results_are_shared():
    """Six leaves with 2 of their own and 1 shared with the hub: without the hub nobody is above 2."""
    leaves = range(2, 8)
    universe = close(tuple(((k, k), 2) for k in leaves) + tuple(((1, k), 1) for k in leaves))
    choice = LimitChoice.of((1, 2, 4), epsilon=EPSILON, slope=2)

    def above(database):
        totals = contributions(as_results(database)).values()
        return [units_above(totals, tau) for tau in choice.limits]

    refuse(choice_law(choice, above), universe)


def test_the_calibration_of_answers_that_all_move_one_way_is_refused():
    """A new partner fills the hub at 1, leaves all full at 2, and doubles their worth at 4.

    The gain above 1 falls by half a unit while that above 2 rises by one: 3/2 apart.
    """
    core = (((2, 2), 1), ((3, 3), 1), ((1, 2), 9), ((1, 3), 9), ((4, 4), 2), ((5, 5), 2))
    others = tuple(((k, k), 2) for k in (6, 7, 8))
    partner = (((9, 1), 9), ((9, 4), 9), ((9, 5), 9))
    whole, rest, epsilon = core + others + partner, core + others, Fraction(1, 10)
    plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2)

    def gains(database):
        return list_gains(plan.grid, measured(plan, database).totals)

    assert [a - b for a, b in zip(gains(whole), gains(rest), strict=True)] == [-STEPS // 2, STEPS, 0]
    for spread, holds in ((STEPS, False), (gain_spread(exact=True), True)):
        choice = LimitChoice.of(plan.grid, epsilon=epsilon, slope=2, spread=spread)
        near = {whole: [rest], rest: [whole]}
        proof = sd.audit.prove(choice_law(choice, gains), [whole, rest], near.get, float(epsilon))
        assert proof.holds == holds, str(proof)
