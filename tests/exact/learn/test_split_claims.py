"""What is claimed of split criteria, against walks over all small tables: the formulas live only in this file."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.oracles import local_sensitivity, trees
from tests.oracles.test_oracles import agrees, golden
from tests.oracles.universe import contingency_tables, histograms, histograms_replace

SHAPES = [((2, 2), 8), ((1, 2), 10), ((1, 3), 8), ((1, 4), 5), ((2, 3), 4), ((3, 2), 4)]
FARTHEST = 5


def entropy_step(x: int) -> float:
    """f(x) = (x+1) log2(x+1) - x log2 x."""
    return (x + 1) * math.log2(x + 1) - (x * math.log2(x) if x else 0.0)


def information_gain_at(table: trees.Table, t: int) -> float:
    """The specification's closed form: cells (a, b) of all public values and classes; needs two classes."""

    def cell(a: int, b: int) -> float:
        if b == 0:
            return entropy_step(a + t)
        i = min(b - 1, t) if a + t >= 2 * b else 0
        return entropy_step(a + t - 2 * i - 1) - entropy_step(b - i - 1)

    return max(cell(sum(counts), b) for counts in table for b in counts)


def gini_jump(b: int, others: list[int]) -> float:
    """|change of u| when a row joins b rows of its class, beside `others` of its value: ((a-b)² + Σ τ²) / (a(a+1))."""
    a = b + sum(others)
    return (sum(others) ** 2 + sum(n * n for n in others)) / (a * (a + 1)) if a else 0.0


def gini_walks(b: int, others: list[int], t: int) -> set[tuple[int, int]]:
    """(i, r): rows taken from the cell's own class and from the smallest other classes; t - i - r join the largest.

    The root of the jump is a norm of an affine map over a concave function, so its largest value sits at a corner of
    every piece on which the map is affine: where i is 0 or all but one, r empties whole classes, or nothing is left.
    """
    own = max(b - 1, 0)
    emptied = list(itertools.accumulate(sorted(others)[:-1], initial=0))
    corners = set(itertools.product((0, own), emptied))
    corners |= {(i, t - i) for i in (0, own)} | {(t - r, r) for r in emptied}
    return {(i, r) for i, r in corners if 0 <= i <= own and 0 <= r <= emptied[-1] and i + r <= t}


def gini_cell_at(b: int, others: list[int], t: int, walks: set[tuple[int, int]] | None = None) -> float:
    best = 0.0
    for i, r in gini_walks(b, others, t) if walks is None else walks:
        left, rest = r, []
        for n in sorted(others):
            taken = min(n, left)
            left -= taken
            rest.append(n - taken)
        rest[-1] += t - i - r
        best = max(best, gini_jump(b - 1 - i if b else 0, rest))
    return best


def gini_at(table: trees.Table, t: int) -> float:
    """The exact element local sensitivity of gini, for two classes or more."""
    cells = ((counts, c) for counts in table for c in range(len(counts)))
    return max(gini_cell_at(counts[c], [*counts[:c], *counts[c + 1 :]], t) for counts, c in cells)


def gini_merged_at(table: trees.Table, t: int) -> float:
    """The same with a cell's other classes merged into one: exact for two classes, a bound for more.

    The walk is that of information gain, with 2x/(x+1) in the place of f(x) once the cell is down to its last row.
    """

    def cell(a: int, b: int) -> float:
        if b == 0:
            return 2 - 2 / (a + t + 1)
        i = min(b - 1, t) if a + t >= 2 * b else 0
        rest, rows = a - b + t - i, a + t - 2 * i
        return 2 * rest**2 / (rows * (rows - 1)) if rest else 0.0

    return max(cell(sum(counts), b) for counts in table for b in counts)


STATED = {"information_gain": information_gain_at, "gini": gini_at, "max_operator": lambda table, t: 1.0}
GLOBAL = {
    "information_gain": lambda rows: entropy_step(rows - 1),
    "gini": lambda rows: 2 - 2 / rows,
    "max_operator": lambda rows: 1.0,
}


def profiles(stated, tables, farthest=FARTHEST) -> np.ndarray:
    return np.array([[stated(table, t) for t in range(farthest + 1)] for table in tables])


@pytest.mark.parametrize("name", sorted(trees.UTILITIES))
def test_utilities_agree_with_the_goldens(name):
    entry = golden("trees", name)
    assert agrees(float(trees.UTILITIES[name](entry["inputs"]["table"])), entry)


@pytest.mark.parametrize("name", sorted(STATED))
@pytest.mark.parametrize(("shape", "rows"), SHAPES)
def test_stated_profiles_are_exact_where_rows_are_unlimited(name, shape, rows):
    tables, local = trees.reaching(shape, rows, name, FARTHEST)
    np.testing.assert_allclose(profiles(STATED[name], tables), local, atol=1e-12)


