"""GROUP BY a category that rows may change: all databases of small universes, joint laws, and mutants."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sordino.audit import prove
from sordino.sensitivity import SmoothBound
from sordino.sql.values import plan, reading
from tests.backends.value_suite import CATEGORIES, FACTOR, Found, ask, ask_groups, count_pairs
from tests.exact.sql.values.test_row_changes import count_jumps
from tests.unit.sql.values.test_value_goldens import INTEGER

QUESTIONS = {
    "sum": ("SUM(x*x - 3*x)", "", None),
    "count": ("COUNT(*)", "", None),
    "filtered count": ("COUNT(*)", "WHERE x > 1", None),
    "smooth sum": ("SUM(x)", "WHERE x > 1", "sigmoid(1.5)"),
    "least": ("MIN(x)", "WHERE x > 0", None),
    "largest of the categories themselves": ("MAX(CASE WHEN k = 'b' THEN 2*x ELSE x END)", "", None),
}
DATABASES = CATEGORIES.databases()
DISTANCE = CATEGORIES.distances({"t": lambda moves, _: moves[0] + FACTOR * moves[1]})


def run(name: str, **options: Any) -> list[Found]:
    """f and c of every database, for each category."""
    aggregate, where, filters = QUESTIONS[name]
    sql = f"SELECT db, k, {aggregate} AS s FROM t {where} GROUP BY db, k"
    return ask_groups(
        CATEGORIES.arrow(), CATEGORIES.policy(), sql, len(DATABASES), filters=filters, **options
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_group_keeps_both_inequalities(name):
    for found in run(name):
        pairs, fast, far = count_pairs(found, DISTANCE)
        assert pairs > 10_000
        assert (fast, far) == (0, 0)


def test_answers_are_those_of_the_groups():
    wanted = {
        "sum": lambda xs: sum(x * x - 3 * x for x in xs),
        "count": len,
        "filtered count": lambda xs: sum(x > 1 for x in xs),
    }
    for name, total in wanted.items():
        for category, found in zip("abc", run(name), strict=True):
            by_hand = [total([x for x, k in database["t"] if k == category]) for database in DATABASES]
            assert np.allclose(found.values, by_hand, atol=1e-8), name


def test_a_category_grouped_as_if_it_were_public_is_refused(monkeypatch):
    """Bounds of a group from the rows of that group alone: they jump with the category."""
    monkeypatch.setattr(reading, "_name_groups", lambda place, names: "")
    broken = 0
    with np.errstate(divide="ignore", invalid="ignore"):  # c is 0 where a group has no row
        for found in run("sum"):
            broken += sum(count_pairs(found, DISTANCE)[1:])
    assert broken > 0


# --- the law of all groups together: independent draws, so the largest losses add up

# all contents of one row, beside one of the other
SOME = [i for i, database in enumerate(DATABASES) if database["t"][1] == (2, "b")]


def find_loss(groups: list[Found], first: int, second: int) -> float:
    """The largest log-ratio of two databases over all numbers that the groups can give."""
    total = 0.0
    for found in groups:
        grid = found.plan.noises[0].grid

        def law(database: int, found: Found = found, grid: Any = grid) -> Any:
            known = dict(zip(found.betas, found.bounds[database], strict=True))
            bound = SmoothBound(known.__getitem__, kind="derivative")
            return grid.law(Fraction(found.values[database]), bound, step=Fraction(1, 2))

        near = {first: [second], second: [first]}
        total += prove(law, [first, second], near.__getitem__, 1.0).worst_epsilon
    return total


def list_moves() -> list[tuple[int, int]]:
    """Pairs one granule or one jump apart."""
    return [
        (i, j)
        for i, j in itertools.combinations(SOME, 2)
        if sum(a != b for a, b in zip(DATABASES[i]["t"][0], DATABASES[j]["t"][0], strict=True)) == 1
        and DISTANCE[i, j] <= FACTOR
    ]


@pytest.mark.parametrize(("name", "epsilon"), [("count", 1.0), ("sum", 2.0)])
def test_all_groups_together_lose_epsilon_per_unit(name, epsilon):
    groups = run(name, epsilon=epsilon)
    moves = list_moves()
    assert len(moves) > 20
    for first, second in moves:
        assert find_loss(groups, first, second) <= epsilon * DISTANCE[first, second] * (1 + 1e-9)


def test_epsilon_for_each_group_is_refused(monkeypatch):
    monkeypatch.setattr(plan, "share_categories", lambda count: 1)
    groups = run("count", epsilon=1.0)
    moved = [
        find_loss(groups, first, second) / DISTANCE[first, second]
        for first, second in list_moves()
        if DISTANCE[first, second] == FACTOR
    ]
    assert max(moved) > 1.0


# --- rows that come and go beside


def answer_coming(weight: float, sql: str) -> tuple[list[Found], np.ndarray, np.ndarray]:
    """Of all databases of up to two rows: f and c by category, distances by definition, numbers of rows."""
    one = list(itertools.product("ab", (0, 1, 2)))
    databases = [rows for count in range(3) for rows in itertools.combinations_with_replacement(one, count)]
    rows = [(db, i, *row) for db, chosen in enumerate(databases) for i, row in enumerate(chosen)]
    table = pa.table(dict(zip(("db", "id", "k", "x"), zip(*rows, strict=True), strict=True)))
    declared = {
        "norm": f"l1(x, {FACTOR}*is(k))",
        "weight": weight,
        "key": ["db", "id"],
        "columns": {
            "db": INTEGER | {"public": True, "domain": list(range(len(databases)))},
            "id": INTEGER | {"public": True},
            "k": {"type": "text", "domain": ["a", "b"]},
            "x": INTEGER | {"bounds": [0, 2]},
        },
    }
    policy = {"version": 1, "dataset": "tiny", "protects": "row+values", "tables": {"t": declared}}
    distance = np.array([[apart(one, two, weight) for two in databases] for one in databases])
    sizes = np.array([len(database) for database in databases])
    return ask_groups({"t": table}, policy, sql, len(databases)), distance, sizes


def apart(first: tuple[Any, ...], second: tuple[Any, ...], weight: float) -> float:
    """The cheapest way to pair some rows, all others going and coming."""
    short, long = sorted((first, second), key=len)
    best = weight * (len(first) + len(second))
    for count in range(1, len(short) + 1):
        for chosen in itertools.combinations(short, count):
            for others in itertools.permutations(long, count):
                moved = sum(
                    abs(a[1] - b[1]) + FACTOR * (a[0] != b[0]) for a, b in zip(chosen, others, strict=True)
                )
                best = min(best, moved + weight * (len(first) + len(second) - 2 * count))
    return best


@pytest.mark.parametrize("weight", [1, 7])
@pytest.mark.parametrize("aggregate", ["SUM(x*x)", "COUNT(*)", "MIN(x)"])
def test_rows_that_come_and_go(aggregate, weight):
    groups, distance, sizes = answer_coming(weight, f"SELECT db, k, {aggregate} AS s FROM t GROUP BY db, k")
    for found in groups:
        assert count_pairs(found, distance)[1:] == (0, 0)
        assert count_jumps(found, distance, sizes, weight) == 0


def test_half_the_bound_is_refused():
    groups, distance, sizes = answer_coming(1, "SELECT db, k, SUM(x*x) AS s FROM t GROUP BY db, k")
    wrong = replace(groups[0], bounds=groups[0].bounds / 2)
    assert count_jumps(wrong, distance, sizes, 1) > 0


def test_groups_need_the_share_of_categories_only_once():
    """Two public groups of rows that are added up take all of what a category leaves."""
    found = ask(
        CATEGORIES.arrow(), CATEGORIES.policy(), "SELECT db, COUNT(*) AS s FROM t WHERE k = 'a' GROUP BY db"
    )
    groups = run("count")
    assert groups[0].plan.noises[0].grid.epsilon == pytest.approx(found.plan.noises[0].grid.epsilon / 3)
    assert "3 categories that rows may move between share it evenly" in str(groups[0].plan.guarantee)
