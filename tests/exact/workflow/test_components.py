"""Flags, constants and sums of components against their definitions, on all small metric spaces."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from sordino.workflow import FiniteSpace, LinearSpace
from tests.oracles import components as oracle

PARTITIONS = [rho for rho in oracle.all_partitions(4) if len(rho) > 1]
PAIRS = list(itertools.product(PARTITIONS, repeat=2))
# Two classes of two points each, crossing: where adjacency is to be found among four points.
CROSSING = [
    (rho, sigma) for rho, sigma in PAIRS if {len(one) for one in (*rho, *sigma)} == {2} and rho != sigma
]
METRICS = list(oracle.all_metrics(4, (2, 3, 4)))


def test_all_metrics_on_four_points_are_accepted_and_all_other_matrices_refused():
    pairs = list(itertools.combinations(range(4), 2))
    refused = 0
    for chosen in itertools.product((1, 2, 4), repeat=6):
        matrix = [[0] * 4 for _ in range(4)]
        for (one, other), value in zip(pairs, chosen, strict=True):
            matrix[one][other] = matrix[other][one] = value
        if oracle.is_metric(matrix):
            FiniteSpace(matrix)
        else:
            refused += 1
            with pytest.raises(ValueError, match="triangle inequality fails"):
                FiniteSpace(matrix)
    assert refused > 100


def test_flags_and_constants_are_those_of_the_definitions():
    random.seed(2)
    seen = {"adjacent": 0, "equidistant": 0, "expanding": 0, "complement": 0}
    for metric in random.sample(METRICS, 60):
        space = FiniteSpace(metric)
        for rho, sigma in [*random.sample(PAIRS, 4), *CROSSING[:3]]:
            outputs = [random.randrange(4) for _ in range(4)]
            assert space.adjacent(rho, sigma) == oracle.is_adjacent(metric, rho, sigma)
            assert space.equidistant(rho) == oracle.is_equidistant(metric, rho)
            for kind in ("hausdorff", "max"):
                assert space.expanding(rho, sigma, set_distance=kind) == oracle.is_expanding(
                    metric, rho, sigma, kind
                )
            seen["adjacent"] += space.adjacent(rho, sigma)
            seen["equidistant"] += space.equidistant(rho)
            seen["expanding"] += space.expanding(rho, sigma)
            for kind, distance in itertools.product("ABCD", ("hausdorff", "max")):
                found = space.constants(outputs, rho, kind, distance)
                for own in rho:
                    place = space.component(rho).index(frozenset(own))
                    exactly = oracle.local_constant(metric, outputs, rho, own, kind, distance)
                    assert found.by_class[place] == pytest.approx(float(exactly), rel=1e-15)
                    assert Fraction(found.by_class[place]) >= exactly
                assert found.value == max(found.by_class)
            complements = oracle.all_orthogonal_complements(metric, rho)
            found = space.complement(rho)
            assert (found is None) == (not complements)
            if found is not None:
                seen["complement"] += 1
                assert [set(one) for one in found] in [sorted(one, key=min) for one in complements]
                assert len(found) == max(map(len, complements))  # the finest one
    assert all(count > 10 for count in seen.values()), seen


def test_adjacent_components_add_up_globally_and_locally():
    """Thm 3.13, 3.15, 3.57 and their corollaries, on all metrics of four points with distances 2, 3, 4."""
    random.seed(3)
    sums = {"A": 0, "B": 0, "local A": 0}
    not_adjacent_breaks = 0
    for metric in METRICS:
        for rho, sigma in [*CROSSING, *random.sample(PAIRS, 6)]:
            outputs = [random.randrange(5) for _ in range(4)]
            fine = oracle.meet(rho, sigma)
            one, other, both = (oracle.constant(metric, outputs, part, "A") for part in (rho, sigma, fine))
            if not oracle.is_adjacent(metric, rho, sigma):
                not_adjacent_breaks += both > one + other
                continue
            assert both <= one + other
            sums["A"] += 1
            for own in fine:
                local = oracle.local_constant(metric, outputs, fine, own, "A")
                x = min(own)
                parts = [
                    oracle.local_constant(metric, outputs, part, oracle.class_of(x, part), "A")
                    for part in (rho, sigma)
                ]
                assert local <= sum(parts)
                sums["local A"] += 1
            if oracle.is_expanding(metric, rho, sigma) or (
                oracle.is_equidistant(metric, rho) and oracle.is_equidistant(metric, sigma)
            ):
                one, other, both = (
                    oracle.constant(metric, outputs, part, "B") for part in (rho, sigma, fine)
                )
                assert both <= one + other
                sums["B"] += 1
    assert min(sums.values()) > 100, sums
    assert not_adjacent_breaks > 3  # without adjacency the rule is false, so the check can fail


def test_what_combine_gives_is_never_below_the_direct_constant():
    random.seed(4)
    rules: dict[str, int] = {}
    for metric in random.sample(METRICS, 150):
        space = FiniteSpace(metric)
        for rho, sigma in [*CROSSING[:2], *random.sample(PAIRS, 2)]:
            outputs = [random.randrange(5) for _ in range(4)]
            for kind, distance in itertools.product("ABCD", ("hausdorff", "max")):
                found = space.combine(outputs, rho, sigma, kind, distance)
                exactly = oracle.constant(metric, outputs, oracle.meet(rho, sigma), kind, distance)
                assert Fraction(found.value) >= exactly, (metric, rho, sigma, outputs, kind, distance)
                rule = found.rule.rsplit(": ")[-1] + f" {distance}"
                rules[rule] = rules.get(rule, 0) + 1
    assert min(rules.get(f"adjacent{more} hausdorff", 0) for more in ("", " and equidistant")) > 5, rules


def test_hausdorff_equidistance_is_not_enough_for_max_distance():
    """The print lets the set distance be either; this pair is adjacent and equidistant by Hausdorff distance."""
    metric = [[0, 2, 2, 4], [2, 0, 4, 2], [2, 4, 0, 2], [4, 2, 2, 0]]
    rho, sigma, outputs = [{0, 2}, {1, 3}], [{0, 1}, {2, 3}], [3, 1, 2, 1]
    assert oracle.is_adjacent(metric, rho, sigma)
    assert oracle.is_equidistant(metric, rho)
    assert oracle.is_equidistant(metric, sigma)
    apart = [
        oracle.constant(metric, outputs, part, "B", "max") for part in (rho, sigma, oracle.meet(rho, sigma))
    ]
    assert apart[2] > apart[0] + apart[1]
    space = FiniteSpace(metric)
    assert not space.equidistant(rho, set_distance="max")
    assert space.combine(outputs, rho, sigma, "B", "max").rule.startswith("directly")


def test_equidistant_components_are_expanding():
    """Against Prop. 3.30, whose reason forgets the fixed coordinates."""
    tried = 0
    for metric in METRICS:
        equidistant = [rho for rho in PARTITIONS if oracle.is_equidistant(metric, rho)]
        for rho, sigma in itertools.combinations(equidistant, 2):
            if oracle.is_equidistant(metric, oracle.meet(rho, sigma)):
                tried += 1
                assert oracle.is_expanding(metric, rho, sigma)
    assert tried > 500


def test_classes_under_linear_equations_are_expanding():
    """Prop. 3.30 says that they are not: its distances leave out the coordinates that are fixed."""
    dice = random.Random(9)
    for _ in range(60):
        rows = [[dice.randrange(-3, 4) for _ in range(5)] for _ in range(2)]
        norm = dice.choice([1, 2, math.inf])
        moved = {place: dice.choice([-2, -1, 1, 2]) for place in dice.sample(range(5), 3)}
        try:
            fine = (space := LinearSpace(rows, norm=norm)).class_distance(moved)
        except ValueError:
            continue  # equations that depend on one another, or no such class
        for count in (1, 2):
            for fewer in itertools.combinations(moved, count):
                assert space.class_distance({place: moved[place] for place in fewer}) <= fine + 1e-9
    # with the print's distance, ‖A₁(a − a')‖, the finer class would be nearer: .4 and .3 against |.4 − .3|
    space = LinearSpace([[1, 0.4, 0.3]], norm=1)
    assert space.class_distance({1: 1}) == pytest.approx(1.4)
    assert space.class_distance({1: 1, 2: -1}) == pytest.approx(2.1)


# Linear constraints: whole-number solutions of small systems as a finite space.


SYSTEMS = [
    ([[1, 1, 1]], (1, 2, 3)),
    ([[1, 2, -1]], (3, 1, 1)),
    ([[1, 1, 0, 1], [0, 1, 1, 1]], (1, 5, 2, 3)),
    ([[1, 0, 1, 1], [0, 1, 1, -1]], (2, 1, 4, 1)),
    ([[1, 1, 0, 0], [0, 0, 1, 1]], (2, 3, 1, 7)),
]


def solve(columns, target):
    """Cramer-free elimination in fractions: the only z with Σ z_i column_i = target, or None."""
    rows = [
        [Fraction(column[place]) for column in columns] + [Fraction(target[place])]
        for place in range(len(target))
    ]
    used = 0
    for place in range(len(columns)):
        pivot = next((row for row in rows[used:] if row[place]), None)
        if pivot is None:
            return None  # dependent columns: one of them is not needed
        rows.remove(pivot)
        pivot = [value / pivot[place] for value in pivot]
        rows = [[a - row[place] * b for a, b in zip(row, pivot, strict=True)] for row in rows]
        rows.insert(used, pivot)
        used += 1
    return [row[-1] for row in rows[:used]] if not any(row[-1] for row in rows[used:]) else None


def matches(rows, fixed, moved):
    """All z with A z = 0 and z as given at the fixed places, with as few changes elsewhere as possible."""
    free = [place for place in range(len(rows[0])) if place not in fixed]
    target = [-sum(row[place] * by for place, by in zip(fixed, moved, strict=True)) for row in rows]
    for size in range(len(free) + 1):
        found = []
        for support in itertools.combinations(free, size):
            solved = solve([[row[place] for row in rows] for place in support], target)
            if solved is not None and all(solved):
                found.append(dict(zip((*fixed, *support), (*moved, *solved), strict=True)))
        if found:
            return found
    return []


def worst_match(rows, weights, fixed):
    """The largest Σ of weights of changed coordinates over all matches: the sum that Prop. 3.26 bounds."""
    return max(
        sum(weights[place] for place, by in match.items() if by)
        for moved in itertools.product((-1, 0, 1, 2), repeat=len(fixed))
        if any(moved)
        for match in matches(rows, fixed, moved)
    )


@pytest.mark.parametrize(("rows", "weights"), SYSTEMS)
def test_no_match_changes_more_than_the_bounds_for_matches(rows, weights):
    space = LinearSpace(rows, norm=math.inf)
    better = 0
    for size in range(1, len(weights) - len(rows) + 1):
        for fixed in itertools.combinations(range(len(weights)), size):
            found = space.sensitivity(weights, fixed)
            true = worst_match(rows, weights, fixed)
            printed = found.others["printed, for matches"]
            columns = found.others["independent columns, for matches"]
            assert true <= columns <= printed
            better += columns < printed
    assert better or len(rows) == 1


def test_a_bound_that_forgets_a_column_is_refuted():
    rows, weights = SYSTEMS[2]
    full = LinearSpace(rows, norm=math.inf).sensitivity(weights, [0]).value
    assert worst_match(rows, weights, [0]) > full - max(weights[1:])


@pytest.mark.parametrize("norm", [1, math.inf])
def test_class_distances_are_those_of_a_search(norm):
    """On a grid of half steps, which holds a best point of these systems for ℓ₁ and comes near it for ℓ_∞."""
    for rows, _ in SYSTEMS:
        space = LinearSpace(rows, norm=norm)
        vectors = [
            [value / 2 for value in x]
            for x in itertools.product(range(-4, 5), repeat=len(rows[0]))
            if all(sum(a * v for a, v in zip(row, x, strict=True)) == 0 for row in rows)
        ]
        for place in range(len(rows[0])):
            lengths = [sum(map(abs, z)) if norm == 1 else max(map(abs, z)) for z in vectors if z[place] == 1]
            found = space.class_distance({place: 1})
            assert found <= min(lengths) + 1e-9
            assert norm != 1 or found == pytest.approx(min(lengths))


def test_friends_of_pivot_systems_move_the_output_by_no_more_than_the_pivot_bound():
    """A x = 0 with x₀ = −.4 x₁ − .3 x₂; f = Σ ±c_i x_i is the worst function with these sensitivities."""
    weights, space = (2, 1, 5), LinearSpace([[1, Fraction(2, 5), Fraction(3, 10)]], norm=1)
    assert space.pivots() == (0,)
    for fixed in ([1], [2], [1, 2]):
        found = space.sensitivity(weights, fixed).others["pivots, for friends"]
        worst = 0.0
        for moves in itertools.product((-2, -1, -0.5, 0.5, 1, 2), repeat=len(fixed)):
            z = [0.0, 0.0, 0.0]
            for place, by in zip(fixed, moves, strict=True):
                z[place] = by
            z[0] = -0.4 * z[1] - 0.3 * z[2]
            distance = sum(map(abs, z))
            assert space.class_distance(dict(zip(fixed, moves, strict=True))) == pytest.approx(distance)
            worst = max(worst, sum(c * abs(v) for c, v in zip(weights, z, strict=True)) / distance)
        assert worst <= found + 1e-9
        if len(fixed) == 1:
            assert worst == pytest.approx(found)  # attained, so nothing below it would do
