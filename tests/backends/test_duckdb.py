"""DuckDB as the shipped suite sees it, and snapshots beside a writer that does not stop."""

from __future__ import annotations

import threading

import duckdb
import pytest
from sqlglot import parse_one

from sordino.core import ProofError
from sordino.engines import connect
from sordino.engines.duckdb import DuckDBEngine
from sordino.testing import check_backend

from .nan_suite import FILES, check_nan_is_found, write_files


def test_the_engine_passes_the_shipped_suite(duckdb_backend):
    check_backend(duckdb_backend.load, write=duckdb_backend.write)


def test_frames_pass_the_shipped_suite():
    check_backend(connect)


def test_nan_beside_smaller_numbers_in_a_file_is_found(tmp_path):
    write_files(tmp_path)
    with connect(tmp_path) as engine:
        check_nan_is_found(engine)


def test_nan_behind_a_view_of_the_callers_is_found(tmp_path):
    write_files(tmp_path)
    with duckdb.connect() as owner:
        for name in FILES:
            owner.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{tmp_path / name}.parquet')")
        check_nan_is_found(connect(owner))


def test_a_view_keeps_its_names_and_columns_behind_the_veil():
    with duckdb.connect() as owner:
        owner.execute("CREATE SCHEMA other")
        owner.execute('CREATE VIEW other.v AS SELECT 1.5::FLOAT AS "a b", [1] AS c, -0.0::DOUBLE AS z')
        owner.execute("CREATE TABLE t AS SELECT 1 AS k")
        for sql in (
            'SELECT "a b" AS x, c[1] AS y, 1 / z < 0 AS n FROM other.v',
            'SELECT v."a b" AS x, V.c[1] AS y, 1 / v.z < 0 AS n FROM OTHER.V, t',
            'WITH w AS (SELECT * FROM other.v) SELECT r."a b" AS x, r.c[1] AS y, 1 / r.z < 0 AS n FROM t, w AS r',
        ):
            with connect(owner).snapshot() as snapshot:
                found = snapshot.aggregate(parse_one(sql, dialect="duckdb")).to_pydict()
                assert found == {"x": [1.5], "y": [1], "n": [True]}


def test_statements_of_one_snapshot_agree_beside_a_busy_writer():
    query = parse_one("SELECT COUNT(*) AS n, SUM(a) AS s FROM t")
    stop = threading.Event()
    with duckdb.connect() as owner, connect(owner) as engine:
        owner.execute("CREATE TABLE t AS SELECT 1 AS a")

        def write():
            with owner.cursor() as writer:
                while not stop.is_set():
                    writer.execute("INSERT INTO t VALUES (1)")

        thread = threading.Thread(target=write)
        thread.start()
        try:
            counts = []
            for _ in range(20):
                with engine.snapshot() as snapshot:
                    answers = {str(snapshot.aggregate(query).to_pydict()) for _ in range(5)}
                assert len(answers) == 1
                counts.append(answers.pop())
        finally:
            stop.set()
            thread.join()
    assert len(set(counts)) > 1, "the writer never got a turn: the test shows nothing"


def test_the_suite_notices_an_engine_without_transactions(duckdb_backend, monkeypatch):
    """The control: statements outside of a transaction must fail."""
    cursor_of = DuckDBEngine._cursor

    class Loose:
        def __init__(self, cursor):
            self.inner = cursor

        def execute(self, sql, *values):
            return self.inner.execute("SELECT 1" if sql.startswith("BEGIN") else sql, *values)

        def __getattr__(self, name):
            return getattr(self.inner, name)

    monkeypatch.setattr(DuckDBEngine, "_cursor", lambda self: Loose(cursor_of(self)))
    with pytest.raises(ProofError, match="a snapshot"):
        check_backend(duckdb_backend.load, write=duckdb_backend.write)
