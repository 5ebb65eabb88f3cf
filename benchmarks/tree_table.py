"""A tree on 10⁷ rows of 20 attributes in Parquet, through DuckDB: wall time and the peak memory of the process."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import Check, Report

ROWS = 10_000_000
LIMIT = "2GB"
MOST_MEGABYTES, MOST_SECONDS = 4096, 300
BINARY, LISTED, NUMBERS = 10, 6, 4


def schema() -> dict[str, Any]:
    found: dict[str, Any] = {f"flag{place}": [0, 1] for place in range(BINARY)}
    found |= {f"kind{place}": ["a", "b", "c", "d", "e"] for place in range(LISTED)}
    return found | {f"size{place}": {"bounds": [0, 100], "bins": 10} for place in range(NUMBERS)}


def generate(path: Path, rows: int) -> None:
    """Made up by DuckDB from hashes of the row number, so that it is the same every time."""
    import duckdb

    def part(seed: int) -> str:
        return f"((hash(i * 31 + {seed}) % 1000000) / 1000000.0)"

    columns = [
        f"({part(place)} < {0.2 + 0.06 * place:.2f})::INTEGER AS flag{place}" for place in range(BINARY)
    ]
    columns += [
        f"substr('abcde', 1 + floor(5 * {part(100 + place)})::INTEGER, 1) AS kind{place}"
        for place in range(LISTED)
    ]
    columns += [f"100 * {part(200 + place)} AS size{place}" for place in range(NUMBERS)]
    score = "2 * flag3 + (kind1 = 'b')::INTEGER + (size2 > 60)::INTEGER"
    query = f"SELECT *, (({score} >= 2) <> ({part(999)} < 0.1))::INTEGER AS label FROM made"
    source = f"WITH made AS (SELECT i, {', '.join(columns)} FROM range({rows}) t(i))"
    with duckdb.connect(config={"memory_limit": LIMIT}) as connection:
        connection.execute(f"COPY ({source} {query}) TO '{path}' (FORMAT parquet)")


def fit(path: str, options: dict[str, str]) -> None:
    """In a process of its own: connect, fit, and say how long it took and how large the process became."""
    from sordino.engines import connect
    from sordino.learn import DecisionTreeClassifier

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = DecisionTreeClassifier(
        1.0, schema=schema(), classes=[0, 1], max_rows=2 * ROWS, max_depth=5, **options
    )
    engine = connect(path, memory_limit=LIMIT)
    model.fit_table(engine, next(iter(engine.catalogue())), target="label")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = {"seconds": time.perf_counter() - start, "before": before / 1024, "peak": peak / 1024}
    print(json.dumps(answer | {"nodes": model.tree_.nodes}))


def run(quick: bool = False) -> list[Report]:
    rows_of_table = ROWS // 20 if quick else ROWS
    ways = {
        "default": {},
        "information gain, shifted dampening": {
            "criterion": "information_gain",
            "selection": "shifted_dampening",
        },
    }
    found, rows = {}, []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "made.parquet"
        generate(path, rows_of_table)
        size = path.stat().st_size / 1e6
        for label, options in ways.items():
            command = [sys.executable, str(Path(__file__)), str(path), json.dumps(options)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            one = found[label] = json.loads(done.stdout)
            peak = f"{one['peak']:.0f} MB ({one['before']:.0f} MB before)"
            rows.append([label, f"{size:.0f} MB", f"{one['seconds']:.1f} s", peak, str(one["nodes"])])
    slowest = max(one["seconds"] for one in found.values())
    largest = max(one["peak"] for one in found.values())
    checks = [
        Check("in minutes (5)", f"{slowest:.0f} s", slowest <= MOST_SECONDS),
        Check("within 4 GB", f"{largest:.0f} MB", largest <= MOST_MEGABYTES),
    ]
    header = [f"{rows_of_table:,} × 20 from Parquet", "file", "time", "peak memory of the process", "nodes"]
    return [Report("tree-table", header, rows, checks, found)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("options")
    given = parser.parse_args()
    fit(given.path, json.loads(given.options))
