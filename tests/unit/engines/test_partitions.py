"""Folders of Parquet files as one table; what a folder is called is a cell like any other."""

from __future__ import annotations

import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import parse_one

import sordino as sd
from sordino.core import EngineError, ParameterError
from sordino.engines import Column, connect


def ask(engine, sql):
    with engine.snapshot() as snapshot:
        return snapshot.aggregate(parse_one(sql, dialect="duckdb")).to_pydict()


def put(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def shop(tmp_path):
    orders = tmp_path / "shop" / "orders"
    put(orders / "year=2023" / "city=Rome" / "a.parquet", id=[1, 2], paid=[1.5, 2.5])
    put(orders / "year=2023" / "city=a%2Fb c" / "a.parquet", id=[3], paid=[0.5])
    put(orders / "year=007" / "city=__HIVE_DEFAULT_PARTITION__" / "a.parquet", id=[4], paid=[4.0])
    put(orders / "year=unknown" / "city=Rome" / "b.parquet", id=[5], paid=[5.0])
    (orders / "_SUCCESS").write_text("")
    (orders / "year=2023" / ".a.parquet.crc").write_text("x")
    (tmp_path / "shop" / "people.csv").write_text("id,name\n1,Ann\n")
    return tmp_path / "shop"


def test_a_folder_of_folders_is_one_table(shop):
    with connect(shop) as engine:
        tables = engine.catalogue()
        assert set(tables) == {"orders", "people"}
        # a column is text, although most of its values are numbers
        assert tables["orders"].columns == (
            Column("id", "integer"), Column("paid", "float"), Column("year", "text"), Column("city", "text"),
        )  # fmt: skip
        assert not tables["orders"].view
        assert ask(engine, "SELECT id, year, city FROM orders ORDER BY id") == {
            "id": [1, 2, 3, 4, 5],
            "year": ["2023", "2023", "2023", "007", "unknown"],
            "city": ["Rome", "Rome", "a/b c", None, "Rome"],
        }
        assert ask(engine, "SELECT SUM(paid) AS s FROM orders WHERE city = 'Rome' AND year = '2023'") == {
            "s": [4.0]
        }


def test_declared_types_convert_each_value_by_itself(shop):
    with connect(shop, types={"orders": {"year": "integer"}}) as engine:
        assert engine.catalogue()["orders"].columns[2] == Column("year", "integer")
        assert ask(
            engine, "SELECT year, COUNT(*) AS n FROM orders GROUP BY year ORDER BY year NULLS LAST"
        ) == {
            "year": [7, 2023, None],
            "n": [1, 3, 1],
        }


def test_another_folder_does_not_change_the_type_of_the_others(shop):
    with connect(shop) as engine:
        before = engine.catalogue()
    for name in ("2024", "2024-05-06", "true", "x"):
        put(shop / "orders" / f"year={name}" / "city=Oslo" / "c.parquet", id=[9], paid=[9.0])
        with connect(shop) as engine:
            assert engine.catalogue() == before


def test_a_partitioned_folder_may_be_the_target_itself(shop):
    with connect(shop / "orders") as engine:
        assert ask(engine, "SELECT COUNT(*) AS n FROM orders") == {"n": [5]}


def test_a_folder_of_parts_without_keys_is_a_table(tmp_path):
    put(tmp_path / "data" / "t.parquet" / "part-0.parquet", id=[1])
    put(tmp_path / "data" / "t.parquet" / "part-1.parquet", id=[2])
    with connect(tmp_path / "data") as engine:
        assert ask(engine, "SELECT SUM(id) AS s FROM t") == {"s": [3]}


def test_folders_that_are_no_tables_are_passed_over(shop):
    (shop / "notes" / "old").mkdir(parents=True)
    (shop / "notes" / "a.txt").write_text("x")
    put(shop / "backup" / "old" / "orders.parquet", id=[1])
    with connect(shop) as engine:
        assert set(engine.catalogue()) == {"orders", "people"}


@pytest.mark.parametrize(
    ("place", "columns", "message"),
    [
        ("year=secret/x.parquet", {"id": [1], "paid": [1.0]}, "the same keys in the same order"),
        ("city=secret/year=1/x.parquet", {"id": [1], "paid": [1.0]}, "the same keys in the same order"),
        ("year=1/secret/x.parquet", {"id": [1], "paid": [1.0]}, "the same keys in the same order"),
        ("year=1/city=secret/x.parquet", {"id": [1]}, "differ in their columns"),
        ("year=1/city=secret/x.parquet", {"id": [1.5], "paid": [1.0]}, "differ in their columns"),
        ("year=1/city=secret*/x.parquet", {"id": [1], "paid": [1.0]}, "holds one of"),
        ("year=1/city=secret%FF/x.parquet", {"id": [1], "paid": [1.0]}, "not UTF-8"),
    ],
)
def test_files_that_are_not_one_table_are_refused_without_their_names(shop, place, columns, message):
    put(shop / "orders" / place, **columns)
    with pytest.raises(EngineError, match=message) as refused:
        connect(shop)
    assert "secret" not in str(refused.value)


def test_a_column_in_files_and_folders_is_refused(tmp_path):
    put(tmp_path / "t" / "Id=1" / "x.parquet", id=[1])
    with pytest.raises(EngineError, match="has a column twice"):
        connect(tmp_path)


def test_a_broken_file_is_refused(shop):
    (shop / "orders" / "year=1" / "city=secret").mkdir(parents=True)
    (shop / "orders" / "year=1" / "city=secret" / "x.parquet").write_text("no parquet")
    with pytest.raises(EngineError, match="cannot be read as Parquet") as refused:
        connect(shop)
    assert "secret" not in str(refused.value)


def test_types_of_what_has_its_own_are_refused(shop):
    with pytest.raises(ParameterError, match="only the names of folders have none: year, city"):
        connect(shop, types={"orders": {"id": "integer"}})


def test_a_change_of_a_part_during_a_snapshot_is_noticed(shop):
    query = parse_one("SELECT COUNT(*) AS n FROM orders", dialect="duckdb")
    changed = pytest.raises(EngineError, match=r"a\.parquet changed during the snapshot")
    with connect(shop) as engine, changed, engine.snapshot() as snapshot:
        assert snapshot.aggregate(query).to_pydict() == {"n": [5]}
        put(shop / "orders" / "year=2023" / "city=Rome" / "a.parquet", id=[1, 2, 3], paid=[1.5, 2.5, 3.5])
        snapshot.aggregate(query)


def test_a_change_that_is_undone_with_size_and_time_is_noticed(shop):
    part = shop / "orders" / "year=2023" / "city=Rome" / "a.parquet"
    changed = pytest.raises(EngineError, match=r"a\.parquet changed during the snapshot")
    with connect(shop) as engine, changed, engine.snapshot():
        before, status = part.read_bytes(), part.stat()
        put(part, id=[1, 2, 3], paid=[1.5, 2.5, 3.5])
        part.write_bytes(before)
        os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_the_policy_declares_the_type_of_a_key(shop):
    policy = {
        "version": 1,
        "dataset": "shop",
        "tables": {
            "orders": {
                "columns": {"Year": {"type": "integer", "domain": [2023, 2024]}, "id": {"type": "integer"}}
            }
        },
    }
    with sd.connect(shop, policy=policy) as curator:
        exact = curator.explain("SELECT year, COUNT(*) AS n FROM orders GROUP BY year", 1).reveal()["exact"]
    assert exact == [{"year": 2023, "n": 3}, {"year": 2024, "n": 0}]


def test_what_duckdb_writes_is_read(tmp_path):
    with duckdb.connect() as writer:
        writer.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a b'), (2, 'x=y/z'), (3, NULL)) v(id, kind)"
        )
        writer.execute(f"COPY t TO '{tmp_path / 't'}' (FORMAT parquet, PARTITION_BY (kind))")
    with connect(tmp_path) as engine:
        assert ask(engine, "SELECT id, kind FROM t ORDER BY id") == {
            "id": [1, 2, 3],
            "kind": ["a b", "x=y/z", None],
        }
