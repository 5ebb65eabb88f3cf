"""Every split criterion over all small tables: scores, profiles, gaps, global sensitivity, and mutants to refuse."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sordino.audit import check_profile
from sordino.learn.criteria import CRITERIA
from sordino.mechanisms.selection.scores import grid_step
from tests.exact.learn.test_split_claims import entropy_step
from tests.oracles import local_sensitivity, trees
from tests.oracles.test_oracles import agrees, golden
from tests.oracles.universe import from_moves

NAMES = sorted(trees.UTILITIES)
SHAPES = [((2, 2), 6), ((1, 2), 9), ((1, 3), 6), ((2, 3), 4), ((3, 2), 4)]
FARTHEST = 7
ROUNDING = 1e-5  # of scores and profiles, to a public grid of 2⁻²² or finer


def as_array(table) -> np.ndarray:
    return np.array(table, dtype=np.int64)


@cache
def score(name, table, max_rows) -> float:
    return float(CRITERIA[name].scores([as_array(table)], max_rows)[0])


@cache
def profile(name, table, max_rows):
    return CRITERIA[name].profile([as_array(table)], max_rows)


def column(given, farthest=FARTHEST) -> np.ndarray:
    """δ(0..farthest) of the only candidate."""
    return np.array([float(np.broadcast_to(given.at(t), (1,))[0]) for t in range(farthest + 1)])


class Table:
    """A profile given by its values, for mutants."""

    def __init__(self, values):
        self.values = values

    def at(self, t):
        return float(self.values[t])


def checked(name, universe, profile_of, max_rows, horizon=FARTHEST):
    """Without any tolerance: scores and profiles are whole numbers of a power of two."""
    return check_profile(
        profile_of,
        universe.databases,
        universe.neighbours,
        lambda table: score(name, table, max_rows),
        horizon=horizon,
        tolerance=0.0,
    )


def test_criteria_are_the_three_that_are_proved_here():
    assert sorted(CRITERIA) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "rows"), SHAPES)
def test_scores_follow_their_definitions(name, shape, rows):
    universe, utility, _ = trees.table_sensitivity(shape, rows, name, 0)
    found = [score(name, table, rows) for table in universe.databases]
    np.testing.assert_allclose(found, utility, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_with_different_numbers_of_values_are_scored_together(name):
    values, classes, rows = (2, 3), 2, 3
    for x in trees.joint_rows(values, classes, rows, fewest=1).databases:
        tables = trees.attribute_tables(x, values, classes)
        found = CRITERIA[name].scores(tables, rows)
        assert found.dtype == np.float64
        expected = trees.attribute_scores(x, values, classes, name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)
        together = CRITERIA[name].profile(tables, rows)
        alone = [CRITERIA[name].profile([table], rows) for table in tables]
        for t in range(FARTHEST + 1):
            expected = np.concatenate([np.broadcast_to(one.at(t), (1,)) for one in alone])
            assert np.broadcast_to(together.at(t), (2,)).tolist() == expected.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_scores_agree_with_the_goldens(name):
    entry = golden("trees", name)
    found = CRITERIA[name].scores([as_array(entry["inputs"]["table"])], 6)[0]
    assert agrees(found, entry | {"tolerance": ROUNDING})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "rows"), SHAPES)
def test_profiles_are_admissible_and_dominate_the_element_sensitivity_at_every_distance(name, shape, rows):
    universe, _, local = trees.table_sensitivity(shape, rows, name, FARTHEST)
    verdict = checked(name, universe, lambda table: profile(name, table, rows), rows)
    assert verdict.holds, str(verdict)
    given = np.array([column(profile(name, table, rows)) for table in universe.databases])
    rounded = np.array([score(name, table, rows) for table in universe.databases])
    assert (given >= trees.walk_sensitivity(universe, rounded, FARTHEST)[:, :, 0]).all()
    assert (given >= local - ROUNDING).all()
    assert (given <= CRITERIA[name].sensitivity(rows)).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "rows"), SHAPES)
def test_profiles_are_exact_as_long_as_the_row_limit_is_out_of_reach(name, shape, rows):
    if name == "gini" and shape[1] > 2:
        pytest.skip("gini's profile is an upper bound for more than two classes")
    universe, _, local = trees.table_sensitivity(shape, rows, name, FARTHEST)
    for i, table in enumerate(universe.databases):
        reach = max(0, rows - sum(map(sum, table)))
        given = column(profile(name, table, rows))[:reach]
        np.testing.assert_allclose(given, local[i, :reach], rtol=0, atol=5e-8)


@pytest.mark.parametrize("name", NAMES)
def test_profiles_of_attributes_are_admissible_over_all_small_data_sets(name):
    values, classes, rows = (2, 3), 2, 3
    universe = trees.joint_rows(values, classes, rows)

    def tables(x):
        return trees.attribute_tables(x, values, classes)

    verdict = check_profile(
        lambda x: CRITERIA[name].profile(tables(x), rows),
        universe.databases,
        universe.neighbours,
        lambda x: CRITERIA[name].scores(tables(x), rows),
        horizon=FARTHEST,
        tolerance=0.0,
    )
    assert verdict.holds, str(verdict)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [2, 5, 40])
def test_gap_is_the_sum_of_what_the_profile_leaves_below_its_bound(name, rows):
    for table in [((0, 0), (0, 0)), ((1, 1), (0, 0)), ((2, 0), (0, 0)), ((3, 1), (1, 0)), ((12, 3), (5, 7))]:
        if sum(map(sum, table)) > rows:
            continue
        given = profile(name, table, rows)
        missing = given.bound - column(given, 6 * rows)
        assert missing[-1] == 0
        assert np.broadcast_to(given.gap(), (1,))[0] == missing.sum()
        step = grid_step(given, None)
        assert given.gap_on_grid(step)[0] * step == missing.sum()


def test_gaps_of_many_attributes_at_once_are_sums_over_all_distances():
    rng = np.random.default_rng(11)
    for _ in range(200):
        max_rows, classes = int(rng.integers(1, 60)), int(rng.integers(2, 5))
        rows = int(rng.integers(0, max_rows + 1))
        labels = rng.choice(classes, size=rows, p=rng.dirichlet(np.full(classes, 0.4)))
        tables = []
        for size in rng.integers(1, 5, size=3):
            tables.append(np.zeros((size, classes), dtype=np.int64))
            cells = rng.choice(size, size=rows, p=rng.dirichlet(np.full(size, 0.4)))
            np.add.at(tables[-1], (cells, labels), 1)
        given = CRITERIA["information_gain"].profile(tables, max_rows)
        step = grid_step(given, None)
        missing = sum(given.bound - given.at(t) for t in range(2 * max_rows + 2))
        assert (given.gap_on_grid(step) * step).tolist() == missing.tolist() == given.gap().tolist()
        assert (given.at(2 * max_rows + 2) == given.bound).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [2, 3, 6])
def test_global_sensitivity_bounds_every_move_of_a_score_within_the_row_limit(name, rows):
    universe = trees.table_sensitivity((2, 2), rows, name, 0)[0]
    rounded = np.array([score(name, table, rows) for table in universe.databases])
    moved = local_sensitivity.global_sensitivity(universe, rounded)
    stated = CRITERIA[name].sensitivity(rows)
    assert stated == profile(name, universe.databases[0], rows).bound
    if name == "gini":
        assert moved <= stated <= 2  # the supremum over all row limits
    else:
        assert stated == moved


def test_global_sensitivity_agrees_with_the_goldens():
    entry = golden("trees", "information_gain_global")
    limits = [rows for rows in entry["inputs"]["max_rows"] if rows > 1]  # one row moves nothing
    found = [CRITERIA["information_gain"].sensitivity(rows) for rows in limits]
    assert agrees(found, entry | {"value": entry["value"][1:], "tolerance": ROUNDING})


@pytest.mark.parametrize("name", NAMES)
def test_criteria_say_monotone_only_if_a_new_row_moves_all_scores_one_way(name):
    for shape, rows in SHAPES:
        universe = trees.table_sensitivity(shape, rows, name, 0)[0]
        size = [sum(map(sum, table)) for table in universe.databases]
        scores = [score(name, table, rows) for table in universe.databases]
        moved = [scores[y] - scores[x] for x, y in universe.pairs() if size[y] > size[x]]
        assert CRITERIA[name].monotone == (min(moved) >= 0 or max(moved) <= 0)


# -- mutants -------------------------------------------------------------------------------------------------------


def recurrence(table, farthest, *, stop_at_rows):
    """LD Algorithm 5, with the print's stop `a < τ` or without it, and the running maximum of h."""

    def h(a, b):
        joins = entropy_step(a) - entropy_step(b)
        return max(joins, entropy_step(a - 1) - entropy_step(b - 1)) if b else joins

    rows = sum(map(sum, table))
    pairs = {(sum(counts), b) for counts in table for b in counts}
    values = [max(h(a, b) for a, b in pairs)]
    for _ in range(farthest):
        fewer = {(a - 1, b - 1) for a, b in pairs if a > 0 and b > 0}
        more = {(a + 1, b) for a, b in pairs if a < rows or not stop_at_rows}
        pairs = fewer | more
        values.append(max([values[-1], *(h(a, b) for a, b in pairs)]))
    return np.array(values)


