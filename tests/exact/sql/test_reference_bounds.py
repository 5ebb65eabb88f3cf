"""The four analyses of join queries against every database within two changes, on random tiny cases.

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

from tests.oracles.joins import (
    And,
    Column,
    Compare,
    Count,
    Database,
    JoinQuery,
    Sum,
    Table,
    TensorQuery,
    check_bounds,
    conjuncts,
    inadmissible_pair,
    rows_of,
    unsmooth_pair,
)
from tests.oracles.sql_bounds import (
    ElasticBounds,
    OrderedBounds,
    PatternBounds,
    ResidualBounds,
    allocations,
    equality_classes,
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


def equal(left, right):
    (a, x), (b, y) = left.split("."), right.split(".")
    return Compare("=", Column(a, x), Column(b, y))


VALUES = (0, 1, 2)
TRIANGLE = JoinQuery(
    (Table("R", ("a", "b"), VALUES), Table("S", ("a", "c"), VALUES), Table("U", ("b", "c"), VALUES)),
    (("r", "R"), ("s", "S"), ("u", "U")),
    And((equal("r.a", "s.a"), equal("r.b", "u.b"), equal("s.c", "u.c"))),
)
NO_TRIANGLE = {"R": Counter(), "S": Counter({(1, 0): 20}), "U": Counter({(1, 1): 20})}
T = Table("T", ("a",), (0, 1))
CUBE = JoinQuery((T,), (("x", "T"), ("y", "T"), ("z", "T")))
E = Table("E", ("a", "b"), VALUES)
PATH = JoinQuery((E,), (("e", "E"), ("f", "E")), And((equal("e.b", "f.a"),)))


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


# --- ordered sizes ---------------------------------------------------------------------------------------------------

GROWTHS = ("whole", "factors")


def random_orders(rng):
    """One order for every component, drawn when it is first asked for."""
    chosen = {}

    def orders(component):
        if component not in chosen:
            chosen[component] = [tuple(int(j) for j in rng.permutation(component))]
        return chosen[component]

    return orders


def ordered_analyses(rng, query):
    result, one = {}, random_orders(rng)
    for growth in GROWTHS:
        result[growth, "one"] = OrderedBounds(query, orders=one, growth=growth)
        result[growth, "all"] = OrderedBounds(query, orders="all", growth=growth)
    return result


def check_ordered_case(query, compiled, bounds, database, before):
    local = compiled.local_sensitivity(database, compiled.reach(2e6))[None]
    here = {name: bound.sequence(database, MOST) for name, bound in bounds.items()}
    for name, sequence in here.items():
        for k, value in enumerate(local):
            assert sequence[k] >= value - 1e-9, (name, k, query.sql(), database)
        if before is not None:
            table, y, theirs = before
            assert inadmissible_pair(query, database, y, sequence, theirs[name], table.weight) == [], name
    for growth in GROWTHS:
        assert never_above(here[growth, "all"], here[growth, "one"]), (query.sql(), database)
    for orders in ("one", "all"):
        assert never_above(here["factors", orders], here["whole", orders]), (query.sql(), database)
    return here


def never_above(these, those):
    return all(a <= b + 1e-9 for a, b in zip(these, those, strict=True))


def run_ordered(seed, queries, steps):
    rng = np.random.default_rng(seed)
    cases = 0
    for number in range(queries):
        query = random_query(rng, weights=number % 4 == 0)
        compiled, bounds = TensorQuery(query), ordered_analyses(rng, query)
        before, last = None, None
        for table, database in random_walk(rng, query, steps):
            if table is not None:
                before = (table, *last)
            last = (database, check_ordered_case(query, compiled, bounds, database, before))
            cases += 1
    return cases


def test_ordered_sizes_dominate_local_sensitivity_and_are_admissible():
    assert run_ordered(seed=110, queries=60, steps=5) == 360


@pytest.mark.slow
def test_ordered_sizes_dominate_and_are_admissible_on_five_thousand_cases():
    assert run_ordered(seed=120, queries=500, steps=9) == 5_000


def test_ordered_sizes_are_admissible_against_all_neighbours():
    rng = np.random.default_rng(130)
    for number in range(15):
        query = random_query(rng, most_occurrences=3, weights=number % 3 == 0)
        _, database = next(random_walk(rng, query, 0))
        for name, bound in ordered_analyses(rng, query).items():
            assert check_bounds(lambda db, b=bound: b.sequence(db, 3), query, [database], stride=3) == [], (
                name
            )


def test_the_smooth_maximum_of_ordered_sizes_grows_by_at_most_its_rate_per_row():
    rng = np.random.default_rng(140)
    for _ in range(25):
        query = random_query(rng, most_occurrences=3)
        bound = OrderedBounds(query, orders="all", growth="factors")
        before = None
        for _, database in random_walk(rng, query, 4):
            smooth = smooth_maximum(bound.sequence(database, 10), 0.7)
            if before is not None:
                assert unsmooth_pair(query, database, before[0], smooth, before[1], 0.7) == []
            before = (database, smooth)


# every table with two columns, so that a position can be tied to two others
FOUR = tuple(Table(name, ("a", "b"), VALUES) for name in "RSUW")
PLACES = tuple((t.name.lower(), t.name) for t in FOUR)
SHAPES = {
    "chain": ("r.b = s.a", "s.b = u.a", "u.b = w.a"),
    "cycle": ("r.b = s.a", "s.b = u.a", "u.b = w.a", "w.b = r.a"),
    "star": ("r.b = s.a", "r.b = u.a", "s.b = w.a", "u.b = w.a"),
    "apart": ("r.b = s.a", "s.b = u.a"),
}


def equalities(*texts):
    return And(tuple(equal(*text.split(" = ")) for text in texts))


def fan(rng) -> Database:
    """Tables that share one value on one side and spread over all on the other, or carry all pairs, or are empty."""
    database = {}
    for table in FOUR:
        kind, value = rng.integers(5), int(rng.integers(3))
        rows = [row for row in rows_of(table) if kind == 4 or (kind < 3 and row[kind % 2] == value)]
        database[table.name] = Counter({row: int(rng.integers(1, 4)) for row in rows})
    return database


@pytest.mark.parametrize("shape", SHAPES)
def test_ordered_sizes_hold_where_values_fan_out_over_four_tables(shape):
    rng = np.random.default_rng(150)
    query = JoinQuery(FOUR, PLACES, equalities(*SHAPES[shape]))
    for _ in range(4):
        database = fan(rng)
        bounds = ordered_analyses(rng, query)
        for name, bound in bounds.items():
            problems = check_bounds(
                lambda db, b=bound: b.sequence(db, 2), query, [database], most=1, stride=11
            )
            assert problems == [], (name, problems[:1])


R, S, U = (Table(name, ("a", "b"), VALUES) for name in "RSU")
R1, U1 = Table("R", ("a",), VALUES), Table("U", ("a",), VALUES)
V = Table("S", ("a", "v"), (0, 1, 2, 3))
BY_HAND = {
    # a row of R closes three paths; a new row of U meets the three rows of S that share its b
    "triangle": (
        JoinQuery(
            (R, S, U), (("r", "R"), ("s", "S"), ("u", "U")), equalities("r.b = s.a", "s.b = u.a", "u.b = r.a")
        ),
        {
            "R": Counter({(0, 0): 1}),
            "S": Counter({(0, 0): 1, (0, 1): 1, (0, 2): 1}),
            "U": Counter({(0, 0): 1, (1, 0): 1, (2, 0): 1}),
        },
        [3, 6, 9, 12],
    ),
    # a row of S: (2 + new)(3 + new)
    "chain": (
        JoinQuery((R1, S, U1), (("r", "R"), ("s", "S"), ("u", "U")), equalities("r.a = s.a", "s.b = u.a")),
        {
            "R": Counter({(0,): 2}),
            "S": Counter({(0, 0): 1, (0, 1): 1}),
            "U": Counter({(0,): 3, (1,): 1}),
        },
        [6, 9, 12, 16],
    ),
    # (3 + k) before, (2 + k) behind, and 1 for the row that follows itself
    "path": (PATH, {"E": Counter({(1, 0): 1, (1, 1): 2})}, [6, 8, 10, 12]),
    # a row of R meets the values 2 + 2 and then 3 more with every new row
    "sum": (
        JoinQuery(
            (Table("R", ("a",), (0, 1, 2, 3)), V),
            (("r", "R"), ("s", "S")),
            equalities("r.a = s.a"),
            Sum(((1, Column("s", "v")),), 0, 0, 3),
        ),
        {"R": Counter({(0,): 1}), "S": Counter({(0, 2): 2, (1, 3): 1})},
        [4, 7, 10, 13],
    ),
}


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("case", BY_HAND)
def test_ordered_sizes_computed_by_hand(case, growth):
    query, database, expected = BY_HAND[case]
    assert OrderedBounds(query, orders="all", growth=growth).sequence(database, 3) == expected


def test_orders_give_different_sizes():
    """From R the chain may start at S, which R's row ties, or at U, of which all rows then count."""
    query, database, _ = BY_HAND["chain"]
    one, other = (OrderedBounds(query, orders=lambda J, o=o: [J[::o]]) for o in (1, -1))
    X = (0,)
    (forward,), (backward,) = next(one.factors(X, database)), next(other.factors(X, database))
    assert (forward.count, forward.sizes) == (4, (2, 3))
    assert (backward.count, backward.sizes) == (4, (4, 1))
    # 2·3 and 4·1 both hold the 4 combinations; after three new rows at most 4·4 - 6 or 4·4 - 4 more
    assert one.grown(X, [forward], 3) == [4, 7, 10, 14]
    assert other.grown(X, [backward], 3) == [4, 8, 12, 16]


