"""DuckDB as the shipped suite sees it, and snapshots beside a writer that does not stop."""

from __future__ import annotations

import re
import threading
from contextlib import suppress

import duckdb
import pandas as pd
import pytest
from sqlglot import exp, parse_one

from sordino.core import EngineError, ParameterError, ProofError
from sordino.engines import connect
from sordino.engines.duckdb import DuckDBEngine
from sordino.testing import check_backend

from .nan_suite import FILES, check_nan_is_found, write_files
from .series_suite import TABLES, check_series
from .text_suite import VALUES, check_texts


def test_the_engine_passes_the_shipped_suite(duckdb_backend):
    check_backend(duckdb_backend.load, write=duckdb_backend.write)


def test_a_series_counts_every_interval_once(duckdb_backend):
    check_series(duckdb_backend.load(TABLES))


def test_a_series_is_in_utc_whatever_the_connection_says(owner):
    for name, table in TABLES.items():
        owner.register("given", table)
        owner.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    owner.execute("INSERT INTO visits VALUES ('infinity', 'infinity', 'infinity', 4)")
    owner.execute("INSERT INTO visits VALUES ('-infinity', '-infinity', '-infinity', 4)")
    owner.execute("SET GLOBAL TimeZone = 'America/St_Johns'")
    owner.execute("SET GLOBAL Calendar = 'japanese'")
    check_series(connect(owner))


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


# --- what the database or its settings would have a statement mean


@pytest.fixture
def owner():
    with duckdb.connect() as connection:
        yield connection


def test_texts_of_every_kind_are_compared_by_their_characters(owner):
    names = ", ".join(f"'{value}'".replace("z'", "z''") for value in VALUES if value is not None)
    owner.execute(
        "CREATE TABLE kinds (plain VARCHAR, nocase VARCHAR COLLATE NOCASE, accents VARCHAR COLLATE NOCASE.NOACCENT, "
        f'de VARCHAR COLLATE de, "label" ENUM ({names}))'
    )
    owner.executemany("INSERT INTO kinds VALUES (?, ?, ?, ?, ?)", [[value] * 5 for value in VALUES])
    owner.execute("CREATE VIEW veiled AS SELECT * EXCLUDE plain, plain COLLATE NOACCENT AS plain FROM kinds")
    columns = dict.fromkeys(("plain", "nocase", "accents", "de", "label"), VALUES)
    check_texts(connect(owner), columns)
    check_texts(connect(owner), columns, table="veiled")
    owner.execute("SET GLOBAL default_collation = 'nocase'")
    try:
        engine = connect(owner)
    except EngineError:
        pytest.skip("this version cannot pin the collation on a cursor, and is refused")
    check_texts(engine, columns)


def test_frames_with_categories_are_text():
    values = [value for value in VALUES if value is not None]
    frame = pd.DataFrame({"label": pd.Categorical(values), "plain": values})
    with connect({"kinds": frame}) as engine:
        check_texts(engine, {"label": values, "plain": values})


HOSTILE_SETTINGS = {
    "default_collation": "nocase",
    "TimeZone": "Asia/Tokyo",
    "Calendar": "japanese",
    "integer_division": "true",
    "ieee_floating_point_ops": "false",
    "error_on_division_by_zero": "false",
    "default_null_order": "nulls_first",
    "default_order": "desc",
    "old_implicit_casting": "true",
    "preserve_identifier_case": "lowercase",
    "scalar_subquery_error_on_multiple_rows": "false",
    "regex_match_operator_semantics": "full",
    "dialect_compatibility_mode": "spark",
    "disable_timestamptz_casts": "true",
    "arrow_lossless_conversion": "true",
}
HOSTILE_MACROS = (
    '"+"(a, b) AS 99', "\"||\"(a, b) AS 'z'", '"~~"(a, b) AS true', "count(x) AS 5", "count_star() AS 5",
    "sum(x) AS 5", "max(x) AS 5", "length(x) AS 5", "translate(a, b, c) AS 'n'", "substring(a, b, c) AS 'n'",
    "current_database() AS 'x'", "current_setting(x) AS 'x'", "duckdb_settings() AS TABLE SELECT 1 AS name",
    "duckdb_tables() AS TABLE SELECT 1 AS a", "duckdb_columns() AS TABLE SELECT 1 AS a",
)  # fmt: skip


