"""DuckDB, where Sordino opens it: what is read, what is refused, what stays the same."""

from __future__ import annotations

import os

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import parse_one

from sordino.core import EngineError, ParameterError, UnsupportedError
from sordino.engines import Column, Reference, connect


def ask(engine, sql):
    with engine.snapshot() as snapshot:
        return snapshot.aggregate(parse_one(sql, dialect="duckdb"))


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text("id,age,name\n1,30,Ann\n2,abc,Bob\n3,,\n")
    pq.write_table(pa.table({"id": [1, 1, 2], "paid": [1.5, 2.5, None]}), tmp_path / "orders.parquet")
    return tmp_path


def test_a_folder_is_a_database(people):
    with connect(people, types={"people": {"id": "integer", "age": "integer"}}) as engine:
        assert (engine.name, engine.dialect) == ("duckdb", "duckdb")
        tables = engine.catalogue()
        assert tables["people"].columns == (
            Column("id", "integer"),
            Column("age", "integer"),
            Column("name", "text"),
        )
        assert [column.type for column in tables["orders"].columns] == ["integer", "float"]
        answer = ask(engine, "SELECT sum(age) s, count(*) n FROM people LEFT JOIN orders USING (id)")
        assert answer.to_pydict() == {"s": [60], "n": [4]}


def test_the_catalogue_says_how_many_digits_decimals_have():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE t (a DECIMAL(15, 2), b DECIMAL(38, 38), c DOUBLE, d DECIMAL(3, 1)[])")
        columns = connect(owner).catalogue()["t"].columns
    assert [(column.type, column.digits, column.scale) for column in columns] == [
        ("decimal", 15, 2),
        ("decimal", 38, 38),
        ("float", None, None),
        ("other", None, None),
    ]


def test_the_catalogue_knows_enforced_keys_and_labels():
    with duckdb.connect() as owner:
        owner.execute("CREATE SCHEMA other")
        owner.execute("CREATE TYPE mood AS ENUM ('fine', 'it''s, \"so\"', ')')")
        owner.execute(
            "CREATE TABLE other.Customers (Id INTEGER UNIQUE, mail VARCHAR PRIMARY KEY, m mood, size DOUBLE UNIQUE, "
            "x INTEGER, y INTEGER, UNIQUE (y, X), l ENUM('a', 'b')[])"
        )
        owner.execute(
            "CREATE TABLE other.orders (n INTEGER, customer INTEGER REFERENCES customers (ID), x INTEGER, y INTEGER, "
            "FOREIGN KEY (y, x) REFERENCES customers (y, x))"
        )
        owner.execute("CREATE VIEW keyed AS SELECT id FROM other.customers")
        owner.execute("CREATE TABLE keyless (a INTEGER, unique_key INTEGER)")
        tables = connect(owner).catalogue()
        assert tables["other.Customers"].keys == (("mail",), ("Id",), ("y", "x"))
        assert {column.name: column.labels for column in tables["other.Customers"].columns} == {
            "Id": (), "mail": (), "m": ("fine", 'it\'s, "so"', ")"), "size": (), "x": (), "y": (), "l": ()
        }  # fmt: skip
        assert tables["other.orders"].keys == ()
        assert tables["other.orders"].references == (
            Reference(("customer",), "other.Customers", ("Id",)),
            Reference(("y", "x"), "other.Customers", ("y", "x")),
        )
        assert [tables[name].keys for name in ("keyed", "keyless")] == [(), ()]


def test_a_collated_text_is_a_key_but_no_foreign_key():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE c (name VARCHAR COLLATE NOCASE PRIMARY KEY)")
        owner.execute("CREATE TABLE o (name VARCHAR COLLATE NOCASE REFERENCES c (name))")
        tables = connect(owner).catalogue()
    assert (tables["c"].keys, tables["o"].references) == ((("name",),), ())


def test_frames_have_no_labels():
    # the categories of a frame are found in its rows
    frame = pd.DataFrame({"city": pd.Categorical(["Rome", "Oslo"])})
    with connect({"t": frame}) as engine:
        assert engine.catalogue()["t"].columns == (Column("city", "text"),)


def test_an_undeclared_csv_is_text(people):
    with connect(people / "people.csv") as engine:
        assert {column.type for column in engine.catalogue()["people"].columns} == {"text"}


