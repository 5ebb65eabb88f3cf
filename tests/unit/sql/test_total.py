"""What is sent cannot raise: the least integers, counts beyond every type, and texts that would become too long."""

from __future__ import annotations

import itertools

import duckdb
import pytest

import sordino as sd
from sordino.core import UnsupportedError
from sordino.sql.aggregates import LARGEST_CHANGE

POLICY = {
    "version": 1,
    "dataset": "d",
    "tables": {
        "a": {
            "columns": {
                "tiny": {"bounds": [-128, 127]},
                "small": {"bounds": [-32768, 32767]},
                "plain": {"bounds": [-(2**31), 2**31 - 1]},
                "big": {"bounds": [-(2**50), 2**50]},
                "halves": {"bounds": [-128, 127], "granularity": 0.5},
            }
        },
        "b": {},
        "numbers": {"private": False},
    },
    "budgets": {"ann": {"epsilon": 1000}},
}


@pytest.fixture
def connection():
    with duckdb.connect() as owner:
        owner.execute(
            "CREATE TABLE a (k INT, tiny TINYINT, small SMALLINT, plain INT, big BIGINT, halves TINYINT, s VARCHAR);"
            "CREATE TABLE b (k INT); INSERT INTO b VALUES (1);"
            "CREATE TABLE numbers (same INT); INSERT INTO numbers SELECT 1 FROM range(10000)"
        )
        owner.execute(
            "INSERT INTO a VALUES (1, -128, -32768, -2147483648, -9223372036854775808, -128, repeat('x', 70000))"
        )
        yield owner


def explained(connection, sql, **options):
    with sd.connect(connection, policy=POLICY) as curator:
        return curator.explain(sql, epsilon=1, **options).reveal()


@pytest.mark.parametrize(
    ("column", "least"),
    [("tiny", -128), ("small", -32768), ("plain", -(2**31)), ("big", -(2**50)), ("halves", -128)],
)
def test_the_least_integer_has_a_size(connection, column, least):
    facts = explained(connection, f"SELECT SUM(a.{column}) FROM a JOIN b ON a.k = b.k")
    assert facts["exact"] == least
    assert {bound["table"]: bound["local"] for bound in facts["numbers"][0]["bounds"]}["b"] == -least


def test_an_integer_that_the_analyst_writes_has_a_size(connection):
    sql = "SELECT SUM(CASE WHEN a.tiny = -128 THEN -2147483648 ELSE 1 END) FROM a JOIN b ON a.k = b.k"
    facts = explained(connection, sql)
    assert facts["exact"] == -(2**31)
    assert {bound["table"]: bound["local"] for bound in facts["numbers"][0]["bounds"]}["b"] == 2**31


def test_counts_beyond_every_type_end_where_answers_do(connection):
    copies = [f"n{i}" for i in range(6)]
    links = [f"({one}.same = 1 OR {two}.same = 1)" for one, two in itertools.pairwise(copies)]
    tables = ", ".join(f"numbers {name}" for name in copies)
    sql = (
        f"SELECT SUM(a.tiny + 1e-12) FROM b, a, {tables} WHERE b.k = -1 AND (a.k = 1 OR n0.same = 1) AND "
        + " AND ".join(links)
    )
    facts = explained(connection, sql, analyses="patterns")
    step = facts["numbers"][0]["step"]
    assert max(bound["local"] / step for bound in facts["numbers"][0]["bounds"]) == float(LARGEST_CHANGE)


def test_only_the_first_characters_of_a_long_text_are_put_together(connection):
    facts = explained(
        connection, "SELECT COUNT(*) FROM a WHERE LENGTH(s || 'yz') = 65538 AND LENGTH(s) = 70000"
    )
    assert facts["exact"] == 1
    whole = "s" + " || s" * 80
    with pytest.raises(UnsupportedError, match="put fewer together"):
        explained(connection, f"SELECT COUNT(*) FROM a WHERE {whole} = 'x'")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM x JOIN y ON x.wide = y.whole JOIN z ON y.whole = z.fine",
        f"SELECT COUNT(*) FROM z JOIN y ON z.money = y.sum WHERE z.money = 1.{'0' * 34}1",
    ],
)
def test_only_decimals_that_the_question_compares_are_compared(sql):
    """Each pair fits 38 digits; the first and the last of a chain, or a literal and another column, need not."""
    with duckdb.connect() as owner:
        owner.execute(
            "CREATE TABLE x (wide DECIMAL(38, 0)); INSERT INTO x VALUES (99999999999999999999999999999999999999);"
            "CREATE TABLE y (whole DECIMAL(20, 0), sum DECIMAL(10, 2)); INSERT INTO y VALUES (1, 99999999.99);"
            "CREATE TABLE z (fine DECIMAL(38, 18), money DECIMAL(5, 2)); INSERT INTO z VALUES (1, 1)"
        )
        tables = {"x": {}, "y": {}, "z": {}}
        with sd.connect(owner, policy={"version": 1, "dataset": "d", "tables": tables}) as curator:
            assert curator.explain(sql, epsilon=1).reveal()["exact"] == 0


def test_decimals_that_fit_together_are_still_keys_of_a_join():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE x (a DECIMAL(15, 2)); CREATE TABLE y (b DECIMAL(9, 4));")
        owner.execute("INSERT INTO y SELECT i // 3 FROM range(30) r(i)")
        policy = {"version": 1, "dataset": "d", "tables": {"x": {}, "y": {}}}
        with sd.connect(owner, policy=policy) as curator:
            facts = curator.explain("SELECT COUNT(*) FROM x JOIN y ON a = b", epsilon=1).reveal()
    assert {bound["table"]: bound["local"] for bound in facts["numbers"][0]["bounds"]} == {"x": 3.0, "y": 0.0}
