"""Qrlew's side of the benchmarks; runs in its own environment.

Qrlew rewrites a query into one that adds the noise inside the database. It reads the schema and the number of rows,
which it takes for public, through SQLAlchemy: here from a SQLite database of as many empty rows. The rewritten query
is in PostgreSQL's dialect, and DuckDB runs it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import duckdb
import pyqrlew
import sqlalchemy

ROW = "_PRIVACY_UNIT_ROW_"
TYPES = {"float": "FLOAT", "int": "INTEGER", "string": "VARCHAR", "datetime": "DATE"}


def dataset(request: dict[str, Any]) -> Any:
    table, columns = request["table"], request["columns"]
    engine = sqlalchemy.create_engine("sqlite://")
    fields = ", ".join(f"{name} {TYPES[column['type']]}" for name, column in columns.items())
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {request['rows']})"
    first = next(iter(columns))
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE TABLE {table} ({fields})"))
        connection.execute(sqlalchemy.text(f"INSERT INTO {table} ({first}) {numbers} SELECT NULL FROM n"))
    found = pyqrlew.Dataset.from_database("bench", engine)
    for name, column in columns.items():
        if "lower" in column:
            found = found.with_range(None, table, name, column["lower"], column["upper"])
        if "values" in column:
            found = found.with_possible_values(None, table, name, column["values"])
    return found


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The noisy rows of every run; one row is one privacy unit, or all rows of a key."""
    known = dataset(request)
    most = request.get("most", 1)  # rows of one unit; 100 where it is told nothing
    bounds = {} if most is None else {"max_multiplicity": float(most), "max_multiplicity_share": 1.0}
    connection = duckdb.connect(request["file"], read_only=True)
    seconds, runs = [], []
    until = time.perf_counter() + request["at_most"]
    while len(runs) < request["runs"] and (len(runs) < 5 or time.perf_counter() < until):
        start = time.perf_counter()
        private = known.relation(request["sql"]).rewrite_with_differential_privacy(
            known,
            [(request["table"], [], request.get("unit", ROW))],
            {"epsilon": request["epsilon"], "delta": request["delta"]},
            **bounds,
        )
        try:
            rows = connection.execute(private.relation().to_query(pyqrlew.Dialect.PostgreSql)).fetchall()
        except duckdb.ParserException:  # it names sub-queries at random, now and then twice the same
            continue
        seconds.append(time.perf_counter() - start)
        runs.append([[str(cell) for cell in row] for row in rows])
    return {"seconds": seconds, "runs": runs, "event": str(private.dp_event())}


for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), flush=True)
