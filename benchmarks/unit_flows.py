"""Results with several owners: what the release is off by, and how long flows take beside the join they come from.

Errors are exact expectations on public families: with the limit that is best known, with the two ways to choose it,
and R2T's by trial on the same totals.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
from report import Check, Report
from shared_families import SECOND, make_families, middle, race_errors

from sordino.units.concave_search import gain_spread, list_gains
from sordino.units.flow_truncation import FlowTruncation
from sordino.units.limit_choice import LimitChoice
from sordino.units.limit_noise import LaplacePerLimit

EPSILON = Fraction(4, 5)
MOST = 10**6


def run(quick: bool = False) -> list[Report]:
    return [compare_errors(), compare_times(quick)]


def compare_errors() -> Report:
    rows, ratios = [], []
    for name, results in make_families().items():
        plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=results.owners.shape[1])
        start = time.perf_counter()
        measures = plan.measure(results)
        seconds = time.perf_counter() - start
        whole = [math.floor(total) for total in measures.totals]
        known = min(
            LaplacePerLimit(EPSILON).mean_error(tau, whole[-1] - total)
            for tau, total in zip(plan.grid, whole, strict=True)
        )
        choice = LimitChoice.of(
            plan.grid,
            epsilon=plan.truncation.choice.epsilon,
            slope=2,
            spread=gain_spread(exact=plan.columns <= 2),
        )
        by_gains = replace(plan.truncation, choice=choice).expected_error(
            list_gains(plan.grid, measures.totals), whole
        )
        mine = plan.expected_error(measures)
        theirs = middle(race_errors(whole[1:], whole[-1], plan.grid[1:], float(EPSILON), 2000, seed=2))
        errors = [f"{error:,.0f}" for error in (known, mine, by_gains, theirs)]
        rows.append([name, f"{whole[-1]:,}", *errors, f"{seconds:.2f} s"])
        ratios.append(theirs / mine)
    header = ["family", "total", "limit known", "units to drop", "gains", "R2T (middle 60 %)", "time"]
    check = Check(
        "error below R2T's in every family", f"{min(ratios):.1f} to {max(ratios):.1f} times", min(ratios) > 1
    )
    return Report("unit-flows-error", header, rows, [check], {"ratios": ratios})


def compare_times(quick: bool) -> Report:
    rows = []
    for lines in (50_000,) if quick else (100_000, 1_000_000):
        with duckdb.connect() as connection:
            _make_shop(connection, lines)
            plain, _ = _ask(connection, "SELECT count(*) FROM orders JOIN items USING (id)")
            statement = "SELECT customer, supplier, count(*) FROM orders JOIN items USING (id) GROUP BY ALL"
            grouped, columns = _ask(connection, statement)
        plan = FlowTruncation.of(epsilon=EPSILON, most=MOST, owners=2)
        start = time.perf_counter()
        plan.draw(columns[:2], columns[2])
        flows = time.perf_counter() - start
        rows.append(
            [f"{lines:,}", f"{len(columns[2]):,}", f"{plain:.2f} s", f"{grouped:.2f} s", f"{flows:.2f} s"]
        )
    return Report("unit-flows-time", ["items", "pairs of owners", "join", "join by owners", "release"], rows)


def _make_shop(connection: duckdb.DuckDBPyConnection, lines: int) -> None:
    """Four items to an order, forty to a customer, six hundred to a supplier, all at random."""
    draw = np.random.default_rng(3)
    orders = {"id": np.arange(lines // 4), "customer": draw.integers(0, lines // 40, lines // 4)}
    suppliers = SECOND + draw.integers(0, max(1, lines // 600), lines)
    items = {"id": draw.integers(0, lines // 4, lines), "supplier": suppliers}
    for name, columns in (("orders", orders), ("items", items)):
        connection.register("given", columns)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        connection.unregister("given")


def _ask(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[float, list[np.ndarray]]:
    start = time.perf_counter()
    found = connection.execute(sql).fetchnumpy()
    return time.perf_counter() - start, list(found.values())
