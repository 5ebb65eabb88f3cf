"""The three analyses of join queries against every database within two changes, on random tiny cases.

A case is one database of one query: its bounds must lie above the local sensitivity at distances 0, 1, 2, and between
it and the neighbour it came from no bound may fall by more than one step. Readings of the texts that are wrong are
kept as controls, each with the case that refuses it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from tests.exact.sql.shapes import NO_TRIANGLE, PATH, TRIANGLE, E, T, equal
from tests.oracles.joins import (
    And,
    Column,
    Compare,
    JoinQuery,
    Sum,
    Table,
    TensorQuery,
    check_bounds,
    inadmissible_pair,
    unsmooth_pair,
)
from tests.oracles.sql_bounds import (
    ElasticBounds,
    PatternBounds,
    ResidualBounds,
    allocations,
    smooth_count,
    smooth_maximum,
)
from tests.oracles.sql_cases import random_query, random_walk

BETA = 0.3
VARIANTS = ("rows", "merged", "apart", "corner")
MOST = 3


def analyses(query):
    result = {variant: PatternBounds(query, variant) for variant in VARIANTS}
    result |= {"elastic": ElasticBounds(query), "residual": ResidualBounds(query)}
    if all(table.weight == 1 for table in query.tables):
        result["elastic, one stability"] = ElasticBounds(query, per_table=False)
    return result


def check_case(query, compiled, bounds, database, before):
    """All analyses of one database; returns their sequences and smooth values for the next step."""
    local = compiled.local_sensitivity(database, compiled.reach())[None]
    here = {name: bound.sequence(database, MOST) for name, bound in bounds.items()}
    smooth = {v: bounds[v].smooth_jump(database, BETA) for v in ("rows", "merged")}
    for name, sequence in here.items():
        for k, value in enumerate(local):
            assert sequence[k] >= value - 1e-9, (name, k, query.sql(), database)
    for name, value in smooth.items():
        for k, sensitivity in enumerate(local):
            assert value >= math.exp(-BETA * k) * sensitivity - 1e-9, (name, query.sql(), database)
    if not isinstance(query.aggregate, Sum):
        assert here["rows"][0] == local[0], (query.sql(), database)
    for finer, coarser in itertools.pairwise(VARIANTS):
        assert all(a <= b + 1e-9 for a, b in zip(here[finer], here[coarser], strict=True)), query.sql()
    if "elastic, one stability" in here:
        assert all(a <= b for a, b in zip(here["elastic"], here["elastic, one stability"], strict=True)), (
            query.sql()
        )
    if before is not None:
        table, y, theirs, their_smooth = before
        for name, sequence in here.items():
            assert inadmissible_pair(query, database, y, sequence, theirs[name], table.weight) == [], name
        for name, value in smooth.items():
            step = BETA * table.weight
            assert unsmooth_pair(query, database, y, value, their_smooth[name], step) == [], name
    return here, smooth


def run(seed, queries, steps):
    rng = np.random.default_rng(seed)
    cases = 0
    for number in range(queries):
        query = random_query(rng, weights=number % 5 == 0)
        compiled, bounds = TensorQuery(query), analyses(query)
        before, last = None, None
        for table, database in random_walk(rng, query, steps):
            if table is not None:
                before = (table, *last)
            last = (database, *check_case(query, compiled, bounds, database, before))
            cases += 1
    return cases


def test_every_analysis_dominates_local_sensitivity_and_is_admissible():
    assert run(seed=10, queries=150, steps=9) == 1_500


@pytest.mark.slow
def test_every_analysis_dominates_and_is_admissible_on_ten_thousand_cases():
    assert run(seed=20, queries=500, steps=19) == 10_000


def test_bounds_are_admissible_against_all_neighbours():
    rng = np.random.default_rng(30)
    for _ in range(12):
        query = random_query(rng, most_occurrences=3)
        _, database = next(random_walk(rng, query, 0))
        for name, bound in analyses(query).items():
            assert check_bounds(lambda db, b=bound: b.sequence(db, 2), query, [database]) == [], name


def test_the_minimum_of_the_sequences_is_admissible_and_never_above_the_minimum_of_the_smooth_bounds():
    rng = np.random.default_rng(40)
    for _ in range(25):
        query = random_query(rng, most_occurrences=3)
        bounds = [PatternBounds(query), ElasticBounds(query), ResidualBounds(query)]
        before = None
        for table, database in random_walk(rng, query, 5):
            all_sequences = [b.sequence(database, 12) for b in bounds]
            least = [min(values) for values in zip(*all_sequences, strict=True)]
            assert smooth_maximum(least, BETA) <= min(smooth_maximum(s, BETA) for s in all_sequences) + 1e-9
            if before is not None:
                assert inadmissible_pair(query, database, before[0], least, before[1], table.weight) == []
            before = (database, least)


def test_whole_rows_at_several_positions_are_never_above_the_slope_times_its_factor():
    rng = np.random.default_rng(50)
    for _ in range(40):
        query = random_query(rng, most_occurrences=3)
        bound = PatternBounds(query)
        for _, database in random_walk(rng, query, 3):
            sets = smooth_maximum(bound.sequence(database, 14), BETA)
            assert sets <= bound.smooth_jump(database, BETA) * (1 + 1e-9), query.sql()


@pytest.mark.parametrize("beta", [0.4, 0.8])
def test_the_search_over_distance_may_stop_where_it_is_said_to(beta):
    rng = np.random.default_rng(60)
    for _ in range(25):
        query = random_query(rng, most_occurrences=3)
        private = [t for t in query.private if query.copies(t.name)]
        copies = max(len(query.copies(t.name)) for t in private)
        stop = math.ceil(len(private) / (1 - math.exp(-beta / copies)))
        _, database = next(random_walk(rng, query, 0))
        for bound in (ResidualBounds(query), PatternBounds(query), PatternBounds(query, "apart")):
            sequence = bound.sequence(database, stop + 6)
            assert smooth_maximum(sequence[: stop + 1], beta) == smooth_maximum(sequence, beta), query.sql()


# --- readings that are refused -------------------------------------------------------------------------------------


class ObtainedOnly(PatternBounds):
    """Control: the maximum over obtained patterns alone."""

    def _values(self, exposure, count, n, most):
        return np.where(count > 0, exposure.grown(count, n, most), 0.0)


class ObtainedMaxima(PatternBounds):
    """Control: the candidate of count 0 takes its n_j from obtained patterns."""

    def _values(self, exposure, count, n, most):
        highest = np.where((count > 0)[:, None], n, 0.0).max(axis=0, keepdims=True)
        unseen = exposure.grown(np.zeros(1), highest, most)
        return np.maximum(np.where(count > 0, exposure.grown(count, n, most), 0.0), unseen)


class SingleCopies(ResidualBounds):
    """Control: the new row at one copy at a time."""

    def _change(self, T, rows, table):
        total = 0.0
        for i in self.query.copies(table.name):
            rest = tuple(j for j in range(len(self.query.occurrences)) if j != i)
            for size in range(len(rest) + 1):
                for new in itertools.combinations(rest, size):
                    factor = math.prod(rows[self.query.occurrences[j][1]] for j in new)
                    total += factor * T[tuple(j for j in rest if j not in new)]
        return total


@pytest.mark.parametrize("control", [ObtainedOnly, ObtainedMaxima])
def test_patterns_that_were_not_obtained_count(control):
    honest, broken = PatternBounds(TRIANGLE, "apart"), control(TRIANGLE, "apart")
    assert check_bounds(lambda db: honest.sequence(db, 2), TRIANGLE, [NO_TRIANGLE], most=1, stride=7) == []
    problems = check_bounds(lambda db: broken.sequence(db, 2), TRIANGLE, [NO_TRIANGLE], most=1, stride=7)
    assert any("LS_1 = 20" in problem for problem in problems)


def test_one_row_serves_several_copies_at_once():
    database = {"E": Counter({(1, 0): 1, (1, 1): 2})}
    compiled = TensorQuery(PATH)
    assert compiled.local_sensitivity(database, 0)[None][0] == 6
    assert SingleCopies(PATH).sequence(database, 0) == [5]
    assert ResidualBounds(PATH).sequence(database, 0)[0] >= 6
    assert SingleCopies(PATH).sequence({"E": Counter()}, 0) == [0]
    assert ResidualBounds(PATH).sequence({"E": Counter()}, 0) == [1]


def test_a_slope_is_not_the_jump_of_a_whole_row():
    square = JoinQuery((T,), (("x", "T"), ("y", "T")))
    database = {"T": Counter({(0,): 20})}
    bound = PatternBounds(square)
    assert bound.smooth_slope(database, 0.1) == pytest.approx(40)
    assert TensorQuery(square).local_sensitivity(database, 0)[None][0] == 41
    assert bound.smooth_jump(database, 0.1) == pytest.approx(40 * math.expm1(0.1) / 0.1)
    assert smooth_maximum(bound.sequence(database, 30), 0.1) == pytest.approx(41)


def test_copies_of_a_table_share_one_budget():
    def slope(rows, groups, weights):
        return 3 * smooth_count(float(rows**2), (float(rows),) * 2, groups, weights, 0.1)[1]

    apart = [slope(rows, (0, 1), (1.0, 1.0)) for rows in (1, 2)]
    shared = [slope(rows, (0, 0), (1.0,)) for rows in (1, 2)]
    assert apart[1] > math.exp(0.1) * apart[0] * 1.05
    assert shared[1] <= math.exp(0.1) * shared[0] * (1 + 1e-9)


def test_switching_to_a_coarser_bound_when_many_vectors_come_back_is_not_smooth():
    """Both bounds are admissible; the choice between them by the data is not."""
    zero, one = Compare("=", Column("e", "b"), 0), Compare("=", Column("f", "b"), 1)
    query = JoinQuery((E,), PATH.occurrences, And((equal("e.a", "f.a"), zero, one)))
    fine, coarse = PatternBounds(query, "merged"), PatternBounds(query, "apart")

    def switched(database):
        counted = [exposure.vectors(database)[0] for exposure in fine.exposed["E"]]
        few = all(len(set(count[count > 0])) <= 1 for count in counted)
        return (fine if few else coarse).sequence(database, 2)

    databases = [{"E": Counter({(0, 0): 20, (0, 1): 20})}]
    assert check_bounds(lambda db: fine.sequence(db, 2), query, databases, most=1) == []
    assert check_bounds(lambda db: coarse.sequence(db, 2), query, databases, most=1) == []
    assert check_bounds(switched, query, databases, most=1)


def test_counts_rounded_up_to_powers_of_two_are_not_smooth():
    square = JoinQuery((T, Table("P", ("a",), (0, 1))), (("x", "T"), ("p", "P")))

    def rounded(database):
        tops = [2 ** math.ceil(math.log2(max(1, database[name].total()))) for name in ("T", "P")]
        return [max(top + k for top in tops) for k in range(3)]

    database = {"T": Counter({(0,): 8}), "P": Counter({(0,): 8})}
    assert any("B_1(x)" in problem for problem in check_bounds(rounded, square, [database], most=0))


def test_greedy_spending_is_the_best_spending_of_whole_rows():
    rng = np.random.default_rng(70)
    for _ in range(300):
        groups = [int(g) for g in rng.integers(3, size=int(rng.integers(1, 5)))]
        n = [int(v) for v in rng.integers(6, size=len(groups))]
        most = int(rng.integers(1, 7))

        def product(rows, n=n, groups=groups):
            return math.prod(v + rows[g] for v, g in zip(n, groups, strict=True))

        best = max(product(rows) for rows in allocations(most, [1, 1, 1]))
        rows = [0, 0, 0]
        for _ in range(most):
            rows[greedy_choice(n, groups, rows)] += 1
        assert product(rows) == best, (n, groups, most)


def greedy_choice(n, groups, rows):
    """A table with an empty factor first, else the one whose factors grow most."""

    def gain(t):
        mine = [v + rows[t] for v, g in zip(n, groups, strict=True) if g == t]
        return math.inf if 0 in mine else math.prod((v + 1) / v for v in mine)

    return max(range(3), key=gain)