def test_a_cell_that_does_not_convert_is_null_and_its_row_stays(people):
    types = {"people": {"id": "integer", "age": "integer"}}
    with connect(people / "people.csv", types=types) as engine:
        answer = ask(engine, "SELECT id, age, name FROM people ORDER BY id").to_pydict()
    assert answer == {"id": [1, 2, 3], "age": [30, None, None], "name": ["Ann", "Bob", None]}


def test_odd_rows_count_the_same_in_every_query(tmp_path):
    """Ragged rows, quoted line ends and bytes that are not UTF-8, in columns that a query may not even read."""
    path = tmp_path / "odd.csv"
    path.write_bytes(b'x,y\n1,a\nfoo,b\n3\n4,c,d\n5,"q\nr"\n6,\xff\xfe\n7,""\n8,\n')
    with connect(path, types={"odd": {"x": "integer"}}) as engine, engine.snapshot() as snapshot:

        def rows(sql):
            return snapshot.aggregate(parse_one(sql, dialect="duckdb")).num_rows

        assert rows("SELECT x, y FROM odd") == 6
        assert rows("SELECT x FROM odd") == 6
        assert rows("SELECT y FROM odd") == 6
        assert rows("SELECT 1 AS one FROM odd") == 6
        assert rows("SELECT TRY_CAST(y AS BIGINT) AS y FROM odd") == 6
        assert rows("SELECT TRY_CAST(x AS DOUBLE) AS x FROM odd") == 6


@pytest.mark.parametrize(
    ("kind", "cell", "value"),
    [
        ("integer", "9007199254740993", 9007199254740993),
        ("float", "0.1", 0.1),
        ("boolean", "true", True),
        ("decimal(10, 2)", "1.25", pytest.approx(1.25)),
    ],
)
def test_declared_types_convert(tmp_path, kind, cell, value):
    (tmp_path / "t.csv").write_text(f"c\n{cell}\nnonsense\n")
    with connect(tmp_path, types={"t": {"c": kind}}) as engine:
        answer = ask(engine, "SELECT c FROM t")["c"].to_pylist()
    assert answer[1] is None
    assert (float(answer[0]) if "decimal" in kind else answer[0]) == value


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_gives_the_delimiter(tmp_path, delimiter):
    (tmp_path / "t.csv").write_text(
        "\ufeff" + delimiter.join(["a", '"b c"']) + "\n" + delimiter.join("12") + "\n"
    )
    with connect(tmp_path) as engine:
        assert ask(engine, 'SELECT a, "b c" AS b FROM t').to_pydict() == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"peple": {}}, "did you mean 'people'"),
        ({"people": {"agee": "integer"}}, "no column 'agee' in table 'people', .*: did you mean 'age'"),
        ({"people": {"age": "int128"}}, "must be integer, decimal"),
        ({"orders": {"id": "integer"}}, "Parquet file"),
    ],
)
def test_wrong_types_are_named(people, types, message):
    with pytest.raises(ParameterError, match=message):
        connect(people, types=types)


def test_two_files_of_one_name_and_bad_headers_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="holds no tables"):
        connect(tmp_path)
    (tmp_path / "t.csv").write_text("a,A\n")
    with pytest.raises(EngineError, match="twice"):
        connect(tmp_path)
    (tmp_path / "t.csv").write_text("a,,b\n")
    with pytest.raises(EngineError, match="unnamed"):
        connect(tmp_path)
    (tmp_path / "t.csv").write_text("a\n")
    (tmp_path / "T.parquet").write_bytes(b"")
    with pytest.raises(EngineError, match="would both be"):
        connect(tmp_path)
    (tmp_path / "t.csv").unlink()
    with pytest.raises(EngineError, match="cannot be read from its file"):
        connect(tmp_path)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "ATTACH '/etc/passwd' AS p",
        "INSTALL httpfs",
        "SET threads = 1",
        "SET enable_external_access = true",
        "COPY (SELECT 1) TO '/tmp/out.csv'",
        "SELECT * FROM people_frame",
    ],
)
@pytest.mark.parametrize("given", ["folder", "file", "frames"])
def test_duckdb_is_shut_in(people, sql, given):
    """Past the check of expressions: the engine itself refuses."""
    people_frame = pa.table({"a": [1]})
    with opened(given, people, people_frame) as engine, pytest.raises(duckdb.Error):
        engine._cursor().execute(sql)


