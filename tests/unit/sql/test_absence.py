"""What is NULL without a row: never said of an expression that an engine finds to be something."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from sordino.sql.expressions.absence import is_null_without, is_untrue_without

NULL = ["p.x", "p.x + l.y", "-(p.x)", "CAST(p.x AS DOUBLE)", "CASE WHEN p.x > 1 THEN 1 END", "COALESCE(p.x, p.z)",
        "CASE WHEN l.y > 1 THEN p.x ELSE p.z END", "ABS(p.x)", "NULLIF(p.x, 1)", "p.x > 1 AND p.z > 2", "p.s || 'a'",
        "CASE WHEN p.x IS NULL THEN p.z ELSE 1 * p.x END", "LOWER(p.s)", "p.x IN (1, 2)",
        "EXTRACT(YEAR FROM p.d)"]  # fmt: skip
NOT_NULL = ["l.y", "COALESCE(p.x, 1)", "CASE WHEN p.x > 1 THEN 1 ELSE 0 END", "CASE WHEN p.x IS NULL THEN 1 END",
            "p.x > 1 OR l.y > 0", "p.x IS NULL", "GREATEST(p.x, 1)", "1",
            "CASE WHEN NOT (p.x IS NULL) THEN 1 ELSE 2 END"]  # fmt: skip
UNTRUE = ["p.x = 1", "NOT (p.x = 1)", "p.x IS NOT NULL", "NOT (p.x IS NULL)", "p.x = 1 AND l.y = 5",
          "(p.x > 1) IS TRUE", "(p.x > 1) IS FALSE", "p.x = 1 OR p.z = 2", "p.s LIKE 'a%'", "FALSE",
          "NOT (p.s LIKE 'a')"]  # fmt: skip
TRUE = ["p.x IS NULL", "l.y = 5 OR p.x = 1", "NOT (p.x IS NOT NULL)", "COALESCE(p.x, 1) = 1", "TRUE",
        "NOT ((p.x > 1) IS TRUE)", "CASE WHEN p.x IS NULL THEN TRUE END"]  # fmt: skip
ROW = "(SELECT 5 AS y) l LEFT JOIN (SELECT 1 AS x, 2 AS z, 'a' AS s, DATE '2024-01-01' AS d) p ON FALSE"


def evaluate(expression):
    return duckdb.sql(f"SELECT {expression} FROM {ROW}").fetchall()[0][0]


@pytest.mark.parametrize(
    ("expression", "null"), [*((e, True) for e in NULL), *((e, False) for e in NOT_NULL)]
)
def test_what_is_null_without_a_row(expression, null):
    assert is_null_without(sqlglot.parse_one(expression, dialect="duckdb"), {"p"}) == null
    assert (evaluate(expression) is None) == null


@pytest.mark.parametrize(("condition", "untrue"), [*((c, True) for c in UNTRUE), *((c, False) for c in TRUE)])
def test_what_does_not_hold_without_a_row(condition, untrue):
    assert is_untrue_without(sqlglot.parse_one(condition, dialect="duckdb"), {"p"}) == untrue
    assert (evaluate(condition) is not True) == untrue
