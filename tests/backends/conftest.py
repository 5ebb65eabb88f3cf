"""One factory per engine: it loads Arrow tables into a fresh place and gives an engine over them.

A PostgreSQL server and a Spark session are started once per worker, when the first test asks for them. All tests of an
engine stand in one file, so that `--dist loadfile` starts each once.
"""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from sordino.engines import connect
from tests.unit.ledger.under_way import await_the_dead

from .postgresql_server import PostgreSQLServer


class Backend:
    """An engine's name, a factory for `check_backend`, and a writer that adds a row to `readings` from elsewhere."""

    def __init__(self, name, load, write=None, owner=None):
        self.name, self.load, self.write, self.owner = name, load, write, owner


@pytest.fixture(scope="session")
def server():
    server = PostgreSQLServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def ledger_server():
    """A server that keeps what it acknowledges, as a ledger wants it."""
    server = PostgreSQLServer(durable=True)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def place(ledger_server):
    """A database where a ledger can be made; what the last test left is gone."""
    import psycopg

    await_the_dead(ledger_server.url())
    with psycopg.connect(ledger_server.url(), autocommit=True) as owner:
        owner.execute("SET client_min_messages = warning; DROP SCHEMA IF EXISTS sordino_ledger CASCADE")
    return ledger_server.url()


@pytest.fixture(scope="session")
def icu_server():
    """An installation of the system's own, if it was built with ICU: the package's was not."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not installed:
        pytest.skip("no PostgreSQL of the system's own, which would have ICU collations")
    server = PostgreSQLServer(installed[-1])
    try:
        server.start()
        import psycopg

        with psycopg.connect(server.url()) as owner:
            if not owner.execute("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'").fetchone()[0]:
                pytest.skip("the system's PostgreSQL was built without ICU")
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def spark():
    """A local session; Java is asked for here alone."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java: Spark needs 17 or newer")
    # The tables are tiny: compiling, by Java or by Spark, costs more than it saves.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        engine = connect("spark-local", threads=1, memory_limit="1GB")
    engine._session.sparkContext.setLogLevel("OFF")
    engine._session.conf.set("spark.sql.codegen.wholeStage", "false")
    engine._session.conf.set("spark.sql.adaptive.enabled", "false")
    yield engine._session
    engine.close()


@pytest.fixture
def duckdb_backend():
    with duckdb.connect() as owner:

        def load(tables):
            for name, table in tables.items():
                owner.register("given", table)
                owner.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
                owner.unregister("given")
            return connect(owner)

        yield Backend("duckdb", load, lambda: owner.execute("INSERT INTO readings (id) VALUES (7)"))


_databases = itertools.count()
_SQL_TYPES = {pa.int64(): "bigint", pa.float64(): "double precision", pa.string(): "text", pa.bool_(): "boolean",
              pa.date32(): "date", pa.timestamp("us"): "timestamp",
    pa.timestamp("us", tz="UTC"): "timestamptz", pa.decimal128(10, 2): "numeric(10, 2)"}  # fmt: skip


@pytest.fixture
def postgresql_backend(server):
    import psycopg

    database = f"shop{next(_databases)}"
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {database}")
    with psycopg.connect(server.url(database), autocommit=True) as owner:

        def load(tables):
            for name, table in tables.items():
                columns = ", ".join(f"{field.name} {_SQL_TYPES[field.type]}" for field in table.schema)
                owner.execute(f"CREATE TABLE {name} ({columns})")
                with owner.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                    for row in table.to_pylist():
                        copy.write_row(list(row.values()))
            return connect(server.url(database))

        yield Backend(
            "postgresql", load, lambda: owner.execute("INSERT INTO readings (id) VALUES (7)"), owner
        )


@pytest.fixture
def spark_backend(spark, tmp_path):
    import pyarrow.parquet as pq

    names = []

    def load(tables):
        for name, table in tables.items():
            pq.write_table(table, tmp_path / f"{name}.parquet")
            spark.read.parquet(str(tmp_path / f"{name}.parquet")).createTempView(name)
            names.append(name)
        return connect(spark)

    yield Backend("spark", load)
    for name in names:
        spark.catalog.dropTempView(name)
