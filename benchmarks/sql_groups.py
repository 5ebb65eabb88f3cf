"""Many groups of a join: a private GROUP BY beside the plain one, by the number of declared groups.

Customers and orders of a city, each city with numbers of its own. Processor time is printed beside wall time: it tells
the work apart from what else the machine does. One line has its groups in a public table that is joined by a key, and
the last protects customers with all their orders.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import duckdb
from report import Check, Report

import sordino as sd

_JOIN = """
SELECT c.city, COUNT(*) AS n FROM orders AS o JOIN customers AS c ON o.customer_id = c.id AND o.city = c.city
GROUP BY c.city
"""
_PUBLIC = (
    "SELECT p.region, COUNT(*) AS n FROM orders AS o JOIN places AS p ON o.place = p.id GROUP BY p.region"
)


def run(quick: bool) -> Report:
    rows, rounds = (40_000, 1) if quick else (1_000_000, 5)
    lines: list[list[str]] = []
    checks: list[Check] = []
    raw = {}
    shapes = (
        ("join", 10),
        ("join", 100),
        ("join", 1_000),
        ("public table", 1_000),
        ("join, customers", 1_000),
    )
    for shape, groups in shapes:
        owner = _make_tables(rows, groups)
        sql = _PUBLIC if shape == "public table" else _JOIN
        policy: dict[str, Any] = {
            "version": 1,
            "dataset": "groups",
            "tables": {
                "customers": {"columns": {"city": {"domain": [f"c{i}" for i in range(groups)]}}},
                "orders": {},
                "places": {"private": False},
            },
            "budgets": {"ann": {"epsilon": 1_000}},
        }
        if shape == "join, customers":
            policy |= {"protects": "user", "users": "customers.id"}
            policy["tables"]["orders"] = {"foreign_keys": {"customer_id": "customers.id"}}
        with sd.connect(owner, policy=policy) as curator:
            session = curator.session("ann")
            plain = _measure(lambda: owner.execute(sql).fetchall(), rounds)  # noqa: B023
            private = _measure(lambda: session.query(sql, 1.0), rounds)  # noqa: B023
        owner.close()
        lines.append([shape, f"{groups:,}", *(f"{value:.2f}" for pair in (plain, private) for value in pair)])
        raw[f"{shape}, {groups}"] = {"plain": plain, "private": private}
        checks.append(
            Check(
                f"{shape}, {groups:,} groups: at most 3 times the plain query and one second (processor time)",
                f"{private[1]:.2f} s, plain {plain[1]:.2f} s",
                private[1] <= 3 * plain[1] + 1,
            )
        )
    header = ["groups of", "groups", "plain s", "processor", "private s", "processor"]
    return Report("sql-groups", header, lines, checks, raw)


def _make_tables(rows: int, groups: int) -> duckdb.DuckDBPyConnection:
    owner = duckdb.connect()
    customers = rows // 8
    skewed = f"CAST(FLOOR(POW((i * 7919 % {rows}) / {rows}.0, 3) * {customers}) AS BIGINT)"
    owner.execute(
        f"CREATE TABLE customers AS SELECT i AS id, 'c' || (i % {groups}) AS city FROM range({customers}) t(i)"
    )
    owner.execute(
        f"CREATE TABLE orders AS SELECT i AS id, {skewed} AS customer_id, 'c' || ({skewed} % {groups}) AS city, "
        f"i % {2 * groups} AS place FROM range({rows}) t(i)"
    )
    owner.execute(
        f"CREATE TABLE places AS SELECT i AS id, 'r' || (i % {groups}) AS region FROM range({2 * groups}) t(i)"
    )
    return owner


def _measure(ask: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Wall and processor seconds."""
    ask()
    found = []
    for _ in range(rounds):
        start, work = time.perf_counter(), time.process_time()
        ask()
        found.append((time.perf_counter() - start, time.process_time() - work))
    return median(wall for wall, _ in found), median(work for _, work in found)