def test_the_prints_recurrence_is_exact_without_its_stop_and_refused_with_it():
    rows, name = 5, "information_gain"
    universe = trees.table_sensitivity((2, 2), rows, name, 0)[0]
    limit = CRITERIA[name].sensitivity(rows)

    def mutant(table, stop_at_rows):
        return np.minimum(recurrence(table, FARTHEST, stop_at_rows=stop_at_rows), limit)

    for table in universe.databases:
        reach = rows - sum(map(sum, table))
        given = column(profile(name, table, rows))[:reach]
        np.testing.assert_allclose(given, mutant(table, False)[:reach], rtol=0, atol=5e-8)
    for stop, holds in ((False, True), (True, False)):

        def mutant_of(table, stop=stop):
            return Table(mutant(table, stop) + ROUNDING)

        assert checked(name, universe, mutant_of, rows).holds == holds
    entry = golden("trees", "stopped_recurrence")
    stopped, t = tuple(map(tuple, entry["inputs"]["table"])), entry["inputs"]["t"]
    found = [recurrence(stopped, t, stop_at_rows=stop)[t] for stop in (True, False)]
    assert agrees(found, entry)


@cache
def worst_pairs():
    """200 rows of one value and class, and one more of either class: as much as a row can do, or nearly."""
    pure, purer, mixed = ((200, 0),), ((201, 0),), ((200, 1),)
    return from_moves([pure, purer, mixed], lambda table: [purer, mixed] if table == pure else [pure]), 201


