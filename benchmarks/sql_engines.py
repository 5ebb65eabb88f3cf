"""PostgreSQL and Spark at a small scale: a private answer beside the engine's own plain query, in turns.

The server is the one of the tests; Spark needs Java.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from report import ROOT, Report
from sql_data import TABLES, tpch
from sql_measure import ALL, EPSILON
from sql_questions import TPCH, TPCH_POLICY
from sql_tables import milliseconds, ratio

import sordino as sd
from sordino.engines import Engine, connect

SCALE = "0.1"
THREADS = 2
Opened = tuple[Engine, Callable[[str], Any]]


def run_postgresql(quick: bool = False) -> Report:
    return _measure("PostgreSQL", "sql-postgresql", quick)


def run_spark(quick: bool = False) -> Report:
    if shutil.which("java") is None:
        return Report("sql-spark", ["question"], [["skipped: no Java"]])
    return _measure("Spark", "sql-spark", quick)


def _measure(name: str, marker: str, quick: bool) -> Report:
    file = tpch("0.01" if quick else SCALE)
    questions, rounds = (TPCH[:2], 1) if quick else (TPCH, 2)
    header = ["question", f"{name}, plain", f"{name}, private", "ratio"]
    rows, raw = [], {}
    with ENGINES[name](file) as (engine, plain):
        ask = _asked_privately(engine)
        for question in questions:
            # the first turn warms up
            turns = [(_seconds(plain, question.sql), _seconds(ask, question.sql)) for _ in range(rounds + 1)][
                1:
            ]
            beside, private = (median(turn[side] for turn in turns) for side in (0, 1))
            raw[question.name] = (beside, private)
            rows.append([question.name, milliseconds(beside), milliseconds(private), ratio(private, beside)])
    return Report(marker, header, rows, raw=raw)


def _asked_privately(engine: Engine) -> Callable[[str], Any]:
    session = sd.connect(engine, policy=TPCH_POLICY).session("bench")
    return lambda sql: session.query(sql, EPSILON, analyses=ALL)


def _seconds(call: Callable[[str], Any], sql: str) -> float:
    start = time.perf_counter()
    call(sql)
    return time.perf_counter() - start


@contextmanager
def _postgresql(file: Path) -> Iterator[Opened]:
    import psycopg

    sys.path.insert(0, str(ROOT))
    from tests.backends.postgresql_server import PostgreSQLServer

    server = PostgreSQLServer()
    try:
        server.start()
        with psycopg.connect(server.url(), autocommit=True) as owner:
            _copy_tables(file, owner)
            with closing(connect(server.url())) as engine:
                yield engine, lambda sql: owner.execute(sql).fetchall()
    finally:
        server.stop()


def _copy_tables(file: Path, owner: Any) -> None:
    """DuckDB's types have PostgreSQL's names."""
    with duckdb.connect(str(file), read_only=True) as source, tempfile.TemporaryDirectory() as folder:
        for table in TABLES:
            columns = source.execute(f"DESCRIBE {table}").fetchall()
            owner.execute(
                f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind, *_ in columns)})"
            )
            written = Path(folder) / "rows.csv"
            source.execute(f"COPY {table} TO '{written}' (HEADER false)")
            into = owner.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)")
            with into as copy, written.open("rb") as rows:
                while block := rows.read(1 << 20):
                    copy.write(block)
        owner.execute("VACUUM ANALYZE")


@contextmanager
def _spark(file: Path) -> Iterator[Opened]:
    with closing(connect("spark-local", threads=THREADS, memory_limit="2GB")) as engine:
        session = engine._session  # type: ignore[attr-defined]
        session.sparkContext.setLogLevel("OFF")
        for table in TABLES:
            session.read.parquet(str(file.with_name(f"{table}.parquet"))).createTempView(table)
        yield engine, lambda sql: session.sql(sql).collect()


ENGINES: dict[str, Callable[[Path], Any]] = {"PostgreSQL": _postgresql, "Spark": _spark}
