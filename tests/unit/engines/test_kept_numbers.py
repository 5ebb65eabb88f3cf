import os
import shutil

import duckdb
import pytest

import sordino as sd
from sordino.core import EngineError
from sordino.engines import connect, watch


@pytest.fixture
def without_ticks(monkeypatch):
    """Files count as settled at once: these tests leave more than a tick of today's file systems between writes."""
    monkeypatch.setattr(watch, "_TICK", 0)


def take_kept(engine, *tables):
    with engine.snapshot() as snapshot:
        return snapshot.kept(tables)


def make_database(path, *statements):
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.usefixtures("without_ticks")
def test_numbers_are_kept_while_nobody_can_have_written(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("a\n1\n")
    with connect(tmp_path) as engine:
        kept = take_kept(engine, "r")
        assert kept is not None
        assert take_kept(engine, "r") is kept
        file.write_text("a\n1\n1\n")
        assert take_kept(engine, "r") is not kept


def test_nothing_is_kept_of_a_connection_of_the_callers():
    with duckdb.connect() as connection, connect(connection) as engine:
        connection.execute("CREATE TABLE r AS SELECT 1 AS a")
        assert take_kept(engine, "r") is None


def test_nothing_is_kept_of_a_file_that_was_just_written(tmp_path):
    (tmp_path / "r.csv").write_text("a\n1\n")
    with connect(tmp_path) as engine:
        assert take_kept(engine, "r") is None


@pytest.mark.usefixtures("without_ticks")
def test_a_file_of_the_same_size_and_time_is_another_state(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("a\n1\n")
    with connect(tmp_path) as engine:
        kept, status = take_kept(engine, "r"), file.stat()
        with file.open("r+") as stream:
            stream.write("a\n2\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert take_kept(engine, "r") is not kept


@pytest.mark.usefixtures("without_ticks")
def test_a_file_that_was_away_and_came_back_is_another_state(tmp_path):
    file, other = tmp_path / "r.csv", tmp_path / "other"
    file.write_text("a\n1\n")
    with connect(tmp_path) as engine:
        kept = take_kept(engine, "r")
        file.rename(other)
        other.rename(file)
        assert take_kept(engine, "r") is not kept


def test_nothing_is_kept_of_what_is_not_a_table(tmp_path):
    made = make_database(
        tmp_path / "shop.duckdb",
        "CREATE TABLE r AS SELECT 1 AS a",
        "CREATE VIEW v AS SELECT a FROM r WHERE now() > TIMESTAMP '2000-01-01'",
    )
    with connect(str(made)) as engine:
        assert take_kept(engine, "r") is not None
        assert take_kept(engine, "r", "v") is None
        assert take_kept(engine, "w") is None


def test_bounds_of_a_view_follow_what_its_code_says_now(tmp_path):
    """The view asks the clock: first every customer has one order, then one customer has all 500."""
    made = make_database(
        tmp_path / "shop.duckdb",
        "CREATE TABLE customers AS SELECT range AS id FROM range(500)",
    )
    with duckdb.connect(str(made)) as connection:
        connection.execute(
            "CREATE VIEW orders AS SELECT CASE WHEN epoch_ms(now()) % 2 = 0 THEN id ELSE 7 END AS customer "
            "FROM customers"
        )
    policy = {
        "version": 1,
        "dataset": "shop",
        "protects": "row",
        "tables": {"customers": {}, "orders": {"view": True}},
    }
    seen = set()
    with sd.connect(str(made), policy=policy) as curator:
        for _ in range(40):
            told = curator.explain(
                "SELECT COUNT(*) FROM customers JOIN orders ON customer = id", epsilon=1
            ).reveal()
            bounds = {bound["table"]: bound["local"] for bound in told["numbers"][0]["bounds"]}
            seen.add(bounds["customers"])
    assert seen == {1, 500}


def test_a_database_that_is_written_to_while_it_is_open_is_refused(tmp_path):
    made = make_database(tmp_path / "shop.duckdb", "CREATE TABLE r AS SELECT range AS a FROM range(1000)")
    other = make_database(tmp_path / "new.duckdb", "CREATE TABLE r AS SELECT 7 AS a FROM range(300000)")
    with connect(str(made)) as engine:
        assert take_kept(engine, "r") is not None
        shutil.copyfile(other, made)
        with pytest.raises(EngineError, match="written to while it was open"):
            take_kept(engine, "r")


def test_a_database_that_is_replaced_stays_what_was_opened(tmp_path):
    made = make_database(tmp_path / "shop.duckdb", "CREATE TABLE r AS SELECT range AS a FROM range(1000)")
    other = make_database(tmp_path / "new.duckdb", "CREATE TABLE r AS SELECT 7 AS a FROM range(3000)")
    with connect(str(made)) as engine:
        kept = take_kept(engine, "r")
        other.replace(made)
        assert take_kept(engine, "r") is kept
