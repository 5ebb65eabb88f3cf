"""Questions about values over whole universes of small databases at once, through the real statements.

Every database of a universe is a group of one table, so that a single statement per measure and table gives the exact
number and the bounds of all of them. Distances are computed from the definition. For every pair of databases at
distance d and every β of the grid two inequalities must hold: |ln c(x) − ln c(y)| ≤ βd, and, integrated along the way,
|f(x) − f(y)| ≤ c(x)·(e^(βd) − 1)/β.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sordino.curator import connect
from sordino.curator.questions.sql import plan_sql
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.values.plan import ValuePlan

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class PrivateTable:
    """Public columns of its rows, and the lattice of each protected column."""

    norm: str
    public: dict[str, tuple[int, ...]]
    lattice: dict[str, tuple[Any, ...]]
    rows: str = "1"
    columns: dict[str, Any] = field(default_factory=dict)

    def states(self) -> list[Rows]:
        """All contents: one tuple of cells per row."""
        count = len(next(iter(self.public.values())))
        one = list(itertools.product(*self.lattice.values()))
        return list(itertools.product(one, repeat=count))


@dataclass(frozen=True)
class Universe:
    """All databases of some tables."""

    tables: dict[str, PrivateTable]

    def databases(self) -> list[dict[str, Rows]]:
        """Every combination of contents."""
        states = [table.states() for table in self.tables.values()]
        return [dict(zip(self.tables, chosen, strict=True)) for chosen in itertools.product(*states)]

    def arrow(self) -> dict[str, pa.Table]:
        """All databases in one, with their numbers in the column db."""
        found = {}
        databases = self.databases()
        for name, table in self.tables.items():
            count = len(next(iter(table.public.values())))
            columns: dict[str, list[Any]] = {"db": [db for db in range(len(databases)) for _ in range(count)]}
            for column, values in table.public.items():
                columns[column] = [values[row] for _ in databases for row in range(count)]
            for place, column in enumerate(table.lattice):
                columns[column] = [row[place] for database in databases for row in database[name]]
            found[name] = pa.table(columns)
        return found

    def policy(self) -> dict[str, Any]:
        """Everything declared."""
        domain = list(range(len(self.databases())))
        tables: dict[str, Any] = {}
        for name, table in self.tables.items():
            columns: dict[str, Any] = {"db": {"type": "integer", "public": True, "domain": domain}}
            columns |= {
                column: {"type": "integer", "public": True, "bounds": [0, 10]} for column in table.public
            }
            for column, values in table.lattice.items():
                if isinstance(values[0], str):
                    columns[column] = {"type": "text", "domain": list(values)}
                else:
                    columns[column] = {"type": "integer", "bounds": [min(values), max(values)]}
            tables[name] = {
                "norm": table.norm,
                "rows": table.rows,
                "key": ["db", *table.public],
                "columns": columns | table.columns,
            }
        return {"version": 1, "dataset": "tiny", "protects": "values", "tables": tables}

    def distances(self, lengths: dict[str, Any]) -> np.ndarray:
        """Between all databases: ℓ_p over rows of the row's length, tables added up. ``lengths``: by definition."""
        total: Any = 0.0
        databases = self.databases()
        for name, table in self.tables.items():
            p = float(table.rows)
            cells = [
                np.array([[row[i] for row in db[name]] for db in databases])
                for i in range(len(table.lattice))
            ]
            parts = []
            for row in range(cells[0].shape[1]):
                moves = [
                    (cell[:, None, row] != cell[None, :, row]).astype(float)
                    if cell.dtype.kind == "U"
                    else np.abs(cell[:, None, row] - cell[None, :, row])
                    for cell in cells
                ]
                logs = [
                    np.abs(np.log(cell[:, None, row]) - np.log(cell[None, :, row]))
                    if cell.dtype.kind != "U" and (cell > 0).all()
                    else None
                    for cell in cells
                ]
                parts.append(lengths[name](moves, logs))
            stacked = np.array(parts)
            total = total + (stacked.max(axis=0) if math.isinf(p) else (stacked**p).sum(axis=0) ** (1 / p))
        return np.asarray(total)


@dataclass(frozen=True)
class Found:
    """f and c of every database; c by β."""

    values: np.ndarray
    bounds: np.ndarray
    betas: tuple[float, ...]
    plan: ValuePlan


