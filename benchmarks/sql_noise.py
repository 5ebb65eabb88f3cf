"""Expected errors of joins by each analysis, beside the old noise and published ones; and where nothing helps."""

from __future__ import annotations

from report import Report
from sql_data import tpch, triangles
from sql_measure import Worker, error_summary, errors
from sql_questions import LIMITS, TPCH, TRIANGLE
from sql_tables import noise_table, old_noise_check

SCALE = "0.1"
LIMIT = 60.0
LESS = 1.3


def run(quick: bool = False) -> list[Report]:
    file = tpch("0.01" if quick else SCALE)
    with Worker(file, limit=LIMIT) as worker:
        joins = {question.name: errors(worker, question) for question in TPCH if question.tables > 1}
        limits = {question.name: error_summary(worker, question) for question in LIMITS}
    empty = {}
    for kind in ("scattered", "dangling"):
        with Worker(triangles(kind), limit=LIMIT) as worker:
            empty[f"empty triangle join, {kind} rows"] = errors(worker, TRIANGLE)
    table = noise_table("sql-tpch-noise", joins)
    checks = [*table.checks, old_noise_check(joins, LESS)]
    header = ["question", "numbers", "median number", "mean expected error", "budget"]
    rows = [
        [name, str(mine["numbers"]), f"{mine['exact']:.4g}", f"{mine['error']:.4g}", mine["composition"]]
        for name, mine in limits.items()
    ]
    return [
        Report(table.marker, table.header, table.rows, checks, table.raw),
        noise_table("sql-empty-triangle", empty),
        Report("sql-limits", header, rows, raw={"limits": limits}),
    ]
