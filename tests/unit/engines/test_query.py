"""Trees: which tables they read, and what they may say."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from sordino.core import ParameterError, ProofError, UnsupportedError
from sordino.engines import connect
from sordino.engines.duckdb import DuckDBSnapshot
from sordino.engines.query import check_query, find_tables_read, name_table
from sordino.testing import check_backend


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT 1 FROM a JOIN s.b ON TRUE", {"a", "s.b"}),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", {"a"}),
        ("WITH w AS (SELECT 1) SELECT * FROM w AS v, b", {"b"}),
        ("SELECT * FROM (WITH w AS (SELECT 1) SELECT * FROM w) AS v, w", {"w"}),
        ("SELECT (SELECT MAX(x) FROM b) FROM a WHERE EXISTS (SELECT 1 FROM c)", {"a", "b", "c"}),
        ("SELECT * FROM a UNION ALL SELECT * FROM b", {"a", "b"}),
    ],
)
def test_tables_read_keeps_to_the_scope_of_names(sql, names):
    assert {name_table(table) for table in find_tables_read(parse_one(sql))} == names


def test_a_name_out_of_scope_is_no_table():
    sql = "SELECT * FROM (WITH w AS (SELECT 1 AS one) SELECT * FROM w) AS v, w"
    with pytest.raises(ParameterError, match="no table 'w'"):
        check_query(parse_one(sql), ["t"])


def test_brackets_around_a_query_hide_nothing():
    check_query(parse_one("(SELECT 1 AS one)"), [])
    for sql in ("WITH g AS (DELETE FROM t RETURNING a) (SELECT a FROM g)", "((SELECT a INTO b FROM t))"):
        with pytest.raises(UnsupportedError, match="only read"):
            check_query(parse_one(sql, dialect="postgres"), ["t"])
    with_before = parse_one("WITH w AS (SELECT 1 AS one) (SELECT one FROM w)")
    check_query(with_before, [])
    with pytest.raises(UnsupportedError, match="CREATE"):
        check_query(parse_one("CREATE VIEW v AS (SELECT 1 AS one)"), [])


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("COUNT(label)", "COUNT(*)"),  # NULL counts like any other value
        ("SUM(id)", "SUM(CAST(id AS DOUBLE))"),  # integers by way of doubles
        ("'DOUBLE'", "'FLOAT'"),
    ],
)
def test_the_suite_notices_an_engine_that_answers_wrongly(monkeypatch, wrong, right):
    """Controls: an engine that rewrites a part of the query must fail."""
    aggregate = DuckDBSnapshot.aggregate

    def rewritten(self, expression):
        sql = expression.sql().replace(wrong.strip("'"), right.strip("'"))
        return aggregate(self, parse_one(sql))

    monkeypatch.setattr(DuckDBSnapshot, "aggregate", rewritten)
    with pytest.raises(ProofError):
        check_backend(connect)
