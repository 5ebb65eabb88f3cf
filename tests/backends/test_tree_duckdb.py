"""Trees from DuckDB: tables, files and frames give the tree of the rows in memory."""

from __future__ import annotations

import math

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from sordino.core import PrivateDataError
from sordino.engines import connect, write_double
from sordino.learn import DecisionTreeClassifier, relation

from .grove_suite import check_groves
from .tree_suite import CASES, SCHEMA, check_trees, check_unsupported, grown, same, table


def test_a_table_gives_the_same_tree_as_its_rows(duckdb_backend):
    check_trees(duckdb_backend.load)
    check_unsupported(duckdb_backend.load)


def test_frames_give_the_same_tree_as_their_rows():
    check_trees(connect)


def in_memory(rows, changes):
    return grown(lambda model: model.fit(rows.drop_columns("answer"), rows["answer"]), 5, **changes)


@pytest.mark.parametrize("changes", CASES, ids=["gini", "information gain", "max operator"])
def test_a_parquet_file_gives_the_same_tree_as_its_rows(tmp_path, changes):
    rows = table(seed=2)
    pyarrow.parquet.write_table(rows, tmp_path / "visits.parquet", row_group_size=50)
    for place in (tmp_path, tmp_path / "visits.parquet"):
        there = grown(lambda model, at=place: model.fit_table(at, "visits", target="answer"), 5, **changes)
        assert same(there, in_memory(rows, changes))


def test_a_nan_beside_a_single_number_in_parquet_is_still_missing(tmp_path):
    """A file's statistics leave NaN out, and the planner of DuckDB believes them: every value would be 1."""
    values = [1.0, math.nan, None] * 40
    rows = pa.table({"a": values, "b": values, "answer": ["no", "yes", "yes"] * 40})
    pyarrow.parquet.write_table(rows, tmp_path / "visits.parquet", row_group_size=30)
    schema = {
        "a": {"values": [1.0, 2.0], "missing": True},
        "b": {"bounds": [0, 4], "bins": 2, "missing": True},
    }
    there = grown(lambda model: model.fit_table(tmp_path, "visits", target="answer"), 5, schema=schema)
    assert same(there, in_memory(rows, {"schema": schema}))
    assert there.predict(rows.select(["a", "b"]).to_pandas()[:3]).tolist() == ["no", "yes", "yes"]


def test_a_csv_file_gives_the_same_tree_as_its_rows(tmp_path):
    """Without empty texts, which a CSV file cannot tell from nulls."""
    rows = table(seed=3)
    texts = ["Red" if text == "" else text for text in rows["colour"].to_pylist()]
    rows = rows.set_column(0, "colour", [texts])
    pyarrow.csv.write_csv(rows, tmp_path / "visits.csv")
    schema = SCHEMA | {"colour": {"values": ["red", "O'Neil", "Red"], "missing": True}}
    types = dict.fromkeys(("height", "speed", "dose"), "float")
    types |= {"level": "integer", "member": "boolean", "steps": "integer"}
    with connect(tmp_path, types={"visits": types}) as engine:
        there = grown(lambda model: model.fit_table(engine, "visits", target="answer"), 5, schema=schema)
    assert same(there, in_memory(rows, {"schema": schema}))


def test_a_view_may_prepare_the_columns():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE raw AS SELECT range AS n, range % 7 < 3 AS bought FROM range(200)")
        owner.execute("CREATE VIEW v AS SELECT CAST(n % 7 AS VARCHAR) AS day, bought FROM raw")
        model = DecisionTreeClassifier(
            50.0, schema={"day": list("0123456")}, classes=[False, True], max_rows=200, max_depth=1
        )
        model.fit_table(owner, "v", target="bought")
    assert model.predict(pl.DataFrame({"day": list("0123456")})).tolist() == [True] * 3 + [False] * 4


def test_a_tree_asks_one_query_per_level(monkeypatch):
    with connect({"t": table()}) as engine:
        asked = []
        with engine.snapshot() as snapshot:
            kind = type(snapshot)
        aggregate = kind.aggregate
        monkeypatch.setattr(kind, "aggregate", lambda self, query: asked.append(1) or aggregate(self, query))
        model = grown(lambda model: model.fit_table(engine, "t", target="answer"), 5, epsilon=500.0)
    assert len(asked) == model.tree_.depth + 1


def test_the_suite_notices_an_engine_that_counts_otherwise(monkeypatch):
    """The control: edges one step higher, so that a value at an edge belongs to the bin below, must fail."""
    monkeypatch.setattr(relation, "write_double", lambda value: write_double(math.nextafter(value, 9)))
    with pytest.raises((AssertionError, PrivateDataError)):
        check_trees(connect)


def test_a_session_gives_the_trees_and_forests_of_the_library(duckdb_backend):
    check_groves(duckdb_backend.load)


def test_a_session_on_files_reads_what_their_statistics_leave_out(tmp_path):
    def load(tables):
        for name, rows in tables.items():
            pyarrow.parquet.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=40)
        return connect(tmp_path)

    check_groves(load, [{}, {"features": ["height"], "max_depth": 1}])
