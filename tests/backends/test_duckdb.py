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


def test_the_engine_passes_the_shipped_suite(duckdb_backend):
    check_backend(duckdb_backend.load, write=duckdb_backend.write)


def test_frames_pass_the_shipped_suite():
    check_backend(connect)


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

        def execute(self, sql):
            return self.inner.execute("SELECT 1" if sql.startswith("BEGIN") else sql)

        def __getattr__(self, name):
            return getattr(self.inner, name)

    monkeypatch.setattr(DuckDBEngine, "_cursor", lambda self: Loose(cursor_of(self)))
    with pytest.raises(ProofError, match="a snapshot"):
        check_backend(duckdb_backend.load, write=duckdb_backend.write)