def test_components_that_grow_by_themselves_are_never_above_and_sometimes_below_the_whole_product():
    query = JoinQuery(FOUR, PLACES, equalities("r.a = s.a", "s.b = u.a", "r.b = w.a"))
    database = {
        "R": Counter(),
        "S": Counter({(0, 0): 3}),
        "U": Counter({(1, 0): 3}),
        "W": Counter({(0, 0): 2}),
    }
    whole, factors = (OrderedBounds(query, growth=growth) for growth in GROWTHS)
    # from R: S and U join in no row, 0 of 3·3; W has 2 and a third makes nothing of nothing
    assert whole.grown((0,), next(whole.factors((0,), database)), 1) == [0, 9]
    assert factors.grown((0,), next(factors.factors((0,), database)), 1) == [0, 6]


# --- ordered sizes beside the others ---------------------------------------------------------------------------------


def test_ordered_sizes_at_distance_zero_are_never_below_the_exact_rows_and_never_below_residual_counts():
    rng = np.random.default_rng(160)
    for number in range(60):
        query = random_query(rng, weights=number % 4 == 0)
        rows, residual = PatternBounds(query), ResidualBounds(query)
        bounds = ordered_analyses(rng, query)
        for _, database in random_walk(rng, query, 2):
            exact, theirs = rows.sequence(database, 0), residual.sequence(database, MOST)
            for name, bound in bounds.items():
                mine = bound.sequence(database, MOST)
                assert never_above(exact, mine[:1]), (name, query.sql(), database)
                if isinstance(query.aggregate, Count):
                    assert never_above(theirs, mine), (name, query.sql(), database)