@pytest.mark.parametrize("name", sorted(trees.UTILITIES))
def test_the_walk_over_a_universe_agrees_with_the_ball_around_one_table(name):
    utility, limit = trees.UTILITIES[name], 5
    universe, _, local = trees.table_sensitivity((2, 2), limit, name, 2)
    for i, table in enumerate(universe.databases):
        for t in range(3):
            assert trees.ball_sensitivity(table, utility, t, limit) == pytest.approx(local[i, t], abs=1e-12)


@pytest.mark.parametrize("name", sorted(STATED))
@pytest.mark.parametrize(("shape", "rows"), [((2, 2), 6), ((1, 3), 6), ((2, 3), 4)])
def test_the_smaller_of_stated_profile_and_global_sensitivity_is_admissible_under_a_row_limit(
    name, shape, rows
):
    universe, utility, local = trees.table_sensitivity(shape, rows, name, FARTHEST)
    capped = np.minimum(profiles(STATED[name], universe.databases), GLOBAL[name](rows))
    assert local_sensitivity.is_admissible(universe, utility[:, None], capped[:, :, None], tolerance=1e-12)
    assert local.max() == pytest.approx(GLOBAL[name](rows), abs=1e-12)
    below = np.add.outer([sum(map(sum, x)) for x in universe.databases], np.arange(FARTHEST + 1)) < rows
    np.testing.assert_allclose(capped[below], local[below], atol=1e-12)
    if name != "max_operator":
        late = np.concatenate([capped[:, :1], capped[:, :-1]], axis=1)
        for mutant in (0.99 * capped, late):
            assert not local_sensitivity.is_admissible(universe, utility[:, None], mutant[:, :, None])
    # at the limit itself rows can only leave: no closed form above sees it, and none needs to
    assert (capped > local + 1e-9).any()


@pytest.mark.parametrize("name", ["information_gain", "gini"])
def test_with_one_class_the_utility_is_zero_and_the_stated_profile_only_a_bound(name):
    tables, local = trees.reaching((2, 1), 4, name, FARTHEST)
    assert not local.any()
    assert information_gain_at(tables[0], 3) == entropy_step(3)


def test_merged_classes_bound_gini_and_are_exact_for_two():
    for (shape, rows), tolerance in zip(SHAPES, (1e-12, 1e-12, 0.45, 0.51, 0.41, 1e-12), strict=True):
        tables, local = trees.reaching(shape, rows, "gini", FARTHEST)
        excess = profiles(gini_merged_at, tables) - local
        assert excess.min() > -1e-12
        assert excess.max() < tolerance
    universe, utility, _ = trees.table_sensitivity((1, 3), 6, "gini", FARTHEST)
    merged = np.minimum(profiles(gini_merged_at, universe.databases), GLOBAL["gini"](6))
    assert local_sensitivity.is_admissible(universe, utility[:, None], merged[:, :, None], tolerance=1e-12)


def test_corner_walks_reach_what_all_walks_reach_for_larger_cells():
    rng = np.random.default_rng(3)
    for _ in range(400):
        others = rng.integers(0, rng.integers(2, 25), size=rng.integers(1, 5)).tolist()
        b, t = int(rng.integers(0, 15)), int(rng.integers(0, 20))
        spare = sum(others) - max(others)
        everything = {(i, r) for i in range(min(max(b - 1, 0), t) + 1) for r in range(min(t - i, spare) + 1)}
        found, best = gini_cell_at(b, others, t), gini_cell_at(b, others, t, everything)
        assert found == pytest.approx(best, abs=1e-12)


def test_closed_form_of_information_gain_holds_for_larger_cells():
    step = np.array([entropy_step(x) for x in range(120)])
    for a, t in itertools.product(range(0, 31, 3), range(0, 31, 3)):
        for b in range(a + 1):
            own, rest = np.meshgrid(np.arange(a + t + 1), np.arange(a + t + 1), indexing="ij")
            near = np.abs(own - b) + np.abs(rest - (a - b)) <= t
            own, rest = own[near], rest[near]
            joins = step[own + rest] - step[own]
            leaves = np.where(own > 0, step[own + rest - 1] - step[own - 1], 0)
            i = min(b - 1, t) if a + t >= 2 * b else 0
            stated = entropy_step(a + t - 2 * i - 1) - entropy_step(b - i - 1) if b else entropy_step(a + t)
            assert stated == pytest.approx(max(joins.max(), leaves.max()), abs=1e-9)


def test_closed_form_of_gini_for_two_classes_holds_for_larger_cells():
    for a, t in itertools.product(range(0, 25, 2), range(0, 25, 2)):
        for b in range(a + 1):
            best = max(
                gini_cell_at(own, [a - own], t, {(i, 0) for i in range(min(max(own - 1, 0), t) + 1)})
                for own in (b, a - b)
            )
            assert gini_merged_at(((b, a - b),), t) == pytest.approx(best, abs=1e-12)


