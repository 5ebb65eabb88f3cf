"""Ordered sizes against every database within two changes, on random tiny cases, with wrong readings as controls."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.exact.sql.shapes import CUBE, NO_TRIANGLE, PATH, TRIANGLE, VALUES, equal
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
from tests.oracles.ordered_bounds import OrderedBounds
from tests.oracles.sql_bounds import (
    PatternBounds,
    ResidualBounds,
    equality_classes,
    smooth_maximum,
)
from tests.oracles.sql_cases import random_query, random_walk

BETA = 0.3
MOST = 3


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
