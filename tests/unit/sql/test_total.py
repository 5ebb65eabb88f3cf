"""What is sent cannot raise: the least integers, counts beyond every type, and texts that would become too long."""

from __future__ import annotations

import itertools

import duckdb
import pytest

import sordino as sd
from sordino.core import UnsupportedError
from sordino.sql.contribution import LARGEST_CHANGE

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
