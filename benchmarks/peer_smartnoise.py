"""SmartNoise SQL's side of the benchmarks; runs in its own environment.

It has no reader for DuckDB. Its reader for SQLite only sends text, and DuckDB understands what it sends.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import duckdb
from snsql import Privacy
from snsql.sql.private_reader import PrivateReader
from snsql.sql.reader.sqlite import SQLiteReader

SCHEMA = "main"


class DuckDBReader(SQLiteReader):  # type: ignore[misc]
    def execute(self, query: Any, *ignore: Any, accuracy: bool = False) -> list[tuple[Any, ...]]:
        cursor = self.conn.cursor().execute(str(query))
        return [tuple(column[0] for column in cursor.description), *cursor.fetchall()]


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The noisy rows of every run. Groups are public: none is censored; counts may be negative."""
    columns = {name: dict(column) for name, column in request["columns"].items()}
    table = {"row_privacy": True, "rows": request["rows"], "censor_dims": False, "clamp_counts": False}
    metadata = {"": {SCHEMA: {request["table"]: {**table, **columns}}}}
    connection = duckdb.connect(request["file"], read_only=True)
    privacy = Privacy(epsilon=request["epsilon"], delta=request["delta"])
    reader = PrivateReader(DuckDBReader(connection), metadata, privacy=privacy)
    sql = request["sql"].replace(f"FROM {request['table']}", f"FROM {SCHEMA}.{request['table']}")
    reader.execute(sql)  # imports and caches
    seconds, runs = [], []
    until = time.perf_counter() + request["at_most"]
    while len(runs) < request["runs"] and (len(runs) < 5 or time.perf_counter() < until):
        start = time.perf_counter()
        rows = reader.execute(sql)
        seconds.append(time.perf_counter() - start)
        runs.append([[str(cell) for cell in row] for row in rows[1:]])
    return {"seconds": seconds, "runs": runs}


for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), flush=True)
