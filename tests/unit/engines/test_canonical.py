"""Tables are called by their full name and read through their canonical columns; the rest of a query stays."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from sordino.core import ParameterError, UnsupportedError
from sordino.engines.canonical import Reading, list_projection, read_through, refer_to_place
from sordino.engines.query import check_query, find_name, write

COLUMNS = list_projection(
    [("a", None), ("b", exp.Anonymous(this="F", expressions=[exp.column("b", quoted=True)]))]
)
READINGS = {
    "t": Reading(refer_to_place("db", "main", "t"), COLUMNS),
    "s.u": Reading(refer_to_place("db", "s", "u")),
    "V": Reading(refer_to_place("v")),
    "none": Reading(refer_to_place("n"), ()),
}
T = '(SELECT "a", F("b") AS "b" FROM "db"."main"."t")'


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM t", f"SELECT a FROM {T} AS t"),
        ('SELECT x.a FROM t AS "x"', f'SELECT x.a FROM {T} AS "x"'),
        ("SELECT k FROM s.u", 'SELECT k FROM "db"."s"."u" AS u'),
        ("SELECT a FROM T", f"SELECT a FROM {T} AS T"),
        ("SELECT 1 FROM v, V", 'SELECT 1 FROM "v" AS v, "v" AS V'),
        ("SELECT 1 FROM none", 'SELECT 1 FROM (SELECT 1 FROM "n") AS none'),
        (
            "WITH t AS (SELECT * FROM t) SELECT * FROM t",
            f"WITH t AS (SELECT * FROM {T} AS t) SELECT * FROM t",
        ),
        (
            "SELECT 1 FROM (t CROSS JOIN s.u)",
            f'SELECT 1 FROM ({T} AS t CROSS JOIN "db"."s"."u" AS u)',
        ),
        (
            "SELECT (SELECT MAX(b) FROM t) FROM s.u WHERE EXISTS (SELECT 1 FROM t)",
            f'SELECT (SELECT MAX(b) FROM {T} AS t) FROM "db"."s"."u" AS u WHERE EXISTS(SELECT 1 FROM {T} AS t)',
        ),
    ],
)
def test_tables_are_read_through_their_readings(sql, expected):
    query = parse_one(sql)
    assert write(read_through(query, READINGS), "duckdb") == expected
    assert query == parse_one(sql), "the query itself stays"


def test_a_name_is_the_same_or_the_only_one_that_differs_in_case():
    assert find_name("t", ["T", "t"]) == "t"
    assert find_name("T", ["t", "u"]) == "t"
    with pytest.raises(ParameterError, match="'TA' or 'Ta'"):
        find_name("ta", ["TA", "Ta"])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM t TABLESAMPLE BERNOULLI (50)",
        "SELECT 1 FROM ONLY t",
        "SELECT CAST(a AS mood) FROM t",
        "SELECT N'a' FROM t",
        "SELECT U&'a' FROM t",
        "SELECT x'61' FROM t",
        "SELECT $$a$$ FROM t",
    ],
)
def test_what_would_read_other_rows_or_mean_something_of_its_own_is_refused(sql):
    with pytest.raises(UnsupportedError, match="is refused"):
        check_query(parse_one(sql, dialect="postgres"), ["t"])


@pytest.mark.parametrize("node", [exp.Var(this="1; DROP TABLE t"), exp.Anonymous(this="f(1); --")])
def test_a_tree_cannot_smuggle_text(node):
    with pytest.raises(UnsupportedError, match="one plain word"):
        check_query(exp.select(node), [])


def test_odd_names_are_quoted_comments_and_zero_characters_are_not_sent():
    query = exp.select(exp.alias_(exp.Literal.number(1), exp.Identifier(this='a"; --', quoted=False)))
    query.add_comments(["*/ DROP TABLE t"])
    assert write(query, "duckdb") == 'SELECT 1 AS "a""; --"'
    with pytest.raises(UnsupportedError, match="zero character"):
        write(exp.select(exp.Literal.string("a\0b")), "duckdb")
