"""Seven kinds of questions over joined tables of ships, ports and staff whose cells are protected.

python benchmarks/value_joins.py [--rows 100000]

Error at 95 % beside that of protecting rows at the same ε where the same question is answered so, and time beside the
plain query, both at their best of four, all β of the grid together. A unit is 100 m, 5 % of the speed, a ton,
100 €, or an hour.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import sordino as sd
from sordino.curator.questions.sql import plan_sql
from sordino.sql.answering.plan import AnswerOptions

PUBLIC = {"type": "integer", "public": True}
SEA = {"type": "float", "granularity": 0.01, "bounds": [-300, 300]}
PORTS = 20
TABLES: dict[str, Any] = {
    "ship": {
        "norm": "l1(10*l2(x, y), 20*log(speed), cargo)",
        "key": "id",
        "columns": {
            "id": PUBLIC,
            "dest": PUBLIC | {"domain": list(range(PORTS))},
            "x": SEA,
            "y": SEA,
            "speed": {"type": "float", "granularity": 0.1, "bounds": [1, 60]},
            "cargo": {"type": "integer", "bounds": [0, 500]},
        },
    },
    "fleet": {"norm": "10*l2(x, y)", "key": "id", "columns": {"id": PUBLIC, "x": SEA, "y": SEA}},
    "port": {
        "private": False,
        "columns": {
            "port": {"type": "integer", "domain": list(range(PORTS))},
            "px": {"type": "float", "bounds": [-300, 300]},
            "py": {"type": "float", "bounds": [-300, 300]},
        },
    },
    "staff": {
        "norm": "l1(0.01*salary, hours)",
        "key": "id",
        "columns": {
            "id": PUBLIC,
            "salary": {"type": "integer", "bounds": [0, 10000]},
            "hours": {"type": "integer", "bounds": [0, 80]},
        },
    },
    "work": {
        "norm": "share",
        "key": "nr",
        "columns": {"nr": PUBLIC, "staff": PUBLIC, "share": {"type": "integer", "bounds": [0, 10]}},
    },
}
DISTANCE = "SQRT((x - px)*(x - px) + (y - py)*(y - py))"
ARRIVING = "FROM ship JOIN port ON ship.dest = port.port"
QUESTIONS = {
    "ships within 50 km of their port": (f"SELECT COUNT(*) AS n {ARRIVING} WHERE {DISTANCE} < 50", "ramp(2)"),
    "the same by port": (
        f"SELECT port.port, COUNT(*) AS n {ARRIVING} WHERE {DISTANCE} < 50 GROUP BY port.port",
        "ramp(2)",
    ),
    "hours until the first arrives": (f"SELECT MIN({DISTANCE}/speed) AS h {ARRIVING}", None),
    "cargo that arrives within 10 hours": (
        f"SELECT SUM(cargo) AS c {ARRIVING} WHERE {DISTANCE}/speed < 10",
        "ramp(2)",
    ),
    "how close two ships come": (
        "SELECT MIN(SQRT((a.x - b.x)*(a.x - b.x) + (a.y - b.y)*(a.y - b.y))) AS d FROM fleet AS a JOIN fleet AS b "
        "ON a.id < b.id",
        None,
    ),
    "salaries of those above 40 hours": ("SELECT SUM(salary) AS s FROM staff WHERE hours > 40", None),
    "their salaries by share of work": (
        "SELECT SUM(salary*share) AS s FROM staff JOIN work ON staff.id = work.staff WHERE hours > 40",
        None,
    ),
}
# The same in words that questions about rows know, which have no square roots.
SQUARE = "((x - px)*(x - px) + (y - py)*(y - py))"
BY_ROWS = {
    "ships within 50 km of their port": f"SELECT COUNT(*) AS n {ARRIVING} WHERE {SQUARE} < 2500",
    "the same by port": f"SELECT port.port, COUNT(*) AS n {ARRIVING} WHERE {SQUARE} < 2500 GROUP BY port.port",
    "cargo that arrives within 10 hours": f"SELECT SUM(cargo) AS c {ARRIVING} WHERE {SQUARE} < 100*speed*speed",
}


def make_tables(rows: int) -> dict[str, pa.Table]:
    """The same on every run."""
    random = np.random.default_rng(7)
    fleet = min(rows, 1000)
    return {
        "ship": pa.table(
            {
                "id": np.arange(rows),
                "dest": random.integers(0, PORTS, rows),
                "x": np.round(random.uniform(-300, 300, rows), 2),
                "y": np.round(random.uniform(-300, 300, rows), 2),
                "speed": np.round(random.uniform(5, 30, rows), 1),
                "cargo": random.integers(0, 500, rows),
            }
        ),
        "fleet": pa.table(
            {
                "id": np.arange(fleet),
                "x": np.round(random.uniform(-300, 300, fleet), 2),
                "y": np.round(random.uniform(-300, 300, fleet), 2),
            }
        ),
        "port": pa.table(
            {
                "port": np.arange(PORTS),
                "px": np.round(random.uniform(-250, 250, PORTS)),
                "py": np.round(random.uniform(-250, 250, PORTS)),
            }
        ),
        "staff": pa.table(
            {
                "id": np.arange(rows),
                "salary": random.integers(1500, 6000, rows),
                "hours": random.integers(10, 60, rows),
            }
        ),
        "work": pa.table(
            {
                "nr": np.arange(rows),
                "staff": random.permutation(rows),
                "share": random.integers(0, 10, rows),
            }
        ),
    }


def policy(protects: str) -> dict[str, Any]:
    """The tables as values, or as rows without norms."""
    tables = TABLES
    if protects == "row":
        tables = {
            name: {field: content for field, content in table.items() if field != "norm"}
            | {
                "columns": {
                    column: {key: value for key, value in known.items() if key != "public"}
                    for column, known in table["columns"].items()
                }
            }
            for name, table in TABLES.items()
        }
    return {"version": 1, "dataset": "harbour", "protects": protects, "tables": tables}


def error_of(curator: sd.Curator, sql: str, **options: Any) -> float | None:
    """The largest error at 95 %, or None where the question is refused."""
    try:
        facts = curator.explain(sql, 1, **options).reveal()
    except sd.SordinoError:
        return None
    return max(number["error"]["95%"] for number in facts["numbers"])


def main() -> None:
    """Print one line per question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    tables = make_tables(given.rows)
    plain = duckdb.connect()
    for name, table in tables.items():
        plain.register(f"{name}_rows", table)
        plain.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")
    print(f"{'question':36} {'answer':>11} {'values ±':>10} {'rows ±':>10} {'plain s':>8} {'ratio':>6}")
    with (
        sd.connect(tables, policy=policy("values")) as curator,
        sd.connect(tables, policy=policy("row")) as by_rows,
    ):
        for name, (sql, filters) in QUESTIONS.items():
            alone = math.inf
            for _ in range(4):
                began = time.process_time()
                answer = plain.execute(sql).fetchall()[0][-1]
                alone = min(alone, time.process_time() - began)
            plan = plan_sql(curator.data, sql, AnswerOptions.checked(1, 0), filters)
            private = math.inf
            for _ in range(4):
                with curator.data.engine.snapshot() as snapshot:
                    began = time.process_time()
                    plan.measure(snapshot)
                    private = min(private, time.process_time() - began)
            rows = error_of(by_rows, BY_ROWS.get(name, sql))
            told = "refused" if rows is None else f"{rows:10.4g}"
            print(
                f"{name:36} {float(answer):11.6g} {error_of(curator, sql, filters=filters):10.4g} {told:>10} "
                f"{alone:8.3f} {private / alone:6.1f}"
            )


if __name__ == "__main__":
    main()