def test_ordered_sizes_are_never_below_rows_where_no_two_positions_are_connected_outside_the_row():
    rng = np.random.default_rng(170)
    seen = 0
    while seen < 60:
        query = random_query(rng)
        bound = OrderedBounds(query)
        if any(len(J) > 1 for components in bound.split.values() for J in components):
            continue
        rows = PatternBounds(query)
        for _, database in random_walk(rng, query, 2):
            assert never_above(rows.sequence(database, MOST), bound.sequence(database, MOST)), query.sql()
        seen += 1


def test_ordered_sizes_fall_below_rows_where_an_earlier_position_ties_a_later_one():
    """A row of R alone does not tie U: `rows` lets a new row of S meet all of U, the order (S, U) one row in three."""
    query = JoinQuery((R1, S, U1), BY_HAND["chain"][0].occurrences, BY_HAND["chain"][0].where)
    database = {"R": Counter(), "S": Counter(), "U": Counter({(0,): 1, (1,): 1, (2,): 1})}
    assert PatternBounds(query).sequence(database, 3) == [0, 3, 6, 9]
    bound = OrderedBounds(query)
    assert bound.sequence(database, 3) == [0, 1, 2, 4]
    assert check_bounds(lambda db: bound.sequence(db, 3), query, [database], most=2) == []


def equalities_only(query):
    parts = [p for p in conjuncts(query.where) if isinstance(p, Compare) and p.op == "="]
    aggregate = query.aggregate if isinstance(query.aggregate, Count) else Count()
    return JoinQuery(query.tables, query.occurrences, And(tuple(parts)), aggregate)


def test_ordered_sizes_are_local_sensitivity_at_distance_zero_for_equalities_of_single_copies_with_keys_apart():
    rng = np.random.default_rng(180)
    seen = 0
    while seen < 60:
        query = equalities_only(random_query(rng))
        classes = equality_classes(query)
        bound = OrderedBounds(query)
        shared = any(keys_shared(bound, X) for X in bound.split)
        if shared or any(len(query.copies(t.name)) > 1 for t in query.private):
            continue
        if any(len(constants) > 1 for _, constants in classes):
            continue
        compiled = TensorQuery(query)
        for _, database in random_walk(rng, query, 3):
            local = compiled.local_sensitivity(database, 0)[None]
            assert bound.sequence(database, 0) == list(local), (query.sql(), database)
        seen += 1


def keys_shared(bound, X):
    """Does a cell of the row tie two components at once?"""
    return any(
        not constants
        and bound.at(columns) & set(X)
        and sum(bool(bound.at(columns) & set(J)) for J in bound.split[X]) > 1
        for columns, constants in bound.classes
    )


