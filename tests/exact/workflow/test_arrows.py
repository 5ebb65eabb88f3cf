"""The algebra of arrows: the report's Example 3.4, rules on all pairs of small spaces, and false claims refused."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow import (
    Arrow,
    FiniteDistances,
    ListOf,
    Reals,
    Space,
    SumOf,
    TupleOf,
    are_independent,
    coequalise,
    compose,
    declared,
    injection,
    linear,
    list_map,
    list_space,
    pair,
    parallel,
    piecewise_linear,
    product,
    product_space,
    projection,
    sequential,
    sum_space,
    table,
)
from tests.oracles import arrows as oracle

# Example 3.4 of the NAPLES report: distances of X and Y, metrics, and two arrows with one map.
V_X = FiniteDistances(
    [0, 1, 2, 3], zero=0, order=[(0, 1, 2, 3)], add=dict.fromkeys(itertools.product((1, 2, 3), repeat=2), 3)
)
NAMES = ["0", "A", "B", "C1", "C2", "D"]
V_Y = FiniteDistances(
    NAMES,
    zero="0",
    order=[("0", "A", "B", "C1", "D"), ("B", "C2", "D")],
    add={**dict.fromkeys(itertools.product(NAMES[1:], repeat=2), "D"), ("A", "A"): "B"},
)
X = Space.by_table(V_X, ["1_1", "1_2", "2", "3"], [[0, 1, 1, 2], [1, 0, 1, 2], [1, 1, 0, 1], [2, 2, 1, 0]])
Y = Space.by_table(V_Y, ["1", "2", "3"], [["0", "A", "B"], ["A", "0", "A"], ["B", "A", "0"]])
F = {"1_1": "1", "1_2": "1", "2": "2", "3": "3"}
C = [dict(zip((0, 1, 2, 3), ("0", "A", middle, "D"), strict=True)) for middle in ("C1", "C2")]
ARROWS = [Arrow(X, Y, table(c, V_X, V_Y), F.__getitem__) for c in C]


def test_example_3_4_and_its_coequaliser():
    assert V_Y.add(V_Y.add("A", "A"), "A") == "D"
    found = coequalise(*ARROWS)
    assert set(found.distances) == {frozenset(one) for one in (["0"], ["A"], ["B"], ["C1", "C2"], ["D"])}
    assert set(found.points) == {frozenset({name}) for name in "123"}
    assert found.separates
    expected = oracle.least_congruence(NAMES, V_Y.add, V_Y.leq, [("C1", "C2")])
    assert set(found.distances) == expected


def test_a_sensitivity_that_is_too_small_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        Arrow(X, Y, table({0: "0", 1: "A", 2: "A", 3: "D"}, V_X, V_Y), F.__getitem__)
    with pytest.raises(ParameterError, match="monotone"):
        table({0: "0", 1: "B", 2: "A", 3: "D"}, V_X, V_Y)


def chain(top):
    """Whole numbers up to a largest one."""
    names = list(range(top + 1))
    sums = {(a, b): min(a + b, top) for a in names for b in names}
    return FiniteDistances(names, zero=0, order=[names], add=sums)


def test_coequalisers_of_random_maps_are_least_congruences():
    dice = random.Random(1)
    merged = 0
    for _ in range(60):
        source, target = chain(2), chain(4)
        near = Space.by_table(source, ["x", "y"], [[0, 1], [1, 0]])
        points = ["a", "b", "c"]
        line = Space.by_table(target, points, [[abs(i - j) for j in range(3)] for i in range(3)])
        arrows = []
        while len(arrows) < 2:
            image = {name: dice.choice(points) for name in ("x", "y")}
            values = sorted(dice.randrange(5) for _ in range(2))
            try:
                arrows.append(
                    Arrow(
                        near,
                        line,
                        table({0: 0, 1: values[0], 2: values[1]}, source, target),
                        image.__getitem__,
                    )
                )
            except ParameterError:
                continue
        found = coequalise(*arrows)
        together = {(arrows[0].map(x), arrows[1].map(x)) for x in ("x", "y")}
        groups = [{name} for name in points]
        for one, other in together:
            a, b = (next(group for group in groups if name in group) for name in (one, other))
            if a is not b:
                groups.remove(b)
                a |= b
        assert set(found.points) == {frozenset(group) for group in groups}
        pairs = [(arrows[0].sensitivity(u), arrows[1].sensitivity(u)) for u in source.names]
        for one, other in itertools.product(groups, repeat=2):
            apart = [line.metric(x, y) for x in one for y in other]
            pairs += [(apart[0], value) for value in apart]
        assert set(found.distances) == oracle.least_congruence(
            list(target.names), target.add, target.leq, pairs
        )
        merged += len(found.distances) < 5
    assert merged > 10


def test_proposition_3_39_fails_as_printed():
    """1 and 2 are made equal, so sums make all of 1, 2, 3, … equal; a sensitivity that need not keep sums does not."""
    source, target = chain(1), chain(4)
    single = Space.by_table(source, ["x"], [[0]])
    point = Space.by_table(target, ["a"], [[0]])
    arrows = [
        Arrow(single, point, table({0: 0, 1: value}, source, target), {"x": "a"}.__getitem__)
        for value in (1, 2)
    ]
    found = coequalise(*arrows)
    assert set(found.distances) == {frozenset({0}), frozenset({1, 2, 3, 4})}
    # g' with c'(1) = c'(2) ≠ c'(3) makes the two arrows equal too, and does not factor through that
    other = table({0: 0, 1: 2, 2: 2, 3: 3, 4: 4}, target, target)
    loose = Arrow(point, point, other, {"a": "a"}.__getitem__)
    after = [compose(loose, arrow) for arrow in arrows]
    assert all(after[0].sensitivity(u) == after[1].sensitivity(u) for u in source.names)
    assert len({other(u) for u in (1, 2, 3, 4)}) > 1
    # and a distance made equal to 0 leaves a pseudometric
    two = Space.by_table(target, ["a", "b"], [[0, 1], [1, 0]])
    near = [
        Arrow(single, two, table({0: 0, 1: value}, source, target), {"x": "a"}.__getitem__)
        for value in (0, 1)
    ]
    zeroed = coequalise(*near)
    assert not zeroed.separates


def test_tables_that_are_no_distances_are_refused():
    for names, order, add, message in [
        ([0, 1], [(0, 1)], {}, "must be one of the distances"),
        ([0, 1, 2], [(0, 1), (0, 2)], {(1, 1): 2, (1, 2): 1, (2, 2): 1}, "associative|with .* added"),
        ([0, 1], [(1, 0)], {(1, 1): 1}, "zero must be below"),
        ([0, 1, 2], [(0, 1, 2), (2, 1)], dict.fromkeys([(1, 1), (1, 2), (2, 2)], 2), "each below the other"),
        ([0, 1], [(0, 3)], {(1, 1): 1}, "names 3"),
    ]:
        with pytest.raises(ParameterError, match=message):
            FiniteDistances(names, zero=0, order=order, add=add)


def test_spaces_that_are_none_are_refused_with_their_points():
    for rows, message in [
        ([[0, 1], [2, 0]], "the other way"),
        ([[0, 0], [0, 0]], "exactly where they are equal"),
    ]:
        with pytest.raises(ParameterError, match=message):
            Space.by_table(Reals(), ["a", "b"], rows)
    with pytest.raises(ParameterError, match="from 'a' to 'c' by way of 'b'"):
        Space.by_table(Reals(), ["a", "b", "c"], [[0, 1, 5], [1, 0, 1], [5, 1, 0]])


def line(count):
    return Space(Reals(), tuple(range(count)), lambda x, y: abs(x - y))


def exact_slope(space, metric, function):
    return max(
        Fraction(abs(function(x) - function(y))) / Fraction(metric(x, y))
        for x, y in itertools.permutations(space, 2)
    )


def test_products_sums_and_lists_are_spaces_and_their_arrows_hold():
    """Axioms of composed spaces follow from those of their parts; here they are checked once more, on all points."""
    short = line(3)
    both = product_space(short, short)
    for space in (both, sum_space(short, line(2)), list_space(short, 2)):
        Space(space.distances, space.points, space.metric)
    assert len(both.points) == 9
    assert both.metric((0, 0), (2, 1)) == (2, 1)
    either = sum_space(short, line(2))
    assert either.metric((0, 0), (1, 0)) == math.inf
    assert either.metric((0, 0), (0, 2)) == (0, 2)
    lists = list_space(short, 2)
    assert len(lists.points) == 13
    assert lists.metric((0, 1), (2, 1)) == (2, 0)
    assert lists.metric((0,), (0, 1)) == math.inf
    double = Arrow(short, line(5), linear(2), lambda x: 2 * x)
    assert pair(double, double).map(2) == (4, 4)
    assert product(double, double).sensitivity((1, 2)) == (2, 4)
    assert projection(1, short, short).map((0, 2)) == 2
    assert injection(1, short, line(2)).map(1) == (1, 1)
    assert list_map(double, 2).sensitivity((1, 0)) == (2, 0)
    assert compose(Arrow(line(5), line(9), linear(2), lambda x: 2 * x), double).sensitivity.weights == (4,)
    with pytest.raises(UnsupportedError, match="0 at 0"):
        list_map(Arrow(short, line(5), declared(lambda v: v + 1)), 2)


@pytest.mark.parametrize(
    "distances",
    [TupleOf((Reals(), Reals())), SumOf((Reals(), Reals())), ListOf(Reals())],
    ids=lambda one: type(one).__name__,
)
def test_composed_distances_satisfy_the_axioms(distances):
    values = {
        TupleOf: list(itertools.product((0, 1, 2), repeat=2)),
        SumOf: [0, math.inf, (0, 1), (0, 2), (1, 1), (1, 3)],
        ListOf: [0, math.inf, (1,), (2,), (1, 0), (0, 1), (1, 1)],
    }[type(distances)]
    zero, add, leq = distances.zero, distances.add, distances.leq
    for a, b, c in itertools.product(values, repeat=3):
        assert add(a, b) == add(b, a)
        assert add(add(a, b), c) == add(a, add(b, c))
        assert add(a, zero) == a
        assert leq(zero, a)
        assert leq(a, a)
        assert not (leq(a, b) and leq(b, a)) or a == b
        assert not (leq(a, b) and leq(b, c)) or leq(a, c)
        assert not leq(a, b) or leq(add(a, c), add(b, c))


def test_sequential_composition_holds_for_random_maps():
    dice = random.Random(2)
    numbers = line(7)
    for _ in range(40):
        f = {x: dice.randrange(4) for x in range(3)}
        g = {(x, z): dice.randrange(7) for x in range(3) for z in range(7)}
        short = line(3)
        slope = exact_slope(range(3), lambda x, y: abs(x - y), f.__getitem__)
        first = max(
            Fraction(abs(g[x, z] - g[y, z]), abs(x - y))
            for x in range(3)
            for y in range(3)
            for z in range(7)
            if x != y
        )
        second = max(
            Fraction(abs(g[x, z] - g[x, w]), abs(z - w))
            for x in range(3)
            for z in range(7)
            for w in range(7)
            if z != w
        )
        # Arrow checks the inequality on all pairs: a rule that gave too little would raise
        found = sequential(
            Arrow(short, numbers, linear(slope), f.__getitem__),
            Arrow(numbers, numbers, linear(1), lambda y: y),
            Arrow(product_space(short, numbers), numbers, linear(first, second), g.__getitem__),
        )
        assert found.sensitivity.weights == (first + second * slope,)
    half, again = (
        Arrow(numbers, numbers, linear(Fraction(1, 2))),
        Arrow(product_space(numbers, numbers), numbers, linear(0.3, 1)),
    )
    assert sequential(half, Arrow(numbers, numbers, linear(1)), again).sensitivity.weights == (
        Fraction(4, 5),
    )


def square(norm):
    points = list(itertools.product(range(3), repeat=2))

    def metric(x, y):
        moved = (abs(x[0] - y[0]), abs(x[1] - y[1]))
        return sum(moved) if norm == 1 else max(moved)

    return Space(Reals(), tuple(points), metric)


ROWS = [{(a, b) for b in range(3)} for a in range(3)]
COLUMNS = [{(a, b) for a in range(3)} for b in range(3)]


def test_independence_is_that_of_the_definition():
    for norm, expected in ((1, True), (math.inf, False)):
        space = square(norm)
        assert are_independent(space, ROWS, COLUMNS) is expected
        found = all(
            oracle.joined(space.points, space.metric, ROWS, COLUMNS, x, y, 2)
            or oracle.joined(space.points, space.metric, COLUMNS, ROWS, x, y, 2)
            for x, y in itertools.product(space.points, repeat=2)
        )
        assert found is expected


def parts_of(dice, norm):
    """f looks at the second coordinate only, g at the first and at what f made."""
    space, numbers = square(norm), line(9)
    by_second = [dice.randrange(4) for _ in range(3)]
    by_first = [dice.randrange(4) for _ in range(3)]
    f_slope = exact_slope(range(3), lambda x, y: abs(x - y), by_second.__getitem__)
    g_slope = exact_slope(range(3), lambda x, y: abs(x - y), by_first.__getitem__)
    f = Arrow(space, numbers, linear(f_slope), lambda x: by_second[x[1]])
    a = Arrow(numbers, numbers, linear(1), lambda y: y)
    g = Arrow(product_space(space, numbers), Space(Reals(), tuple(range(20)), lambda x, y: abs(x - y)),
              linear(g_slope, 1), lambda x: by_first[x[0][0]] + x[1])  # fmt: skip
    return f, a, g, max(f_slope, g_slope), f_slope + g_slope


def test_parallel_composition_costs_the_larger_of_both():
    """Prop. 3.36: f ignores rows of equal second coordinate, g columns; Arrow checks every pair of points."""
    dice = random.Random(3)
    for _ in range(12):
        f, a, g, larger, both = parts_of(dice, 1)
        found = parallel(f, a, g, rho=COLUMNS, sigma=ROWS)
        assert found.sensitivity.weights == (larger,)
        # under ℓ_∞ the parts are not independent, and the sum is what can be attained
        f, a, g, larger, both = parts_of(dice, math.inf)
        with pytest.raises(ParameterError, match="not independent"):
            parallel(f, a, g, rho=COLUMNS, sigma=ROWS)
        loose = [Arrow(Space(Reals()), Space(Reals()), arrow.sensitivity) for arrow in (f, a)]
        loose_g = Arrow(product_space(Space(Reals()), Space(Reals())), Space(Reals()), g.sensitivity)
        found = parallel(*loose, loose_g, independent="coordinates", norm=math.inf)
        assert found.sensitivity.weights == (both,)
        h = lambda x, f=f, g=g: g.map((x, f.map(x)))  # noqa: E731
        assert exact_slope(f.domain.points, f.domain.metric, h) <= both


def test_the_larger_of_both_is_too_little_under_another_norm():
    """h(x) = x₁ + x₂ under ℓ_∞ moves by 2 where both parts move by 1."""
    space = square(math.inf)
    with pytest.raises(ParameterError, match="too small"):
        Arrow(space, line(9), linear(1), lambda x: x[0] + x[1])


def test_parallel_composition_refuses_what_it_cannot_check():
    f, a, g, larger, _ = parts_of(random.Random(5), 1)
    with pytest.raises(ParameterError, match="f does not ignore rho"):
        parallel(f, a, g, rho=ROWS, sigma=COLUMNS)
    with pytest.raises(ParameterError, match="rho and sigma"):
        parallel(f, a, g)
    with pytest.raises(ParameterError, match="exactly one class"):
        parallel(f, a, g, rho=COLUMNS[:2], sigma=ROWS)
    concave = piecewise_linear([(0, 0), (1, 9)], larger + 1)
    with pytest.raises(UnsupportedError, match="superadditive"):
        parallel(f, a, g, rho=COLUMNS, sigma=ROWS, sensitivity=concave)
    convex = piecewise_linear([(0, 0), (1, larger)], 2 * larger)
    assert parallel(f, a, g, rho=COLUMNS, sigma=ROWS, sensitivity=convex).sensitivity is convex
    with pytest.raises(ParameterError, match="below a branch"):
        parallel(f, a, g, rho=COLUMNS, sigma=ROWS, sensitivity=linear(larger / 2))
    free = Arrow(Space(Reals()), Space(Reals()), linear(1))
    with pytest.raises(ParameterError, match="a reason why"):
        parallel(free, free, Arrow(product_space(free.domain, free.domain), free.domain, linear(1, 1)))


def test_flags_of_piecewise_linear_maps_are_those_of_a_grid():
    dice = random.Random(7)
    seen = {"concave": 0, "superadditive": 0, "neither": 0}
    for _ in range(150):
        corners = [(0, dice.choice([0, 0, 1]))]
        for place in range(1, dice.randint(1, 3) + 1):
            corners.append((place, corners[-1][1] + dice.randrange(4)))
        found = piecewise_linear(corners, dice.randrange(4))
        grid = [Fraction(step, 2) for step in range(13)]
        superadditive = all(found(u + v) >= found(u) + found(v) for u in grid for v in grid)
        concave = all(found((u + v) / 2) >= (found(u) + found(v)) / 2 for u in grid for v in grid)
        assert ("superadditive" in found.flags) == superadditive
        assert ("concave" in found.flags) == concave
        assert not (superadditive and concave and found(0) == 0) or "linear" in found.flags
        seen["concave"] += concave
        seen["superadditive"] += superadditive
        seen["neither"] += not (concave or superadditive)
    assert min(seen.values()) > 10, seen


def test_concave_and_superadditive_are_two_things():
    """The print says that concavity generalises superadditivity."""
    convex, concave = piecewise_linear([(0, 0), (1, 1)], 3), piecewise_linear([(0, 0), (1, 3)], 1)
    assert "superadditive" in convex.flags
    assert "concave" not in convex.flags
    assert "concave" in concave.flags
    assert "superadditive" not in concave.flags
    with pytest.raises(ParameterError, match="monotone"):
        piecewise_linear([(0, 0), (1, 2), (2, 1)], 0)
    with pytest.raises(ParameterError, match="flags are"):
        declared(abs, flags=["convex"])