def ask(
    target: Any, policy: dict[str, Any], sql: str, *, filters: str | None = None, epsilon: float = 1.0
) -> Found:
    """The first measure of a question grouped by db."""
    return _ask(target, policy, sql, filters, epsilon)


def ask_groups(
    target: Any,
    policy: dict[str, Any],
    sql: str,
    databases: int,
    *,
    filters: str | None = None,
    epsilon: float = 1.0,
) -> list[Found]:
    """The same for a question grouped by db and a second key: one answer for each value of that."""
    found = _ask(target, policy, sql, filters, epsilon)
    values, limits = (part.reshape(databases, -1, *part.shape[1:]) for part in (found.values, found.bounds))
    return [
        Found(values[:, place], limits[:, place], found.betas, found.plan) for place in range(values.shape[1])
    ]


def _ask(target: Any, policy: dict[str, Any], sql: str, filters: str | None, epsilon: float) -> Found:
    with connect(target, policy=policy) as curator:
        plan = plan_sql(curator.data, sql, AnswerOptions.checked(epsilon, 0, noise="cauchy"), filters)
        assert isinstance(plan, ValuePlan)
        with curator.data.engine.snapshot() as snapshot:
            cells = plan.measure(snapshot)
    step = float(plan.statement.measures[0].step)
    first = [cell for cell in cells if cell.measure == 0]
    values = np.array([cell.exact * step for cell in first])
    bounds = np.array([[cell.bound.at(beta) * step for beta in cell.betas] for cell in first])
    return Found(values, bounds, first[0].betas, plan)


def count_pairs(found: Found, distance: np.ndarray) -> tuple[int, int, int]:
    """Pairs, those where c moves too fast, and those where f moves too far."""
    fast = far = 0
    gap = np.abs(found.values[:, None] - found.values[None, :])
    for place, beta in enumerate(found.betas):
        c = found.bounds[:, place]
        ratio = np.abs(np.log(c)[:, None] - np.log(c)[None, :])
        fast += int((ratio > beta * distance + 1e-9).sum())
        allowed = c[:, None] * np.expm1(beta * distance) / beta
        far += int((gap > allowed * (1 + 1e-9)).sum())
    return len(c) ** 2 * len(found.betas), fast, far


def _sum(moves: Any, logs: Any) -> Any:
    return moves[0] + 0.5 * moves[1]


ONE = Universe(
    {"t": PrivateTable("l1(x, 0.5*y)", {"id": (1, 2)}, {"x": (0, 1, 2, 3), "y": (1, 2, 3)})},
)
ROUND = Universe(
    {"t": PrivateTable("l2(x, y)", {"id": (1, 2)}, {"x": (0, 1, 2, 3), "y": (1, 2, 3)}, rows="2")},
)
LOGS = Universe(
    {"t": PrivateTable("l1(x, 2*log(y), 1.5*is(k))", {"id": (1,)},
                       {"x": (0, 1, 2, 3), "y": (1, 2, 3, 4), "k": ("EE", "FI", "other")})},
)  # fmt: skip
JOIN = Universe(
    {
        "item": PrivateTable("price", {"id": (1, 2)}, {"price": (0, 1, 2, 4)}),
        "sale": PrivateTable("0.5*qty", {"nr": (1, 2), "item": (1, 1)}, {"qty": (0, 1, 3)}, rows="inf"),
    }
)
SHIPS = Universe({"ship": PrivateTable("l2(x, y)", {"id": (1, 2)}, {"x": (0, 1, 2, 3), "y": (0, 1, 2)})})

# an exponent whose dual is above 8, and categories that are in no domain
STEEP = Universe(
    {"t": PrivateTable("l1.02(x, y)", {"id": (1, 2)}, {"x": (0, 1, 2, 3), "y": (1, 2, 3)}, rows="1.02")},
)
ODD = Universe(
    {"t": PrivateTable("l1(x, is(k), is(m))", {"id": (1,)},
                       {"x": (0, 1, 2, 3, 4), "k": ("a", "b", "odd"), "m": ("a", "odd", "b")},
                       columns={name: {"type": "text", "domain": ["a", "b"]} for name in "km"})},
)  # fmt: skip

