"""Questions about one table that SmartNoise SQL and Qrlew answer too: error and time at the same ε, all on DuckDB.

One row is the unit of privacy for all three. SmartNoise and Qrlew spend δ besides ε.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import mean, median, stdev
from typing import Any

import duckdb
import peers
from report import Report
from sql_data import tpch
from sql_questions import TPCH_POLICY

import sordino as sd

EPSILON = 1.0
DELTA = 1e-6
RUNS = 200
AT_MOST = 25.0
PRIORITIES = TPCH_POLICY["tables"]["orders"]["columns"]["o_orderpriority"]["domain"]
COLUMNS = {
    "o_totalprice": {"type": "float", "lower": 0, "upper": 600000},
    "o_orderpriority": {"type": "string", "values": PRIORITIES},
    "o_orderstatus": {"type": "string", "values": ["F", "O", "P"]},
}
QUESTIONS = {
    "COUNT(*) WHERE": "SELECT COUNT(*) AS n FROM orders WHERE o_orderstatus = 'F'",
    "SUM(o_totalprice) in [0, 600 000]": "SELECT SUM(o_totalprice) AS n FROM orders",
    "COUNT(*) GROUP BY, 5 groups": "SELECT o_orderpriority, COUNT(*) AS n FROM orders GROUP BY o_orderpriority",
}
WRITTEN = {"smartnoise": "SmartNoise SQL", "qrlew": "Qrlew"}
Rows = list[list[str]]


def run(quick: bool = False) -> Report:
    scale = "0.01" if quick else "0.1"
    file = tpch(scale)
    connection = duckdb.connect(str(file), read_only=True)
    rows = connection.execute("SELECT COUNT(*) FROM orders").fetchall()[0][0]
    base = {"table": "orders", "columns": COLUMNS, "rows": rows, "epsilon": EPSILON, "delta": DELTA}
    base |= {
        "op": "ask",
        "file": str(file),
        "runs": 5 if quick else RUNS,
        "at_most": 1.0 if quick else AT_MOST,
    }
    table, raw = [], {}
    for name, sql in QUESTIONS.items():
        exact = numbers([[str(cell) for cell in row] for row in connection.execute(sql).fetchall()])
        answers = {"Sordino": ours(connection, sql, base["runs"])}
        for peer in ("smartnoise", "qrlew"):
            with peers.Peer(peer) as worker:
                answers[peer] = worker.ask(sql=sql, **base)
        found = {who: error(answer["runs"], exact) for who, answer in answers.items()}
        errors = {who: average for who, (average, _) in found.items()}
        seconds = {who: median(answer["seconds"]) for who, answer in answers.items()}
        plain = median(timed(lambda sql=sql: connection.cursor().execute(sql).fetchall()) for _ in range(20))
        for who, answer in answers.items():
            told = f"{errors[who]:.4g} ± {found[who][1]:.2g}", f"{errors[who] / errors['Sordino']:.2f}×"
            took = f"{1e3 * seconds[who]:.1f} ms", f"{seconds[who] / plain:.0f}×"
            table.append([name, WRITTEN.get(who, who), str(len(answer["runs"])), *told, *took])
        raw[name] = {"errors": errors, "seconds": seconds, "plain": plain}
    header = ["question", "library", "runs", "mean absolute error", "beside Sordino", "time", "beside plain"]
    return Report("sql-peers", header, table, raw=raw)


def ours(connection: duckdb.DuckDBPyConnection, sql: str, runs: int) -> dict[str, Any]:
    session = sd.connect(connection, policy=TPCH_POLICY).session("bench")
    found: list[Rows] = []
    seconds = []
    for _ in range(runs):
        answers: list[Any] = []
        seconds.append(timed(lambda answers=answers: answers.append(session.query(sql, EPSILON).value)))
        rows = answers[0] if isinstance(answers[0], list) else [{"n": answers[0]}]
        found.append([[str(row.get("o_orderpriority", "")), str(row["n"])] for row in rows])
    return {"runs": found, "seconds": seconds}


def numbers(rows: Rows) -> dict[str, float]:
    """The last column by the first, or by an empty key where there is no other."""
    return {row[0] if len(row) > 1 else "": float(row[-1]) for row in rows}


def error(runs: list[Rows], exact: dict[str, float]) -> tuple[float, float]:
    """Mean |released − exact| over runs and groups, and the standard error of that mean."""
    differences = [abs(value - exact[key]) for rows in runs for key, value in numbers(rows).items()]
    return mean(differences), stdev(differences) / len(differences) ** 0.5


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