def opened(given, people, frame):
    if given == "folder":
        return connect(people)
    if given == "frames":
        return connect({"t": frame})
    path = people / "shop.duckdb"
    duckdb.connect(str(path)).close()
    return connect(f"duckdb://{path}")


def test_a_database_file_is_read_only(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute("CREATE TABLE t (a INTEGER NOT NULL, e ENUM('x'))")
        writer.execute("CREATE SCHEMA other")
        writer.execute("CREATE TABLE other.u (b DECIMAL(10, 2))")
    for target in (f"duckdb://{path}", path):
        with connect(target) as engine:
            assert engine.catalogue()["t"].columns == (
                Column("a", "integer", False),
                Column("e", "text", labels=("x",)),
            )
            assert ask(engine, "SELECT sum(b) AS s FROM other.u").to_pydict() == {"s": [None]}
            with pytest.raises(duckdb.Error, match="read-only"):
                engine._cursor().execute("CREATE TABLE shop.v (a INTEGER)")


def test_a_connection_of_the_caller_stays_open():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 41 AS a")
        with connect(connection) as engine:
            assert connect(engine) is engine
            assert ask(engine, "SELECT a + 1 AS b FROM t").to_pydict() == {"b": [42]}
        assert connection.execute("SELECT a FROM t").fetchall() == [(41,)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_tables(make):
    with connect({"t": make({"a": [1, 2, 3], "b": ["x", "y", None]})}) as engine:
        assert [column.type for column in engine.catalogue()["t"].columns] == ["integer", "text"]
        assert ask(engine, "SELECT sum(a) s, count(b) n FROM t").to_pydict() == {"s": [6], "n": [2]}


def test_later_changes_of_a_frame_are_not_seen():
    frame = pd.DataFrame({"a": [1, 2, 3]})
    with connect({"t": frame}) as engine:
        frame.loc[0, "a"] = 100
        assert ask(engine, "SELECT sum(a) s FROM t").to_pydict() == {"s": [6]}


def test_a_frame_must_be_one():
    with pytest.raises(ParameterError, match="pandas, polars and Arrow"):
        connect({"t": [1, 2]})
    with pytest.raises(ParameterError, match="need names"):
        connect({1: pd.DataFrame()})


def test_a_file_that_changes_during_a_snapshot_is_noticed(people):
    path = people / "people.csv"
    with connect(people) as engine:
        with pytest.raises(EngineError, match=r"people\.csv changed"), engine.snapshot() as snapshot:  # noqa: PT012
            snapshot.aggregate(parse_one("SELECT count(*) AS n FROM people"))
            path.write_text(path.read_text() + "4,5,Eve\n")
            snapshot.aggregate(parse_one("SELECT count(*) AS n FROM people"))
        with pytest.raises(EngineError, match=r"people\.csv changed"), engine.snapshot():
            os.utime(path, ns=(1, 1))
        path.unlink()
        with pytest.raises(EngineError, match="is gone"), engine.snapshot():
            pass


def test_a_file_that_appears_later_is_not_seen(people):
    with connect(people) as engine:
        (people / "late.csv").write_text("a\n1\n")
        assert set(engine.catalogue()) == {"people", "orders"}


def test_sums_of_integers_are_int64_or_refused():
    big = 2**62
    with connect({"t": pa.table({"a": [big, big - 1]}), "u": pa.table({"a": [big, big]})}) as engine:
        answer = ask(engine, "SELECT sum(a) AS s FROM t")
        assert (answer.schema.field("s").type, answer["s"].to_pylist()) == (pa.int64(), [2**63 - 1])
        with pytest.raises(EngineError, match="does not fit int64") as refused:
            ask(engine, "SELECT sum(a) AS s FROM u")
    assert str(2**63) not in str(refused.value)


def test_the_engines_own_words_are_secret(people):
    with connect(people) as engine, pytest.raises(EngineError) as refused:
        ask(engine, "SELECT CAST(name AS INTEGER) AS n FROM people")
    error = refused.value
    assert "Ann" not in str(error)
    assert "Ann" not in repr(error.args)
    assert "Ann" not in f"{error.details}{error.details!r}"
    assert "Ann" in error.details.reveal()
    assert error.__suppress_context__
    assert error.__cause__ is None


def test_a_query_larger_than_memory_spills():
    with connect("duckdb://:memory:", memory_limit="120MB", threads=2) as engine:
        answer = ask(
            engine,
            "SELECT count(*) AS n FROM (SELECT h FROM (SELECT hash(g) AS h "
            "FROM generate_series(1, 10000000) AS s(g)) AS r GROUP BY h) AS q",
        )
        assert answer.to_pydict() == {"n": [10_000_000]}


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("DROP TABLE people", UnsupportedError),
        ("INSERT INTO people VALUES (1)", UnsupportedError),
        ("SELECT * INTO copy FROM people", UnsupportedError),
        ("SELECT id FROM people FOR UPDATE", UnsupportedError),
        ("WITH gone AS (DELETE FROM people RETURNING id) SELECT * FROM gone", UnsupportedError),
        ("SELECT * FROM read_csv('/etc/passwd')", UnsupportedError),
        ("SELECT * FROM dblink('x')", UnsupportedError),
        ("SELECT * FROM a.b.people", UnsupportedError),
        ("SELECT * FROM poeple", ParameterError),
        ("SELECT * FROM duckdb_settings", ParameterError),
        ("SELECT (SELECT count(*) FROM hidden) AS n FROM people", ParameterError),
    ],
)
def test_only_queries_over_the_catalogue_are_sent(people, sql, error):
    with connect(people) as engine, pytest.raises(error), engine.snapshot() as snapshot:
        snapshot.aggregate(parse_one(sql, dialect="postgres"))