FACTOR = 1.5
CATEGORIES = Universe(
    {"t": PrivateTable(f"l1(x, {FACTOR}*is(k))", {"id": (1, 2)}, {"x": (0, 1, 2, 3), "k": ("a", "b", "c")})},
)

# name → universe, the length of a row's move by definition, question, filters
CASES: dict[str, tuple[Universe, dict[str, Any], str, str | None]] = {
    "product": (ONE, {"t": _sum}, "SELECT db, SUM(x*y) AS s FROM t GROUP BY db", None),
    "count with exact filters": (
        ONE, {"t": _sum}, "SELECT db, COUNT(*) AS n FROM t WHERE x > y OR x BETWEEN 1 AND 2 GROUP BY db", None),
    "sum with sigmoids": (
        ONE, {"t": _sum}, "SELECT db, SUM(x) AS s FROM t WHERE y >= 2 AND x < 3 GROUP BY db", "sigmoid(1.5)"),
    "minimum with a ramp": (ONE, {"t": _sum}, "SELECT db, MIN(x*x) AS s FROM t WHERE y > 1 GROUP BY db", "ramp(2)"),
    "maximum of a case": (
        ONE, {"t": _sum}, "SELECT db, MAX(CASE WHEN x = y THEN 2*x ELSE ABS(x - y) END) AS s FROM t GROUP BY db", None),
    "length in l2": (
        ROUND, {"t": lambda m, _: np.hypot(m[0], m[1])},
        "SELECT db, SUM(SQRT(x*x + y*y)) AS s FROM t GROUP BY db", None),
    "division in l2": (
        ROUND, {"t": lambda m, _: np.hypot(m[0], m[1])}, "SELECT db, SUM(EXP(x/3)/y) AS s FROM t GROUP BY db", None),
    "logarithms and categories": (
        LOGS, {"t": lambda m, logs: m[0] + 2 * logs[1] + 1.5 * m[2]},
        "SELECT db, SUM(x/y) AS s FROM t WHERE k IN ('EE', 'FI') GROUP BY db", None),
    "an exponent near 1": (
        STEEP, {"t": lambda m, _: (m[0]**1.02 + m[1]**1.02) ** (1 / 1.02)},
        "SELECT db, SUM(1000000*x*y) AS s FROM t GROUP BY db", None),
    "categories outside of their domains": (
        ODD, {"t": lambda m, _: m[0] + m[1] + m[2]},
        "SELECT db, SUM(CASE WHEN k = 'a' AND m = 'a' THEN x WHEN k = 'b' AND m = 'a' THEN 9 + x WHEN k = 'a' THEN -9 "
        "ELSE 0 END) AS s FROM t GROUP BY db", None),
    "join": (
        JOIN, {"item": lambda m, _: m[0], "sale": lambda m, _: 0.5 * m[0]},
        "SELECT item.db, SUM(price*qty) AS s FROM item JOIN sale ON item.id = sale.item AND item.db = sale.db "
        "WHERE qty > 0 GROUP BY item.db", None),
    "self-join with itself": (
        SHIPS, {"ship": lambda m, _: np.hypot(m[0], m[1])},
        "SELECT a.db, SUM(a.x*a.x*b.x*b.x) AS s FROM ship AS a JOIN ship AS b ON a.db = b.db GROUP BY a.db", None),
    "self-join of two rows": (
        SHIPS, {"ship": lambda m, _: np.hypot(m[0], m[1])},
        "SELECT a.db, SUM(a.x*a.x*b.x*b.x) AS s FROM ship AS a JOIN ship AS b ON a.db = b.db AND a.id <> b.id "
        "GROUP BY a.db", None),
    "self-join of rows in l2": (
        ROUND, {"t": lambda m, _: np.hypot(m[0], m[1])},
        "SELECT a.db, SUM(a.x*a.x*b.y) AS s FROM t a JOIN t b ON a.db = b.db AND a.id < b.id GROUP BY a.db", None),
    "distance of ships": (
        SHIPS, {"ship": lambda m, _: np.hypot(m[0], m[1])},
        "SELECT a.db, MIN(SQRT((a.x - b.x)*(a.x - b.x) + (a.y - b.y)*(a.y - b.y))) AS s FROM ship AS a "
        "JOIN ship AS b ON a.db = b.db WHERE a.id < b.id GROUP BY a.db", None),
}  # fmt: skip