def test_components_tied_to_the_same_cell_of_the_row_may_have_their_largest_counts_at_different_values():
    star = JoinQuery(
        (R1, Table("S", ("a",), VALUES), U1),
        (("r", "R"), ("s", "S"), ("u", "U")),
        equalities("r.a = s.a", "r.a = u.a"),
    )
    database = {"R": Counter(), "S": Counter({(0,): 2}), "U": Counter({(1,): 2})}
    assert OrderedBounds(star).sequence(database, 0) == [4]
    assert TensorQuery(star).local_sensitivity(database, 0)[None] == [0]


# --- readings of ordered sizes that are refused ----------------------------------------------------------------------


class LaterClasses(OrderedBounds):
    """Control: rows also agree in classes of positions that come later, whose rows are not known yet."""

    def known(self, X, order, i):
        return (frozenset(X) | frozenset(order)) - {order[i]}


class MetOnly(OrderedBounds):
    """Control: sizes of the rows that the component's join meets at present."""

    def size(self, X, order, i, database):
        J = tuple(sorted(order))
        names = [self.query.occurrences[j][1] for j in J]
        mine = J.index(order[i])
        met = Counter()
        for rows, _, _ in self.combinations(J, frozenset(X)):
            if all(database[name][row] for name, row in zip(names, rows, strict=True)):
                met[rows[mine]] = database[names[mine]][rows[mine]]
        return super().size(X, order, i, {**database, names[mine]: met})


class ApartCopies(OrderedBounds):
    """Control: every copy of a table pays for its own new rows."""

    def purses(self, factors):
        weights, serves = [], []
        for factor in factors:
            serves.append([])
            for table in factor.tables:
                serves[-1].append(len(weights) if table.private else -1)
                weights += [table.weight] * table.private
        return weights, serves


class SinglePositions(OrderedBounds):
    """Control: the row at one position at a time."""

    def sets(self, table):
        return [(i,) for i in self.query.copies(table.name)]


CHAIN_OF_FOUR = JoinQuery(
    (R1, S, Table("U", ("a", "b"), VALUES, private=False), Table("W", ("a",), VALUES, private=False)),
    PLACES,
    equalities("r.a = s.a", "s.b = u.a", "u.b = w.a"),
)
# every row of S meets three rows of U with one row of W each; no two rows of U agree on both sides
SPREAD = {
    "R": Counter(),
    "S": Counter({(0, 0): 2}),
    "U": Counter({(0, 0): 1, (0, 1): 1, (0, 2): 1}),
    "W": Counter({(0,): 1, (1,): 1, (2,): 1}),
}
REFUSED = {
    "a class of a later position": (LaterClasses, CHAIN_OF_FOUR, SPREAD, "B_1 = 7.0 < LS_1 = 9.0"),
    "rows met at present": (MetOnly, TRIANGLE, NO_TRIANGLE, "B_1 = 0.0 < LS_1 = 20.0"),
    "new rows apart for copies": (
        ApartCopies,
        CUBE,
        {"T": Counter({(0,): 1})},
        "B_1 = 13.0 < LS_1 = 19.0",
    ),
    "single positions": (
        SinglePositions,
        PATH,
        {"E": Counter({(1, 0): 1, (1, 1): 2})},
        "B_0 = 5.0 < LS_0 = 6.0",
    ),
}


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("reading", REFUSED)
def test_wrong_readings_of_ordered_sizes_are_refused(reading, growth):
    control, query, database, reason = REFUSED[reading]

    def problems(bound):
        return check_bounds(lambda db: bound.sequence(db, 2), query, [database], most=1, stride=3)

    assert problems(OrderedBounds(query, growth=growth)) == []
    found = problems(control(query, growth=growth))
    assert any(reason in problem for problem in found), found


def test_a_component_of_two_may_use_both_classes_only_where_it_grows_by_itself():
    """If one of the two is new, the other knows it: sizes by all classes hold unless a third component multiplies them.

    The product of such sizes can lie below the count, here 1·1 below 3.
    """
    query = JoinQuery((R1, S, U1, Table("W", ("a",), VALUES)), PLACES, equalities("r.a = s.a", "s.b = u.a"))
    database = {
        "R": Counter(),
        "S": Counter({(0, 0): 1, (0, 1): 1, (0, 2): 1}),
        "U": Counter({(0,): 1, (1,): 1, (2,): 1}),
        "W": Counter(),
    }

    def problems(growth):
        bound = LaterClasses(query, growth=growth)
        return check_bounds(lambda db: bound.sequence(db, 2), query, [database], most=1, stride=3)

    assert any("B_1 = 1.0 < LS_1 = 3.0" in problem for problem in problems("whole"))
    assert problems("factors") == []
