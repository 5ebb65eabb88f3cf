"""A newcomer's question, 5 000 customers with 40 000 orders by city, at user level beside all peers that have it.

Nobody tells Sordino how many orders a customer may have. The peers need a bound: they get what they take without one,
where there is such a default, then the largest number of orders there is, which no owner may look up, and then the
best of several bounds in hindsight, which nobody knows. All see the same rows; the peers have them in one table.
"""

from __future__ import annotations

import time
from statistics import mean, median, stdev
from typing import Any

import duckdb
import numpy as np
import peers
from report import Check, Report
from sql_data import shop
from sql_peers import Rows, numbers, timed

import sordino as sd

EPSILON = 1.0
DELTA = 1e-6
UPPER = 1000
RUNS = 200
BOUNDS = (10, 20, 40, 80)
AT_MOST = 10.0
CITIES = [f"city {i}" for i in range(10)]
POLICY: dict[str, Any] = {
    "version": 1,
    "dataset": "shop",
    "protects": "user",
    "users": "customers.id",
    "tables": {
        "customers": {
            "key": {"columns": "id", "enforced": True},
            "columns": {"city": {"domain": CITIES}},
        },
        "orders": {
            "foreign_keys": {"customer_id": "customers.id"},
            "columns": {"amount": {"bounds": [0, UPPER], "granularity": 1}},
        },
        "sales": {"private": False},  # the peers' copy: never asked here
    },
    "budgets": {"bench": {"epsilon": 1_000_000}},
}
COLUMNS = {
    "customer_id": {"type": "int"},
    "city": {"type": "string", "values": CITIES},
    "amount": {"type": "int", "lower": 0, "upper": UPPER},
}
MEASURES = {"count": "COUNT(*)", "sum": "SUM(amount)"}
# Which of them have a bound of their own where none is given.
DEFAULTS = {"smartnoise": "1 row", "qrlew": "100 rows"}
FAST = {"smartnoise": "SmartNoise SQL", "qrlew": "Qrlew", "pipelinedp": "PipelineDP"}
SLOW = {"opendp_polars": "OpenDP", "tumult": "Tumult Analytics"}  # seconds per answer


def run(quick: bool = False) -> Report:
    return compare("unit-peers", FAST, quick)


def run_slow(quick: bool = False) -> Report:
    return compare("unit-peers-slow", SLOW, quick)


def compare(marker: str, others: dict[str, str], quick: bool) -> Report:
    file = shop()
    with duckdb.connect(str(file), read_only=True) as connection:
        rows, largest = connection.execute(
            "SELECT SUM(n), MAX(n) FROM (SELECT COUNT(*) AS n FROM sales GROUP BY customer_id)"
        ).fetchall()[0]
        exact = {
            measure: numbers(
                [[str(cell) for cell in row] for row in connection.execute(_plain(measure)).fetchall()]
            )
            for measure in MEASURES
        }
    request = {"op": "ask", "file": str(file), "table": "sales", "columns": COLUMNS, "groups": CITIES}
    request |= {"rows": int(rows), "unit": "customer_id", "upper": UPPER}
    request |= {"epsilon": EPSILON, "delta": DELTA}
    request |= {"runs": 5 if quick else RUNS, "at_most": 1.0 if quick else AT_MOST}
    lines: list[list[str]] = []
    checks, raw = [], {}
    for measure in MEASURES:
        asked = {**request, "measure": measure, "sql": _plain(measure)}
        ours = _errors(_ask_ours(str(file), measure, request["runs"], 3 * request["at_most"]), exact[measure])
        lines.append(_line(measure, "Sordino", "none needed", ours, ours))
        behind = []
        for peer, written in others.items():
            for given, found in _ask_peer(peer, asked, int(largest), exact[measure]).items():
                lines.append(_line(measure, written, given, found, ours))
                raw[f"{measure}, {peer}, {given}"] = found
                if not given.startswith("best"):
                    behind.append((found["mean"] / ours["mean"], f"{written} ({given})"))
        raw[f"{measure}, Sordino"] = ours
        nearest, who = min(behind)
        told = f"the nearest, {who}, has {nearest:.2f} times the mean error"
        checks.append(
            Check(f"{MEASURES[measure]}: less error than every peer with what it may know", told, nearest > 1)
        )
    header = ["question", "library", "rows per customer given", "runs", "mean error", "95 % below"]
    header += ["mean beside Sordino", "time"]
    return Report(marker, header, lines, checks, raw)


def _plain(measure: str) -> str:
    return f"SELECT city, {MEASURES[measure]} AS n FROM sales GROUP BY city"


def _ask_ours(file: str, measure: str, runs: int, at_most: float) -> dict[str, Any]:
    """As the tables are: a join of customers and orders."""
    sql = (
        f"SELECT c.city, {MEASURES[measure]} AS n FROM customers AS c JOIN orders AS o ON o.customer_id = c.id "
        "GROUP BY c.city"
    )
    found: list[Rows] = []
    seconds = []
    with sd.connect(duckdb.connect(file, read_only=True), policy=POLICY) as curator:
        session = curator.session("bench")
        until = time.perf_counter() + at_most
        while len(found) < runs and (len(found) < 5 or time.perf_counter() < until):
            answers: list[Any] = []
            seconds.append(timed(lambda answers=answers: answers.append(session.query(sql, EPSILON).value)))
            found.append([[str(row["city"]), str(row["n"])] for row in answers[0]])
    return {"runs": found, "seconds": seconds}


def _ask_peer(
    peer: str, asked: dict[str, Any], largest: int, exact: dict[str, float]
) -> dict[str, dict[str, float]]:
    """By what it was told of the number of rows: its default, the truth, and the best of several in hindsight."""
    found: dict[str, dict[str, float]] = {}
    with peers.Peer(peer) as worker:
        if peer in DEFAULTS:
            default = f"{DEFAULTS[peer]} (default)"
            found[default] = _errors(worker.ask(**asked, most=None), exact)
        found[f"{largest} (the largest)"] = _errors(worker.ask(**asked, most=largest), exact)
        fewer = {**asked, "runs": max(5, asked["runs"] // 4), "at_most": asked["at_most"] / 4}
        tried = {bound: _errors(worker.ask(**fewer, most=bound), exact) for bound in BOUNDS}
    best = min(tried, key=lambda bound: tried[bound]["mean"])
    found[f"best of {', '.join(map(str, BOUNDS))}: {best}"] = tried[best]
    return found


def _errors(answer: dict[str, Any], exact: dict[str, float]) -> dict[str, float]:
    found = [
        abs(numbers(rows).get(city, 0.0) - value) for rows in answer["runs"] for city, value in exact.items()
    ]
    return {
        "runs": len(answer["runs"]),
        "mean": mean(found),
        "unsure": stdev(found) / len(found) ** 0.5,
        "most": float(np.quantile(found, 0.95)),
        "seconds": median(answer["seconds"]),
    }


def _line(measure: str, who: str, given: str, found: dict[str, float], ours: dict[str, float]) -> list[str]:
    return [
        MEASURES[measure],
        who,
        given,
        f"{found['runs']:.0f}",
        f"{found['mean']:,.0f} ± {found['unsure']:,.0f}",
        f"{found['most']:,.0f}",
        f"{found['mean'] / ours['mean']:.2f}×",
        f"{1e3 * found['seconds']:,.0f} ms",
    ]