@pytest.mark.parametrize("name", NAMES)
def test_profiles_one_hundredth_too_small_are_refused(name):
    universe, rows = worst_pairs()
    for factor, holds in ((1.0, True), (0.99, False)):

        def scaled(table, factor=factor):
            return Table(factor * column(profile(name, table, rows)))

        assert checked(name, universe, scaled, rows, horizon=0).holds == holds


@pytest.mark.parametrize("name", NAMES)
def test_global_sensitivity_one_hundredth_too_small_is_refused(name):
    universe, rows = worst_pairs()
    for factor, holds in ((1.0, True), (0.99, False)):
        cap = factor * CRITERIA[name].sensitivity(rows)

        def capped(table, cap=cap):
            return Table(np.minimum(column(profile(name, table, rows)), cap))

        for mutant in (capped, lambda _, cap=cap: Table(np.full(FARTHEST + 1, cap))):
            assert checked(name, universe, mutant, rows, horizon=0).holds == holds


@pytest.mark.parametrize(
    "name", ["information_gain", "gini"]
)  # the max operator's is the same at every distance
@pytest.mark.parametrize("shape", [(2, 2), (1, 3)])
def test_profiles_one_step_late_are_refused(name, shape):
    rows = 4
    universe = trees.table_sensitivity(shape, rows, name, 0)[0]

    def late(table):
        values = column(profile(name, table, rows))
        return Table(np.concatenate([values[:1], values[:-1]]))

    assert not checked(name, universe, late, rows).holds


@pytest.mark.parametrize("name", ["information_gain", "gini"])
def test_profiles_stay_admissible_where_the_tables_reach_the_public_bound_of_rows(name):
    """Jumps of more rows than the bound must not be cut off inside a difference: that broke δ(x, t+1) ≥ δ(y, t)."""
    most = 10
    criterion = CRITERIA[name]
    profiles = {
        (a, b): criterion.profile([np.array([[a, b]])], most).values(0, 2 * most)[0]
        for a in range(most + 1)
        for b in range(most + 1 - a)
    }
    pairs = 0
    for (a, b), row in profiles.items():
        for other in ((a + 1, b), (a, b + 1), (a - 1, b), (a, b - 1)):
            if other in profiles:
                pairs += 1
                assert (row[1:] >= profiles[other][:-1]).all(), ((a, b), other)
    assert pairs > 200
