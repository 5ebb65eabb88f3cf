"""The analyses as statements, against every database within two changes, on random tiny cases.

A case is one database of one query. The statements run on sqlite, which answers them in microseconds; a sample of the
cases is run on DuckDB as well. Mutations of the analyses that are known to be wrong must be found by the same checks.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import duckdb
import numpy as np
import pytest

from sordino.engines import connect
from sordino.sql.analysis import analyse, plan_analysis, spending
from sordino.sql.analysis.patterns import Met, list_subsets
from sordino.sql.analysis.steps import Steps
from tests.exact.sql.shapes import CUBE, NO_TRIANGLE, PATH, TRIANGLE, VALUES, E, T, equal
from tests.oracles.join_questions import question_of
from tests.oracles.joins import (
    And,
    Column,
    Compare,
    JoinQuery,
    Sum,
    Table,
    TensorQuery,
    check_bounds,
    conjuncts,
    inadmissible_pair,
    unsmooth_pair,
)
from tests.oracles.ordered_bounds import OrderedBounds
from tests.oracles.sql_bounds import ElasticBounds, ResidualBounds
from tests.oracles.sql_cases import random_query, random_walk
from tests.oracles.sqlite_engine import SQLiteSnapshot

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "joins_sql.json").read_text())["entries"]
EVERY = ("patterns", "residual", "elastic")
BETA, LARGER = 0.45, 0.9
MOST = 3


def first_bounds(sequence, unit, most=MOST):
    """B at the distances 0, 1, …; a sequence of one number is constant."""
    steps = [0 if len(sequence) == 1 else math.floor(k / unit) for k in range(most + 1)]
    return [float(sequence[step]) for step in steps]


def bounds_by_name(analysis, most=MOST):
    names = list(next(iter(analysis.per_table.values())))
    result = {
        name: [
            max(values)
            for values in zip(
                *(first_bounds(by[name], analysis.unit, most) for by in analysis.per_table.values()),
                strict=True,
            )
        ]
        for name in names
    }
    return result | {"minimum": first_bounds(analysis.bounds, analysis.unit, most)}


def private_queries(rng, count, **options):
    """Random queries that mention a private table."""
    while count:
        query = random_query(rng, weights=count % 5 == 0, **options)
        if any(query.copies(table.name) for table in query.private):
            count -= 1
            yield query


def run(seed, queries, steps):
    rng = np.random.default_rng(seed)
    cases = 0
    for query in private_queries(rng, queries):
        compiled = TensorQuery(query)
        prepared = plan_analysis(question_of(query), analyses=EVERY, most_joined=int(rng.integers(1, 5)))
        snapshot, before = SQLiteSnapshot(query), None
        for table, database in random_walk(rng, query, steps):
            analysis = prepared.read(snapshot.fill(database), beta=BETA)
            here = bounds_by_name(analysis)
            smooth = {beta: analysis.at(beta) for beta in (BETA, LARGER)}
            local = compiled.local_sensitivity(database, compiled.reach())[None]
            for k, value in enumerate(local):
                for name, sequence in here.items():
                    assert sequence[k] >= value - 1e-9, (name, k, query.sql(), database)
                for beta, bound in smooth.items():
                    assert bound >= math.exp(-beta * k) * value, (beta, k, query.sql(), database)
            if before is not None:
                y, theirs, their_smooth = before
                for name, sequence in here.items():
                    assert (
                        inadmissible_pair(query, database, y, sequence, theirs[name], table.weight) == []
                    ), name
                for beta, bound in smooth.items():
                    step = beta * table.weight
                    assert unsmooth_pair(query, database, y, bound, their_smooth[beta], step) == []
            before = database, here, smooth
            cases += 1
        snapshot.close()
    return cases


def test_bounds_dominate_local_sensitivity_and_are_admissible_and_smooth():
    assert run(seed=110, queries=60, steps=4) == 300


@pytest.mark.parametrize("most", [1, 4, 20])
def test_bounds_are_admissible_across_the_seam_where_ways_to_spend_run_out(monkeypatch, most):
    monkeypatch.setattr(spending, "_MOST_WAYS", most)
    assert run(seed=115, queries=20, steps=4) == 100


def test_ways_to_spend_that_run_out_change_no_bound_before(monkeypatch):
    terms = [((0, 0, 0), 36), ((1, 0, 0), 7), ((0, 1, 1), 3), ((1, 1, 1), 1), ((0, 0, 2), 2)]
    every = spending.find_largest_values(terms, [1, 1, 2], 30)
    spent = [(a, b, c) for a in range(31) for b in range(31) for c in range(16) if a + b + 2 * c <= 30]
    for k in (0, 1, 5, 17, 30):
        ways = (w for w in spent if w[0] + w[1] + 2 * w[2] <= k)
        assert every[k] == max(36 + 7 * a + 3 * b * c + a * b * c + 2 * c * c for a, b, c in ways)
    for most in (1, 50, 1000):
        monkeypatch.setattr(spending, "_MOST_WAYS", most)
        fewer = spending.find_largest_values(terms, [1, 1, 2], 30)
        seam = spending.find_last_followed([2, 1], 30, most)
        assert fewer[: seam + 1] == every[: seam + 1]
        assert all(larger >= exact for larger, exact in zip(fewer, every, strict=True))
        assert fewer == sorted(fewer)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120, 124))
def test_bounds_dominate_and_are_smooth_on_ten_thousand_cases(seed):
    assert run(seed=seed, queries=125, steps=19) == 2_500


def test_bounds_are_admissible_against_all_neighbours():
    rng = np.random.default_rng(130)
    for query in private_queries(rng, 12, most_occurrences=3):
        snapshot, prepared = SQLiteSnapshot(query), plan_analysis(question_of(query), analyses=EVERY)

        def bounds(db, prepared=prepared, snapshot=snapshot):
            return bounds_by_name(prepared.read(snapshot.fill(db), beta=BETA))["minimum"]

        _, database = next(random_walk(rng, query, 0))
        assert check_bounds(bounds, query, [database], stride=3) == []
        snapshot.close()


def is_simple(query):
    """Equalities of columns with columns or constants and nothing else; no NULLs, no sum, weights 1."""
    plain = all(isinstance(p, Compare) and p.op == "=" for p in conjuncts(query.where))
    whole = all(table.weight == 1 and None not in table.values for table in query.tables)
    return plain and whole and not isinstance(query.aggregate, Sum) and query.aggregate.column is None


def test_bounds_equal_the_reference_where_conditions_are_equalities():
    rng = np.random.default_rng(140)
    compared, equal = Counter(), Counter()
    for query in private_queries(rng, 220):
        if len(query.occurrences) == 1 or not is_simple(query):
            continue
        references = {
            "patterns": OrderedBounds(query, orders="all", growth="factors"),
            "residual": ResidualBounds(query),
            "elastic": ElasticBounds(query),
        }
        # Every component in its first order, in its last, …: ours is one of these per component.
        ordered = [
            OrderedBounds(query, orders=lambda J, i=i: [list(permutations(J))[i % math.factorial(len(J))]])
            for i in range(math.factorial(len(query.occurrences) - 1))
        ]
        snapshot = SQLiteSnapshot(query)
        prepared = plan_analysis(question_of(query), analyses=EVERY, most_joined=8)
        for _, database in random_walk(rng, query, 1):
            here = bounds_by_name(prepared.read(snapshot.fill(database), beta=BETA))
            worst = [
                max(values) for values in zip(*(o.sequence(database, MOST) for o in ordered), strict=True)
            ]
            for name, reference in references.items():
                expected = reference.sequence(database, MOST)
                compared[name] += 1
                equal[name] += here[name] == pytest.approx(expected)
                # Elastic follows several orders, which only helps.
                if name in ("residual", "elastic"):
                    assert all(a <= b + 1e-9 for a, b in zip(here[name], expected, strict=True)), query.sql()
            assert all(a <= b + 1e-9 for a, b in zip(here["patterns"], worst, strict=True)), query.sql()
        snapshot.close()
    assert compared["residual"] > 100
    assert equal["residual"] == compared["residual"]
    # Ours knows which counts go together, theirs takes the best order and grows every component by itself.
    for name in ("patterns", "elastic"):
        assert equal[name] >= 0.7 * compared[name], (name, equal, compared)


def test_counting_from_the_leaves_gives_what_the_whole_join_gives(monkeypatch):
    rng = np.random.default_rng(145)
    trees = 0
    for query in private_queries(rng, 120, most_occurrences=4):
        if len(query.occurrences) < 3:
            continue
        snapshot = SQLiteSnapshot(query)
        prepared = plan_analysis(question_of(query), analyses=EVERY, most_joined=8)
        with monkeypatch.context() as patched:
            patched.setattr("sordino.sql.analysis.counting._tree", _no_tree)
            flat = plan_analysis(question_of(query), analyses=EVERY, most_joined=8)
        trees += prepared.statement is not None and prepared.statement.sql() != flat.statement.sql()
        for _, database in random_walk(rng, query, 2):
            leaves, whole = (one.read(snapshot.fill(database), beta=BETA) for one in (prepared, flat))
            assert leaves.per_table == whole.per_table, query.sql()
        snapshot.close()
    assert trees > 20


def _no_tree(form, positions, classes, measure):
    """One table is a tree by itself; joins are not."""
    return {positions[0]: None} if len(positions) == 1 else None


def test_following_fewer_distances_changes_nothing():
    rng = np.random.default_rng(150)
    for query in private_queries(rng, 25):
        snapshot, prepared = SQLiteSnapshot(query), plan_analysis(question_of(query), analyses=EVERY)
        _, database = next(random_walk(rng, query, 0))
        long, short = (prepared.read(snapshot.fill(database), beta=beta) for beta in (0.15, 0.6))
        for beta in (0.6, 0.9):
            for name in (*EVERY, None):
                if short.constant:
                    continue
                assert short.at(beta, analysis=name) == pytest.approx(long.at(beta, analysis=name), rel=1e-12)
        snapshot.close()


def test_duckdb_gives_the_same_bounds_as_sqlite():
    rng = np.random.default_rng(160)
    with duckdb.connect() as owner:
        for query in private_queries(rng, 25):
            snapshot, prepared = SQLiteSnapshot(query), plan_analysis(question_of(query), analyses=EVERY)
            for _, database in random_walk(rng, query, 1):
                for table in query.tables:
                    columns = ", ".join(f"{name} BIGINT" for name in table.columns)
                    owner.execute(f"CREATE OR REPLACE TABLE {table.name} ({columns})")
                    if rows := list(database[table.name].elements()):
                        values = ", ".join(
                            f"({', '.join('NULL' if v is None else str(v) for v in r)})" for r in rows
                        )
                        owner.execute(f"INSERT INTO {table.name} VALUES {values}")
                expected = prepared.read(snapshot.fill(database), beta=LARGER)
                with connect(owner).snapshot() as engine:
                    assert prepared.read(engine, beta=LARGER).per_table == expected.per_table, query.sql()
            snapshot.close()


# --- numbers of the specification ------------------------------------------------------------------------------------


SQUARE = JoinQuery((T,), (("x", "T"), ("y", "T")))


def analysed(query, database, *, beta, analyses=("patterns",)):
    snapshot = SQLiteSnapshot(query)
    result = analyse(question_of(query), snapshot.fill(database), beta=beta, analyses=analyses)
    snapshot.close()
    return result


def test_the_join_of_two_tables_of_the_specification():
    golden = GOLDEN["two_table_join"]
    code = {"x": 4, "y": 5}
    database = {
        name: Counter(tuple(code.get(v, v) for v in row) for row in golden["inputs"][name]) for name in "RS"
    }
    query = JoinQuery(
        (Table("R", ("a", "b"), VALUES), Table("S", ("b", "c"), VALUES)),
        (("r", "R"), ("s", "S")),
        And((equal("r.b", "s.b"),)),
    )
    for name in EVERY:
        analysis = analysed(query, database, beta=golden["inputs"]["beta"], analyses=(name,))
        assert analysis.bounds[0] == golden["value"]["derivative"]
        assert analysis.at(golden["inputs"]["beta"]) == pytest.approx(golden["value"]["smooth"], abs=1e-5)


def test_a_pattern_that_was_not_obtained_may_dominate():
    golden = GOLDEN["unobtained_pattern"]
    rows = golden["inputs"]["rows"]
    database = {"R": Counter(), "S": Counter({(1, 0): rows}), "U": Counter({(1, 1): rows})}
    analysis = analysed(TRIANGLE, database, beta=golden["inputs"]["beta"])
    # The specification's k is real, ours whole: a little below, never above.
    found = analysis.at(golden["inputs"]["beta"], table="R")
    assert golden["value"]["smooth"] * 0.999 < found <= golden["value"]["smooth"] + golden["tolerance"]
    assert analysis.per_table["R"]["patterns"][1] == golden["value"]["derivative_after_one_row"]


def test_copies_of_one_table_share_its_budget():
    golden = GOLDEN["cube_of_one_table"]
    beta = golden["inputs"]["beta"]
    one, two = (analysed(CUBE, {"T": Counter({(0,): rows})}, beta=beta).at(beta) for rows in (1, 2))
    assert one < two <= math.exp(beta) * one * (1 + 1e-9)
    # The specification's value is the slope; the jump of a row is at least that at these sizes.
    assert one > golden["value"]["shared"]["1"]


def test_the_jump_of_a_row_in_a_square():
    golden = GOLDEN["square_slope"]
    database = {"T": Counter({(0,): golden["inputs"]["rows"]})}
    assert analysed(SQUARE, database, beta=golden["inputs"]["beta"]).at(0.1) == pytest.approx(
        golden["value"]["jump"]
    )


def test_one_row_may_serve_several_copies():
    golden = GOLDEN["path_residual"]
    for rows, key in (([tuple(r) for r in golden["inputs"]["rows"]], "true"), ([], "empty_true")):
        for name in EVERY:
            analysis = analysed(PATH, {"E": Counter(rows)}, beta=0.3, analyses=(name,))
            assert analysis.bounds[0] >= golden["value"][key]


def test_a_cycle_that_is_opened_still_counts_all_its_rows():
    """A residual analysis that cuts a chain and fixes the value at the cut gives 95 118."""
    edges = Table("R", ("a", "b"), VALUES)
    cycle = JoinQuery(
        (edges,),
        tuple((f"t{i}", "R") for i in range(4)),
        And((equal("t0.b", "t1.b"), equal("t1.b", "t2.a"), equal("t2.b", "t3.b"), equal("t3.a", "t0.a"))),
    )
    database = {"R": Counter({(0, 0): 28, (0, 1): 1, (1, 0): 1})}
    snapshot = SQLiteSnapshot(cycle)
    for most_joined in (1, 2, 3):
        prepared = plan_analysis(question_of(cycle), analyses=EVERY, most_joined=most_joined)
        analysis = prepared.read(snapshot.fill(database), beta=BETA)
        assert all(sequence[0] >= 95_179 for sequence in analysis.per_table["R"].values())
    snapshot.close()


# --- mutations that are refused --------------------------------------------------------------------------------------


def problems(query, databases, *, analyses=("patterns",), change=lambda sequence: sequence, most=1, stride=1):
    snapshot, prepared = SQLiteSnapshot(query), plan_analysis(question_of(query), analyses=analyses)

    def bounds(database):
        analysis = prepared.read(snapshot.fill(database), beta=0.5)
        return change(bounds_by_name(analysis, most=2)["minimum"])

    found = check_bounds(bounds, query, databases, most=most, stride=stride)
    snapshot.close()
    return found


EDGES = {"E": Counter({(1, 0): 1, (1, 1): 2})}


def test_values_that_nothing_meets_count(monkeypatch):
    assert problems(TRIANGLE, [NO_TRIANGLE], stride=7) == []
    honest = Met.read

    def obtained_only(self, reader):
        rows = honest(self, reader)
        return np.where(rows[:, :1] > 0, rows, 0)

    monkeypatch.setattr(Met, "read", obtained_only)
    assert any("LS_1 = 20" in problem for problem in problems(TRIANGLE, [NO_TRIANGLE], stride=7))


def test_a_size_that_asks_for_a_value_not_yet_known_is_refused(monkeypatch):
    tables = (
        Table("R", ("a",), VALUES),
        Table("S", ("a", "b"), VALUES),
        Table("U", ("a", "b"), VALUES, private=False),
        Table("W", ("a",), VALUES),
    )
    chain = JoinQuery(
        tables,
        (("r", "R"), ("s", "S"), ("u", "U"), ("w", "W")),
        And((equal("r.a", "s.a"), equal("s.b", "u.a"), equal("u.b", "w.a"))),
    )
    fan = {
        "R": Counter(),
        "S": Counter({(0, 0): 2}),
        "U": Counter([(0, 0), (0, 1), (0, 2)]),
        "W": Counter([(0,), (1,), (2,)]),
    }
    assert problems(chain, [fan]) == []

    def everything_known(form, component):
        return [(j, sorted(set(form.boundary((j,))))) for j in component]

    monkeypatch.setattr("sordino.sql.analysis.patterns.order_positions", everything_known)
    assert problems(chain, [fan])


def test_budgets_of_their_own_for_the_copies_are_refused(monkeypatch):
    databases = [{"T": Counter({(0,): rows})} for rows in (0, 1, 2)]
    assert problems(CUBE, databases) == []
    monkeypatch.setattr(
        Steps, "budgets", lambda self, form, positions: (list(range(len(positions))), [1] * len(positions))
    )
    assert problems(CUBE, databases)


@pytest.mark.parametrize("name", ["patterns", "residual"])
def test_single_copies_alone_are_refused(monkeypatch, name):
    """The same as taking the slope for the jump."""
    assert problems(PATH, [EDGES], analyses=(name,)) == []
    module = __import__(f"sordino.sql.analysis.{name}", fromlist=[name])

    def singles(items):
        # Only the positions of the row: new rows of the other tables come in all combinations.
        same = set(items) == {0, 1}
        return [(item,) for item in items] if same else list_subsets(items)

    monkeypatch.setattr(module, "list_subsets", singles)
    assert problems(PATH, [{"E": Counter()}, EDGES], analyses=(name,))


def test_choosing_an_analysis_by_the_data_is_refused():
    zero, one = Compare("=", Column("e", "b"), 0), Compare("=", Column("f", "b"), 1)
    query = JoinQuery(
        (E, Table("P", ("a",), VALUES, private=False)),
        (("e", "E"), ("f", "E"), ("p", "P")),
        And((equal("e.a", "f.a"), equal("p.a", "f.a"), zero, one)),
    )
    snapshot = SQLiteSnapshot(query)
    fine, coarse = (plan_analysis(question_of(query), analyses=(name,)) for name in ("residual", "elastic"))

    def switched(database):
        chosen = fine if len(database["E"]) <= 2 else coarse
        return bounds_by_name(chosen.read(snapshot.fill(database), beta=0.5), most=2)["minimum"]

    databases = [{"E": Counter({(0, 0): 9, (0, 1): 9}), "P": Counter({(0,): 3, (1,): 3, (2,): 5})}]
    assert problems(query, databases, analyses=("residual",)) == []
    assert problems(query, databases, analyses=("elastic",)) == []
    assert check_bounds(switched, query, databases, most=1)
    snapshot.close()


def test_one_per_cent_less_is_refused():
    assert problems(PATH, [EDGES], change=lambda sequence: [0.99 * value for value in sequence])


PAIR = JoinQuery(
    (Table("R", ("a",), VALUES), Table("S", ("a",), VALUES)),
    (("r", "R"), ("s", "S")),
    And((equal("r.a", "s.a"),)),
)


@pytest.mark.parametrize("name", EVERY)
def test_a_bound_one_step_too_small_is_refused_for_every_analysis(name):
    databases = [{"R": Counter({(0,): 2, (1,): 1}), "S": Counter({(0,): 3, (2,): 1})}]
    assert problems(PAIR, databases, analyses=(name,)) == []
    for change in (lambda b: [x - 1 for x in b], lambda b: [x / 2 for x in b], lambda b: [b[0], *b[:-1]]):
        assert problems(PAIR, databases, analyses=(name,), change=change)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("conditions", [("r.a = s.a", "r.a = u.a"), ("r.a = s.a", "s.b = u.a")])
def test_a_constant_that_is_summed_belongs_to_no_table(name, conditions):
    tables = (Table("R", ("a",), (0, 1)), Table("S", ("a", "b"), (0, 1)), Table("U", ("a",), (0, 1)))
    query = JoinQuery(
        tables,
        (("r", "R"), ("s", "S"), ("u", "U")),
        And(tuple(equal(*condition.split(" = ")) for condition in conditions)),
        aggregate=Sum((), 3, 0, 3),
    )
    databases = [
        {"R": Counter({(0,): 1}), "S": Counter({(0, 0): s}), "U": Counter({(0,): u})}
        for s in (0, 1, 2)
        for u in (0, 1, 2)
    ]
    assert problems(query, databases, analyses=(name,)) == []


def test_the_bound_of_one_table_is_its_reach_over_its_weight_and_nothing_is_asked():
    table = Table("T", ("a",), VALUES, weight=2)
    query = JoinQuery((table,), (("t", "T"),), aggregate=Sum(((1, Column("t", "a")),), 0, -3, 2))
    analysis = analyse(question_of(query), None, beta=0.1)
    assert analysis.bounds == (Fraction(3, 2),)
    bound = analysis.smooth_bound()
    assert bound.constant
    assert bound.at(0.0) == 1.5
    assert bound.distance.weights == (("T", 2.0),)