def test_neither_settings_nor_macros_change_what_a_statement_means(owner):
    known = {name for (name,) in owner.execute("SELECT name FROM duckdb_settings()").fetchall()}
    changed = {}

    def shown(name):
        return str(owner.execute(f"SELECT system.main.current_setting('{name}')").fetchall()[0][0])

    def load(tables):
        for name, table in tables.items():
            owner.register("given", table)
            owner.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            owner.unregister("given")
        for macro in HOSTILE_MACROS:
            owner.execute(f"CREATE MACRO {macro}")
        for name, value in HOSTILE_SETTINGS.items():
            if name in known:
                # Older versions have other values, or settings that cannot be pinned and are refused.
                with suppress(duckdb.Error), owner.cursor() as probe:
                    probe.execute(f"SET SESSION {name} = '{value}'")
                    if shown(name).lower() == value:
                        owner.execute(f"RESET {name}")
                        continue
                    owner.execute(f"SET GLOBAL {name} = '{value}'")
                    changed[name] = value
        return connect(owner)

    check_backend(load, write=lambda: owner.execute("INSERT INTO readings (id) VALUES (7)"))
    seen = dict(owner.execute("SELECT name, value FROM system.main.duckdb_settings()").fetchall())
    assert all(seen[name].lower().startswith(value.lower()) for name, value in changed.items()), (
        "the caller's own settings stay"
    )


def test_a_setting_that_cannot_be_pinned_is_named(owner):
    owner.execute("CREATE TABLE t (a INTEGER)")
    owner.execute("SET GLOBAL default_collation = 'nocase'; SET GLOBAL lock_configuration = true")
    with pytest.raises(
        EngineError, match=r"default_collation of DuckDB is 'nocase'.*SET GLOBAL default_collation = ''"
    ):
        connect(owner)


def test_pinning_does_not_reach_the_caller(owner):
    """Where a version shares a setting between cursors, it is refused and given back."""
    owner.execute("CREATE TABLE t (a VARCHAR); SET GLOBAL default_collation = 'nocase'")
    with suppress(EngineError), connect(owner).snapshot():
        pass
    assert owner.execute("SELECT current_setting('default_collation')").fetchall() == [("nocase",)]


@pytest.mark.parametrize(
    ("name", "function", "types"),
    [
        ("greatest", lambda a, b: a, ["DOUBLE", "DOUBLE"]),
        ("||", lambda a, b: a, ["VARCHAR", "VARCHAR"]),
        ("substring", lambda a, b, c: a, ["VARCHAR", "INTEGER", "INTEGER"]),
    ],
)
def test_functions_of_the_callers_beside_built_in_ones_are_refused(owner, name, function, types):
    owner.create_function("brand_new", lambda x: x, ["BIGINT"], "BIGINT")
    connect(owner)
    owner.create_function(name, function, types, types[0])
    with pytest.raises(EngineError, match=rf"names of built-in ones \({re.escape(name)}\)"):
        connect(owner)


def test_generated_columns_do_not_exist_for_questions(owner):
    owner.execute(
        'CREATE TABLE t (id INTEGER, s VARCHAR, "n 1" INTEGER GENERATED ALWAYS AS (100 / (id - 17)), d INTEGER)'
    )
    owner.execute("INSERT INTO t (id, s) VALUES (1, 'x')")
    engine = connect(owner)
    found = engine.catalogue()["t"]
    assert "n 1" not in [column.name for column in found.columns]
    assert [(name, "generated" in reason) for name, reason in found.left_out][:1] == [("n 1", True)]
    with engine.snapshot() as snapshot, pytest.raises(EngineError):
        snapshot.aggregate(parse_one('SELECT COUNT("n 1") AS n FROM t'))
    with engine.snapshot() as snapshot:
        assert snapshot.aggregate(parse_one("SELECT COUNT(id) AS n FROM t")).to_pydict() == {"n": [1]}


def test_names_reach_the_tables_that_are_meant(owner):
    """Quotes and dots in names, a schema of another's name, an attached database, a variable of the program."""
    people = pd.DataFrame({"a": [9, 9, 9]})
    assert len(people) == 3
    odd = 'x"y; -- ${HOME} `z` é'
    owner.execute("CREATE SCHEMA other; CREATE TABLE other.t (a INTEGER); INSERT INTO other.t VALUES (5)")
    owner.execute("ATTACH ':memory:' AS elsewhere; CREATE TABLE elsewhere.t (a INTEGER)")
    quoted = odd.replace('"', '""')
    owner.execute(
        f'CREATE TABLE "{quoted}" ("{quoted}" INTEGER, "b.c" INTEGER); INSERT INTO "{quoted}" VALUES (1, 2)'
    )
    engine = connect(owner)
    assert set(engine.catalogue()) == {"other.t", odd}
    with engine.snapshot() as snapshot:
        table = exp.Table(this=exp.to_identifier(odd, quoted=True))
        query = exp.select(exp.column(odd, quoted=True), exp.column("b.c", table=odd, quoted=True)).from_(
            table
        )
        assert [column.to_pylist() for column in snapshot.aggregate(query).columns] == [[1], [2]]
        assert snapshot.aggregate(parse_one("SELECT a FROM other.t")).to_pydict() == {"a": [5]}
        for name in ("people", "elsewhere.t", "t", "duckdb_settings"):
            with pytest.raises(ParameterError, match="no table"):
                snapshot.aggregate(parse_one(f"SELECT 1 AS one FROM {name}"))
