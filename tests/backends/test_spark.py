"""What only Spark has: files behind tables, sessions with settings."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import parse_one

from sordino.core import EngineError, ParameterError
from sordino.engines import connect
from sordino.testing import check_backend

from .nan_suite import FILES, check_nan_is_found, write_files


def test_the_engine_passes_the_shipped_suite(spark_backend):
    check_backend(spark_backend.load, write=spark_backend.write)


@pytest.fixture
def folder(spark, tmp_path):
    """A folder of Parquet files behind the view ``t``."""
    path = tmp_path / "t"
    path.mkdir()
    pq.write_table(pa.table({"a": [1, 2]}), path / "0.parquet")
    spark.read.parquet(str(path)).createOrReplaceTempView("t")
    yield path
    spark.catalog.dropTempView("t")


def ask(snapshot, sql):
    return snapshot.aggregate(parse_one(sql)).to_pydict()


def test_the_list_of_files_is_pinned_and_a_change_is_noticed(spark, folder):
    engine = connect(spark)
    with engine.snapshot() as snapshot:
        pq.write_table(pa.table({"a": [10]}), folder / "1.parquet")
        assert ask(snapshot, "SELECT SUM(a) AS s FROM t") == {"s": [3]}
        assert ask(snapshot, "SELECT SUM(t.a) AS s FROM t JOIN t AS u ON t.a = u.a") == {"s": [3]}
    with pytest.raises(EngineError, match=r"0\.parquet changed"), engine.snapshot():
        pq.write_table(pa.table({"a": [1, 2, 3]}), folder / "0.parquet")
    assert [table.name for table in spark.catalog.listTables()] == ["t"]


def test_a_local_frame_is_a_table_and_overflow_is_refused(spark):
    frame = spark.createDataFrame([(2**62,), (2**62,)], "a bigint")
    frame.createOrReplaceTempView("big")
    with connect(spark) as engine:
        with engine.snapshot() as snapshot:
            assert ask(snapshot, "SELECT MAX(a) AS m FROM big") == {"m": [2**62]}
        with pytest.raises(EngineError, match="cannot answer"), engine.snapshot() as snapshot:
            ask(snapshot, "SELECT SUM(a) AS s FROM big")
    spark.catalog.dropTempView("big")
    with pytest.raises(EngineError, match="closed"):
        engine.catalogue()
    assert spark.sql("SELECT 1").count() == 1


def test_the_catalogue_says_how_many_digits_decimals_have(spark):
    spark.createDataFrame([], "a decimal(15, 2), b double").createOrReplaceTempView("d")
    with connect(spark) as engine:
        columns = engine.catalogue()["d"].columns
        assert [(column.digits, column.scale) for column in columns] == [(15, 2), (None, None)]
    spark.catalog.dropTempView("d")


def test_nan_beside_smaller_numbers_in_a_file_is_found(spark, tmp_path):
    write_files(tmp_path)
    for name in FILES:
        spark.read.parquet(str(tmp_path / f"{name}.parquet")).createTempView(name)
    with connect(spark) as engine:
        check_nan_is_found(engine, constants=(2, 5))
    for name in FILES:
        spark.catalog.dropTempView(name)


def test_sessions_that_would_be_wrong_are_refused(spark):
    with pytest.raises(EngineError, match="already open"):
        connect("spark-local")
    with pytest.raises(ParameterError, match="cannot be set"):
        connect(spark, threads=2)
