"""SmartNoise SQL's side of the benchmarks; runs in its own environment.

It has no reader for DuckDB. Its reader for SQLite only sends text, and DuckDB understands what it sends; but not the
random order in which it keeps some rows of everyone, so questions about whole users are asked of SQLite.
"""

from __future__ import annotations

import json
import sqlite3
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


def copied(connection: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> sqlite3.Connection:
    names = ", ".join(request["columns"])
    rows = connection.execute(f"SELECT {names} FROM {request['table']}").fetchall()
    copy = sqlite3.connect(":memory:")
    copy.execute(f"CREATE TABLE {request['table']} ({names})")
    places = ", ".join("?" * len(request["columns"]))
    copy.executemany(f"INSERT INTO {request['table']} VALUES ({places})", rows)
    return copy


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The noisy rows of every run. Groups are public: none is censored; counts may be negative."""
    columns = {name: dict(column) for name, column in request["columns"].items()}
    table = {"rows": request["rows"], "censor_dims": False, "clamp_counts": False}
    if (
        "unit" in request
    ):  # all rows of one key, of which at most ``most`` are kept: one where nothing is said
        columns[request["unit"]]["private_id"] = True
        table |= {} if request["most"] is None else {"max_ids": request["most"]}
    else:
        table["row_privacy"] = True
    metadata = {"": {SCHEMA: {request["table"]: {**table, **columns}}}}
    connection = duckdb.connect(request["file"], read_only=True)
    privacy = Privacy(epsilon=request["epsilon"], delta=request["delta"])
    plain = SQLiteReader(conn=copied(connection, request)) if "unit" in request else DuckDBReader(connection)
    reader = PrivateReader(plain, metadata, privacy=privacy)
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
