"""Enforced keys and checks, against every database within two changes that obeys them, on random tiny cases.

The oracle knows nothing of how keys are used: it looks at all databases near by, leaves out those that break a key or a
check, and takes the largest step between two that are left.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from sqlglot import parse_one

import sordino as sd
from sordino.sql.analysis import keys as by_keys
from sordino.sql.analysis import plan_analysis
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from tests.exact.sql.test_analyses import BETA, EVERY, LARGER, bounds_by_name, private_queries
from tests.exact.sql.test_end_to_end import law_of, loss
from tests.oracles.join_questions import question_of
from tests.oracles.joins import (
    And,
    Column,
    Compare,
    JoinQuery,
    Table,
    TensorQuery,
    inadmissible_pair,
    unsmooth_pair,
)
from tests.oracles.obeying import Promises, random_promises, walk_obeying
from tests.oracles.sqlite_engine import SQLiteSnapshot

VALUES = (0, 1, 2)


def promised(query, promises):
    """The question, whose occurrences know what is promised."""
    question = question_of(query)
    return replace(
        question,
        occurrences=tuple(
            replace(
                occurrence,
                key=promises.keys.get(occurrence.table, ()),
                checks=tuple(
                    parse_one(
                        f"{occurrence.alias}.{check.left.name} {check.op} {occurrence.alias}.{check.right.name}"
                    )
                    for check in [promises.checks.get(occurrence.table)]
                    if check is not None
                ),
            )
            for occurrence in question.occurrences
        ),
    )


def different(table):
    return Compare("<>", *(Column("", name) for name in table.columns))


def find_problems(rng, query, promises, *, steps, trust=True):
    """What is wrong with the bounds of one query; ``trust`` False: the oracle lets neighbours break the promises."""
    compiled = TensorQuery(query, (lambda vectors: promises.obeyed(query, vectors)) if trust else None)
    prepared = plan_analysis(promised(query, promises), analyses=EVERY, most_joined=int(rng.integers(1, 5)))
    snapshot, before, problems = SQLiteSnapshot(query), None, []
    for table, database in walk_obeying(rng, query, promises, steps):
        analysis = prepared.read(snapshot.fill(database), beta=BETA)
        here = bounds_by_name(analysis)
        smooth = {beta: analysis.at(beta) for beta in (BETA, LARGER)}
        local = compiled.local_sensitivity(database, compiled.reach())[None]
        for k, value in enumerate(local):
            problems += [f"{name} at {k}" for name, found in here.items() if found[k] < value - 1e-9]
            problems += [f"at {k}" for beta, bound in smooth.items() if bound < math.exp(-beta * k) * value]
        if before is not None:
            y, theirs, their_smooth = before
            for name, sequence in here.items():
                problems += inadmissible_pair(query, database, y, sequence, theirs[name], table.weight)
            for beta, bound in smooth.items():
                problems += unsmooth_pair(query, database, y, bound, their_smooth[beta], beta * table.weight)
        before = database, here, smooth
    snapshot.close()
    return problems


def run(seed, queries, steps, **options):
    rng = np.random.default_rng(seed)
    problems, used = [], 0
    for query in private_queries(rng, queries):
        promises = random_promises(rng, query, different)
        used += len(query.occurrences) > 1 and bool(promises.keys)
        problems += find_problems(rng, query, promises, steps=steps, **options)
    return used, problems


def test_bounds_hold_between_databases_that_obey_the_keys():
    used, problems = run(seed=210, queries=60, steps=3)
    assert used > 40
    assert problems == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(220, 224))
def test_bounds_hold_on_thousands_of_cases(seed):
    assert run(seed=seed, queries=300, steps=5)[1] == []


def test_keys_that_a_neighbour_may_break_do_not_bound_what_it_changes():
    """The objection to trusting unique columns: a bound by keys fails where neighbours need not obey them."""
    assert run(seed=210, queries=60, steps=1, trust=False)[1]


# --- chains of keys, where the bounds are known


ORDERS = JoinQuery(
    (Table("C", ("a", "b"), VALUES), Table("O", ("a", "b"), VALUES), Table("L", ("a", "b"), VALUES)),
    (("c", "C"), ("o", "O"), ("l", "L")),
    And((Compare("=", Column("c", "a"), Column("o", "b")), Compare("=", Column("o", "a"), Column("l", "b")))),
)
PARENTS = Promises({"C": ("a",), "O": ("a",)})


def read_bounds(query, promises, database):
    snapshot = SQLiteSnapshot(query)
    analysis = plan_analysis(promised(query, promises), analyses=EVERY).read(
        snapshot.fill(database), beta=0.2
    )
    snapshot.close()
    return analysis


def test_a_row_that_finds_all_others_by_key_changes_one_result_at_any_distance():
    _, database = next(walk_obeying(np.random.default_rng(3), ORDERS, PARENTS, 0))
    analysis = read_bounds(ORDERS, PARENTS, database)
    by_name = analysis.per_table["L"]
    assert (
        max(by_name["patterns by keys"]) == max(by_name["residual by keys"]) == max(by_name["elastic"]) == 1
    )
    assert max(by_name["patterns"]) > 1


def test_a_self_join_by_key_meets_the_row_itself_alone():
    E = Table("E", ("a", "b"), VALUES)
    query = JoinQuery(
        (E,), (("x", "E"), ("y", "E")), And((Compare("=", Column("x", "a"), Column("y", "a")),))
    )
    promises = Promises({"E": ("a",)})
    _, database = next(walk_obeying(np.random.default_rng(5), query, promises, 0))
    assert set(read_bounds(query, promises, database).per_table["E"]["patterns"]) == {1}


def test_a_check_rules_out_rows_that_meet_themselves():
    E = Table("E", ("a", "b"), VALUES)
    path = JoinQuery((E,), (("x", "E"), ("y", "E")), And((Compare("=", Column("x", "b"), Column("y", "a")),)))
    rng = np.random.default_rng(7)
    for promises in (Promises(), Promises(checks={"E": different(E)})):
        _, database = next(walk_obeying(rng, path, promises, 0))
        first = read_bounds(path, promises, {"E": database["E"] - database["E"]}).per_table["E"]["patterns"][
            0
        ]
        # A loop joins with itself; without loops nothing joins in an empty table.
        assert first == (0 if promises.checks else 1)


# --- the whole way: policy, statement, noise


POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {
        "l": {"columns": {"x": {"bounds": [-1, 2]}}},
        "o": {"key": {"columns": ["a"], "enforced": True}},
    },
    "budgets": {"ann": {"epsilon": 100}},
}
LINES = [(0, 2), (1, -1), (2, 1)]
PARENT = {
    "count": "SELECT COUNT(*) FROM l JOIN o ON l.a = o.a",
    "sum": "SELECT SUM(l.x) FROM l JOIN o ON l.a = o.a AND o.b > 0",
}


def make_universe(orders):
    lines = [c for size in range(3) for c in itertools.combinations_with_replacement(LINES, size)]
    return list(itertools.product(lines, orders))


# One row for each key, two for none: what the policy promises. And what it rules out.
OBEYING = make_universe(
    [c for size in range(3) for c in itertools.combinations([(0, 1), (1, 0), (2, 1)], size)]
)
ALL = make_universe([((0, 1),) * size for size in range(5)])


def worst_loss(sql, universe):
    owner = duckdb.connect(config={"threads": 1})
    owner.execute("CREATE TABLE l (a BIGINT, x BIGINT); CREATE TABLE o (a BIGINT, b BIGINT)")
    found = {}
    with sd.connect(owner, policy=POLICY) as curator:
        plan = curator.plan(sql, AnswerOptions.checked(1, 0))
        for database in universe:
            owner.execute("DELETE FROM l; DELETE FROM o")
            for name, rows in zip(("l", "o"), database, strict=True):
                for row in rows:
                    owner.execute(f"INSERT INTO {name} VALUES {row}")
            with curator.data.engine.snapshot() as snapshot:
                cell = measure_all(snapshot, plan)[0]
            told = cell.exact, tuple(cell.follows.at(beta) for beta in plan.noises[0].betas)
            found[database] = told, law_of(plan, cell)
    owner.close()
    worst = 0.0
    for x, y in itertools.combinations(universe, 2):
        gap = sum(
            sum(((Counter(a) - Counter(b)) + (Counter(b) - Counter(a))).values())
            for a, b in zip(x, y, strict=True)
        )
        if gap == 1 and found[x][0] != found[y][0]:
            worst = max(worst, loss(found[x][1], found[y][1]))
    return plan, worst


@pytest.mark.parametrize("question", PARENT)
def test_answers_with_keys_have_the_claimed_loss_between_databases_that_obey_them(question):
    plan, spent = worst_loss(PARENT[question], OBEYING)
    assert spent <= 1 + 1e-9
    assert str(plan.guarantee.distance) == (
        "one row added or removed, between databases that obey the declared keys and checks: o (a)"
    )


def test_they_have_not_where_neighbours_break_them():
    assert worst_loss(PARENT["count"], ALL)[1] > 1.1


# --- readings of keys that are refused


def refused(monkeypatch, name, wrong, seed=210, queries=60):
    monkeypatch.setattr(by_keys, name, wrong)
    for user in ("patterns", "residual", "elastic"):
        if hasattr(__import__(f"sordino.sql.analysis.{user}", fromlist=[user]), name):
            monkeypatch.setattr(f"sordino.sql.analysis.{user}.{name}", wrong)
    return run(seed=seed, queries=queries, steps=1)[1]


def test_a_part_of_a_key_finds_several_rows(monkeypatch):
    def partly(form, position, given):
        occurrence = form.occurrences[position]
        return any(
            right(replace_key(form, position, (column,)), position, given) for column in occurrence.key
        )

    def replace_key(form, position, key):
        occurrences = list(form.occurrences)
        occurrences[position] = replace(occurrences[position], key=key)
        return replace(form, occurrences=tuple(occurrences))

    right = by_keys.is_found_by_key
    assert refused(monkeypatch, "is_found_by_key", partly)


def test_a_row_of_another_key_is_met(monkeypatch):
    """Any other position of the table taken for the row itself."""
    assert refused(
        monkeypatch,
        "_meets_itself",
        lambda form: any(
            form.occurrences[j].table == form.occurrences[i].table for i in form.at for j in form.others
        ),
    )


def test_a_position_that_no_key_finds_is_not_dropped(monkeypatch):
    assert refused(monkeypatch, "is_found_by_key", lambda form, position, given: True)


def test_a_check_that_may_hold_rules_nothing_out(monkeypatch):
    assert refused(monkeypatch, "_refutes", lambda form, check: True)


def test_a_class_of_equal_cells_is_not_always_a_key(monkeypatch):
    assert refused(monkeypatch, "is_found_by_classes", lambda form, position, numbers: True)