def test_walks_that_take_rows_from_other_classes_matter_for_gini():
    entry = golden("trees", "gini_by_removal")
    table, t = tuple(map(tuple, entry["inputs"]["table"])), entry["inputs"]["t"]
    by_adding = gini_cell_at(table[0][0], list(table[0][1:]), t, {(0, 0)})
    exact = trees.ball_sensitivity(table, trees.gini, t)
    assert agrees([by_adding, exact], entry)
    assert gini_at(table, t) == pytest.approx(exact, abs=1e-15)


@pytest.mark.parametrize("name", ["information_gain", "gini"])
def test_global_sensitivities_agree_with_the_goldens(name):
    entry = golden("trees", f"{name}_global")
    found = []
    for rows in entry["inputs"]["max_rows"]:
        universe, utility, _ = trees.table_sensitivity((2, 2), rows, name, 0)
        found.append(local_sensitivity.global_sensitivity(universe, utility))
    assert agrees(found, entry)
    if name == "information_gain":  # the print's bound, N bounding the smaller neighbour
        assert all(entropy_step(n) <= math.log2(n + 1) + 1 / math.log(2) for n in (*range(100), 45222))


@pytest.mark.parametrize(("name", "sign"), [("information_gain", -1), ("gini", -1), ("max_operator", 1)])
def test_a_new_row_moves_every_utility_one_way_only(name, sign):
    for shape, rows in (((2, 2), 6), ((2, 3), 4), ((3, 2), 4)):
        universe, utility, _ = trees.table_sensitivity(shape, rows, name, 0)
        size = [sum(map(sum, table)) for table in universe.databases]
        grown = [(x, y) for x, y in universe.pairs() if size[y] > size[x]]
        assert all(sign * (utility[y] - utility[x]) >= -1e-12 for x, y in grown)


@pytest.mark.parametrize("name", sorted(trees.UTILITIES))
def test_attributes_of_the_same_rows_are_as_sensitive_as_their_own_tables(name):
    values, classes, rows = (2, 3), 2, 4
    universe = trees.joint_rows(values, classes, rows)
    utility = np.array([trees.attribute_scores(x, values, classes, name) for x in universe.databases])
    joint = trees.walk_sensitivity(universe, utility, FARTHEST)
    for attribute, size in enumerate(values):
        alone, _, local = trees.table_sensitivity((size, classes), rows, name, FARTHEST)
        for i, x in enumerate(universe.databases):
            table = trees.attribute_tables(x, values, classes)[attribute]
            np.testing.assert_allclose(
                joint[i, :, attribute],
                local[alone.position[tuple(map(tuple, table.tolist()))]],
                atol=1e-12,
            )


@pytest.mark.parametrize("replace", [False, True])
def test_margin_of_the_largest_label_count_is_the_number_of_changes_until_another_wins(replace):
    for cells, rows in ((2, 8), (3, 7), (4, 5)):
        universe = (histograms_replace if replace else histograms)(cells, rows)
        counts = universe.table(list)
        winners = local_sensitivity.winners(counts)
        changes = local_sensitivity.changes_to_lose(universe, counts)
        for x, w, q in zip(universe.databases, winners, changes, strict=True):
            margin = min(x[w] - x[s] + (w < s) for s in range(cells) if s != w)
            if replace:
                assert q == -(-margin // 2)
            elif sum(x) + margin <= rows:  # further up the cut keeps rows from joining
                assert q == margin
            else:
                assert q >= margin


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("values", "rows"), [((2, 2), 5), ((2, 3), 4)])
def test_margin_of_the_max_operator_never_exceeds_the_changes_until_another_attribute_wins(
    values, rows, replace
):
    universe = trees.joint_rows(values, 2, rows, replace=replace)
    utility = np.array([trees.attribute_scores(x, values, 2, "max_operator") for x in universe.databases])
    winners = local_sensitivity.winners(utility)
    changes = local_sensitivity.changes_of_value(universe, winners)
    margin = utility[np.arange(len(winners)), winners] - utility[np.arange(len(winners)), 1 - winners]
    margin += winners == 0
    bound = np.ceil(margin / 2) if replace else margin
    assert (bound <= changes).all()
    assert (bound == changes).any()
    assert not (bound + 1 <= changes).all()


def test_max_operator_moves_by_at_most_one_when_a_row_is_replaced():
    universe = contingency_tables((2, 2), 6, replace=True)
    utility = universe.table(trees.max_operator)
    moved = [utility[y] - utility[x] for x, y in universe.pairs()]
    assert (min(moved), max(moved)) == (-1, 1)
