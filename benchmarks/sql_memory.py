"""Memory of the statement of counts under settings of DuckDB: what would bring the process below its target.

Each in a process of its own, so that what one leaves behind is not another's.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

LARGEST = "customer ⋈ orders ⋈ lineitem ⋈ part"
PAIRS = (
    "SELECT MAX(c) FROM (SELECT COUNT(*) AS c FROM lineitem GROUP BY l_orderkey, l_partkey) AS s",
    "lines per order and part, this grouping alone",
)
DEFAULT = "as DuckDB comes"
# What is given when the file is opened, and what is set on the connection.
SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    DEFAULT: ({}, ""),
    "preserve_insertion_order = false": ({"preserve_insertion_order": False}, ""),
    "memory given back from 16 MB on": (
        {"allocator_flush_threshold": "16MB", "allocator_bulk_deallocation_flush_threshold": "16MB"},
        "",
    ),
    "operator_memory_limit = 64 MB": ({}, "SET operator_memory_limit = '64MB'"),
    "threads = 1": ({"threads": 1}, ""),
}


def run(quick: bool = False) -> Any:
    # Here, since the processes that are measured load this file too.
    from report import Report
    from sql_data import tpch
    from sql_measure import ALL, EPSILON
    from sql_questions import TPCH, TPCH_POLICY

    import sordino as sd
    from sordino.engines import connect
    from sordino.sql.answering.plan import AnswerOptions

    file = tpch("0.01" if quick else "1")
    with connect(file) as engine:
        curator = sd.connect(engine, policy=TPCH_POLICY)
        options = AnswerOptions.checked(EPSILON, 0.0, analyses=ALL)
        asked = {}
        for question in TPCH:
            statement = curator.plan(question.sql, options).readings[0].statement
            if question.name == LARGEST and statement is not None:
                asked[question.name] = statement.sql(dialect=engine.dialect)
    asked[PAIRS[1]] = PAIRS[0]
    rows, raw = [], {}
    for name, sql in asked.items():
        for settings, given in SETTINGS.items():
            if sql == PAIRS[0] and given != SETTINGS[DEFAULT]:
                continue
            request = json.dumps([str(file), *given, sql])
            told = subprocess.run(
                [sys.executable, __file__], input=request, capture_output=True, text=True, check=True
            )
            found = json.loads(told.stdout)
            raw[f"{name}, {settings}"] = found
            rows.append(
                [
                    name,
                    settings,
                    f"{found['before']:.0f} MB",
                    f"{found['peak']:.0f} MB",
                    f"{found['seconds']:.1f} s",
                ]
            )
    header = ["counts of", "settings", "before", "peak", "processor time"]
    return Report("sql-memory", header, rows, raw=raw)


def measure(file: str, config: dict[str, Any], statement: str, sql: str) -> dict[str, float]:
    """Peak memory of a process with nothing but DuckDB in it, and the processor time of the statement."""
    config = {**config, "temp_directory": tempfile.gettempdir()}
    with duckdb.connect(file, read_only=True, config=config) as connection:
        if statement:
            connection.execute(statement)
        before, start = _resident(), time.process_time()
        connection.execute(sql).fetchall()
        return {"before": before, "peak": _resident(), "seconds": time.process_time() - start}


def _resident() -> float:
    """The peak so far, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.stdin.read()))))
