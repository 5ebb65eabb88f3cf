"""Rows that come and go beside cells that move: all small databases, through the statements that are sent."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sordino.audit import prove
from sordino.sensitivity import SmoothBound
from sordino.sql.analysis import Analysis
from sordino.sql.values import row_changes
from tests.backends.value_suite import Found, ask, count_pairs
from tests.oracles.test_oracles import agrees, golden
from tests.unit.sql.values.test_value_goldens import INTEGER, measure_all

Row = tuple[int, int]  # the public column k and the cell x


@dataclass(frozen=True)
class Rows:
    """All databases of one table with up to ``most`` rows."""

    keys: tuple[int, ...]
    cells: tuple[int, ...]
    most: int

    def states(self) -> list[tuple[Row, ...]]:
        """Multisets of rows."""
        one = list(itertools.product(self.keys, self.cells))
        return [
            state
            for count in range(self.most + 1)
            for state in itertools.combinations_with_replacement(one, count)
        ]


def apart(first: tuple[Row, ...], second: tuple[Row, ...], weight: float) -> float:
    """By definition: the cheapest way to pair some rows of equal k, all others going and coming."""
    short, long = sorted((first, second), key=len)
    best = weight * (len(first) + len(second))
    for count in range(1, len(short) + 1):
        for chosen in itertools.combinations(range(len(short)), count):
            for others in itertools.permutations(range(len(long)), count):
                pairs = [(short[i], long[j]) for i, j in zip(chosen, others, strict=True)]
                if all(a[0] == b[0] for a, b in pairs):
                    moved = sum(abs(a[1] - b[1]) for a, b in pairs)
                    best = min(best, moved + weight * (len(first) + len(second) - 2 * count))
    return best


def answer(
    tables: dict[str, Rows], weight: float, sql: str, **options: Any
) -> tuple[Found, np.ndarray, np.ndarray]:
    """f and c of all databases, their distances, and their numbers of rows."""
    states = [table.states() for table in tables.values()]
    databases = list(itertools.product(*states))
    found, policy = {}, {}
    for place, (name, table) in enumerate(tables.items()):
        rows = [(db, i, *row) for db, chosen in enumerate(databases) for i, row in enumerate(chosen[place])]
        columns = list(zip(*rows, strict=True))
        found[name] = pa.table(dict(zip(("db", "id", "k", "x"), columns, strict=True)))
        policy[name] = {
            "norm": "x",
            "weight": weight,
            "key": ["db", "id"],
            "columns": {
                "db": INTEGER | {"public": True, "domain": list(range(len(databases)))},
                "id": INTEGER | {"public": True},
                "k": INTEGER | {"public": True},
                "x": INTEGER | {"bounds": [min(table.cells), max(table.cells)]},
            },
        }
    declared = {"version": 1, "dataset": "tiny", "protects": "row+values", "tables": policy}
    distance: Any = 0.0
    for place, some in enumerate(states):
        near = {(one, two): apart(one, two, weight) for one, two in itertools.product(some, repeat=2)}
        distance = distance + np.array([[near[a[place], b[place]] for b in databases] for a in databases])
    sizes = np.array([sum(map(len, database)) for database in databases])
    return ask(found, declared, sql, **options), distance, sizes


TWO = {"r": Rows((0, 1), (0, 1, 2), 2), "s": Rows((0, 1), (0, 2), 1)}
ONE = {"r": Rows((0,), (0, 1, 2), 4)}
SAME = {"r": Rows((0, 1), (0, 1, 2), 3)}
QUESTIONS = {
    "join": (TWO, "SELECT r.db, SUM(r.x*s.x) AS s FROM r JOIN s ON r.k = s.k AND r.db = s.db GROUP BY r.db", None),
    "join with a filter": (
        TWO, "SELECT r.db, COUNT(*) AS s FROM r JOIN s ON r.k = s.k AND r.db = s.db WHERE r.x >= s.x GROUP BY r.db",
        None),
    "sum": (ONE, "SELECT db, SUM(x*x) AS s FROM r WHERE x > 0 GROUP BY db", "sigmoid(2)"),
    "count of rows": (ONE, "SELECT db, COUNT(*) AS s FROM r GROUP BY db", None),
    "least of numbers far from 0": (ONE, "SELECT db, MIN(x + 100) AS s FROM r GROUP BY db", None),
    "least": (ONE, "SELECT db, MIN(x*x) AS s FROM r WHERE x > 0 GROUP BY db", None),
    "largest of a join": (
        TWO, "SELECT r.db, MAX(r.x*s.x) AS s FROM r JOIN s ON r.k = s.k AND r.db = s.db GROUP BY r.db", None),
    "self-join": (
        SAME, "SELECT a.db, SUM(a.x*b.x) AS s FROM r a JOIN r b ON a.k = b.k AND a.db = b.db GROUP BY a.db", None),
}  # fmt: skip


def count_jumps(found: Found, distance: np.ndarray, sizes: np.ndarray, weight: float) -> int:
    """Pairs one row apart where f moves by more than the weight times the smaller c."""
    near = np.isclose(distance, weight) & (np.abs(sizes[:, None] - sizes[None, :]) == 1)
    assert near.any()
    gap = np.abs(found.values[:, None] - found.values[None, :])
    far = 0
    for place in range(len(found.betas)):
        c = found.bounds[:, place]
        allowed = weight * np.minimum(c[:, None], c[None, :])
        far += int((near & (gap > allowed * (1 + 1e-9))).sum())
    return far


@pytest.mark.parametrize("weight", [1, 7])
@pytest.mark.parametrize("name", QUESTIONS)
def test_all_pairs_of_databases_keep_all_inequalities(name, weight):
    tables, sql, filters = QUESTIONS[name]
    found, distance, sizes = answer(tables, weight, sql, filters=filters)
    pairs, fast, far = count_pairs(found, distance)
    assert pairs > 1000
    assert (fast, far) == (0, 0)
    assert count_jumps(found, distance, sizes, weight) == 0


def test_the_discount_with_todays_count_is_refused(monkeypatch):
    """e^(−βG)·K·A(0) in the place of the largest e^(−βk)·K·A(k) from G on."""
    tables, sql, _ = QUESTIONS["self-join"]

    def wrong(self, beta, table, least):
        return float(np.exp(-beta * float(least))) * self.at_once(table)

    assert count_pairs(*answer(tables, 7, sql, epsilon=0.3)[:2])[1] == 0
    monkeypatch.setattr(Analysis, "from_distance", wrong)
    found, distance, _ = answer(tables, 7, sql, epsilon=0.3)
    assert count_pairs(found, distance)[1] > 0


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.2, False)])
def test_the_law_of_the_answer_loses_epsilon_per_unit(factor, holds):
    """Exact laws of the released number, for all pairs one row or one granule apart; and with a fifth of the bound."""
    tables, sql, filters = QUESTIONS["sum"]
    weight, epsilon = 2, 1.0
    found, distance, _ = answer(tables, weight, sql, filters=filters, epsilon=epsilon)
    grid = found.plan.noises[0].grid

    def law(database):
        known = dict(zip(found.betas, factor * found.bounds[database], strict=True))
        bound = SmoothBound(known.__getitem__, kind="derivative")
        return grid.law(Fraction(found.values[database]), bound, step=Fraction(1))

    some = range(0, len(found.values), 2)
    proofs = []
    for length in (1.0, 2.0):
        near = {i: [j for j in some if abs(distance[i, j] - length) < 1e-9] for i in some}
        assert any(near.values())
        proofs.append(prove(law, some, near.__getitem__, epsilon * length))
    assert all(proof.holds for proof in proofs) == holds


def test_cells_alone_are_refused(monkeypatch):
    """Without the term of a row more or less."""
    tables, sql, _ = QUESTIONS["join"]
    terms = row_changes._terms
    monkeypatch.setattr(row_changes, "_terms", lambda *given: (0.0, *terms(*given)[1:]))
    found, distance, _ = answer(tables, 0.25, sql)
    assert count_pairs(found, distance)[2] > 0


@pytest.mark.parametrize("weight", [10, 1, 100])
def test_the_numbers_of_the_specification(weight, monkeypatch):
    """R = (0, .5), (0, 1), (1, .25), S = (0, 1), (0, .5), (1, 0), SUM(x·y), β = .1."""
    kept = []
    terms = row_changes._terms

    def keep(*given):
        kept.append(terms(*given))
        return kept[-1]

    monkeypatch.setattr(row_changes, "_terms", keep)
    table = {
        "norm": "x",
        "weight": weight,
        "key": "id",
        "columns": {
            "id": INTEGER | {"public": True},
            "k": INTEGER | {"public": True},
            "x": {"type": "float", "granularity": 0.25, "bounds": [0, 1]},
        },
    }
    rows = {
        "r": pa.table({"id": [1, 2, 3], "k": [0, 0, 1], "x": [0.5, 1.0, 0.25]}),
        "s": pa.table({"id": [1, 2, 3], "k": [0, 0, 1], "x": [1.0, 0.5, 0.0]}),
    }
    sql = "SELECT SUM(r.x*s.x) FROM r JOIN s ON r.k = s.k"
    value, bounds = measure_all(rows, {"r": table, "s": table}, sql, 0.1, protects="row+values")
    wanted = golden("values", f"rows_and_values_{weight}")["value"]
    assert agrees(value, golden("values", "rows_and_values_answer"))
    assert max(bounds.values()) == pytest.approx(max(wanted), abs=1e-6)
    # kept at every β of the grid and at .1, for both tables
    assert sum(np.allclose(found, wanted, atol=1e-6) for found in kept) >= 2