def test_a_query_is_a_tree(people):
    with (
        connect(people) as engine,
        engine.snapshot() as snapshot,
        pytest.raises(ParameterError, match="parse_one"),
    ):
        snapshot.aggregate("SELECT 1")


def test_a_closed_engine_says_so():
    engine = connect("duckdb://:memory:")
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.catalogue()


def test_integers_whose_comparison_can_raise_are_not_catalogued_as_integers():
    import duckdb

    from sordino.engines import connect

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (a UHUGEINT, b HUGEINT)")
    columns = connect(connection).catalogue()["t"].columns
    assert [(column.name, column.type) for column in columns] == [("a", "other"), ("b", "integer")]


def test_views_are_told_from_tables_and_names_with_a_dot_are_left_out():
    with duckdb.connect() as owner:
        owner.execute(
            'CREATE TABLE t AS SELECT 1 AS x; CREATE VIEW v AS SELECT * FROM t; CREATE TABLE "a.b" (x INT)'
        )
        found = connect(owner).catalogue()
    assert {name: table.view for name, table in found.items()} == {"t": False, "v": True}


def test_files_are_tables_and_a_dot_in_their_name_becomes_an_underscore(tmp_path):
    (tmp_path / "visits.2024.csv").write_text("id\n1\n")
    with connect(tmp_path) as engine:
        assert {name: table.view for name, table in engine.catalogue().items()} == {"visits_2024": False}


def test_a_file_that_got_another_header_is_refused(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("x\n1\n")
    with connect(tmp_path) as engine:
        file.write_text("y\n1\n2\n")
        with pytest.raises(EngineError, match="another header"), engine.snapshot():
            pass


def test_cells_of_a_file_without_a_header_are_not_shown(tmp_path):
    (tmp_path / "people.csv").write_text("4711,Rossi\n")
    with pytest.raises(ParameterError) as caught:
        connect(tmp_path, types={"people": {"city": "text"}})
    assert "4711" not in str(caught.value)
    assert "Rossi" not in str(caught.value)


def test_the_owner_learns_how_many_rows_the_lines_of_a_file_make(tmp_path):
    good = "".join(f"{i},a\n" for i in range(50))
    (tmp_path / "good.csv").write_text("id,name\n" + good + '7,"two\nlines"\n')
    (tmp_path / "stray.csv").write_text("id,name\n" + good + '7,"oh\n' + good)
    pq.write_table(pa.table({"id": [1]}), tmp_path / "other.parquet")
    with connect(tmp_path) as engine:
        assert engine.lines_and_rows("good") == (52, 51)
        assert engine.lines_and_rows("stray") == (101, 51)
        assert engine.lines_and_rows("other") is None
