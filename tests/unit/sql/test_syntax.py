"""Text that cannot be read: where, and what is expected there, in one sentence."""

from __future__ import annotations

import logging

import pytest
from sqlglot import Dialect, parse_one
from sqlglot.errors import TokenError
from sqlglot.parser import Parser

from sordino.core import ParameterError, UnsupportedError
from sordino.sql.reading import syntax
from sordino.sql.reading.syntax import parse_statement

from .outcomes import check_refusal, outcome

START = "SELECT COUNT(*) FROM t "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT COUNT(*) FROM", "line 1, column 17: after 'FROM' a table is expected, and the query ends"),
        ("SELECT FROM t", r"column 1: after 'SELECT' COUNT\(\*\), .* is expected, not 'FROM'"),
        ("SELECT COUNT(*) FROM select", "column 22: after 'FROM' a table is expected: .* quote a table"),
        (START + "WHERE", "line 1, column 24: after 'WHERE' a condition such as x = 1 is expected"),
        (START + "\nWHERE x =", "line 2, column 9: after '=' a value is expected"),
        (START + "WHERE x = 1 AND", "column 36: after 'AND' a condition"),
        (START + "JOIN u ON", "column 31: after 'ON' a condition such as a.id = b.id is expected"),
        (START + "JOIN u ON WHERE x = 1", "column 31: after 'ON' a condition .* not 'WHERE'"),
        (START + "GROUP  BY", "column 24: after 'GROUP BY' a column is expected"),
        (START + "WHERE x BETWEEN 1", "column 40: .* at '1': expected is x BETWEEN low AND high"),
        (START + "WHERE x = 1 1", "column 36: the query cannot be read at '1': a question is SELECT"),
        (START + "WHERE CAST(x AS)", r"column 39: the query cannot be read at '\)': expected is TYPE after CAST"),
        ("SELECT COUNT(* FROM t", r"column 13: this \( is never closed"),
        ("SELECT COUNT(*)) FROM t", r"column 16: this \) closes a bracket that is not open"),
        (START + "WHERE x = (", r"column 34: this \( is never closed"),
        ("SELEC COUNT(*) FROM t", "column 1: a question begins with SELECT, not with 'SELEC': did you mean 'SELECT'"),
        ("SELECT COUNT(*) FORM t", "column 17: the query cannot be read at 'FORM': did you mean 'FROM'"),
        (START + "WERE x = 1", "column 24: the query cannot be read at 'WERE': did you mean 'WHERE'"),
        (START + "WHERE x = 1 GRUOP BY x", "column 36: the query cannot be read at 'GRUOP': did you mean 'GROUP'"),
        ("SELECT COUNT(*) FROM orders o p", "column 31: the query cannot be read at 'p': a question"),
        (START + "WHERE s = 'A", "line 1, column 34: the quote that ' opens is never closed"),
        (START + "WHERE s = 'it''s' OR\n s = 'A''", "line 2, column 6: the quote that ' opens is never closed"),
        (START + "WHERE \"s = 'A'", 'column 30: the quote that " opens is never closed'),
        (START + "/* 'x'", r"column 24: the comment that /\* opens is never closed"),
        # What the parser would forgive, and answer as another question.
        (START + "JOIN u WHERE x = 1", "column 24: this JOIN has no condition: write JOIN ... ON or USING"),
        (START + "INNER JOIN u, v", "column 30: this JOIN has no condition"),
        (START + "JOIN u JOIN v ON t.a = u.a", "column 24: this JOIN has no condition"),
        ("SELECT COUNT(*) FROM (SELECT 1 FROM t JOIN u) x", "column 39: this JOIN has no condition"),
        (START + "WHERE x IN (, 2, 3)", r"column 35: after '\(' an item of the list is expected, not ','"),
        (START + "WHERE x IN (1, , 3)", "column 37: after ',' an item of the list is expected, not ','"),
        (START + "WHERE SUBSTRING(s, 1, 3 LIKE 'p%'", r"column 39: this \( is never closed"),
        (START + "WHERE CASE WHEN x > 1 y END = 1", "column 35: this WHEN has no THEN: write CASE WHEN"),
        (START + "WHERE CASE + WHEN x > 1 THEN y END = 1", "column 35: after '\\+' a value is expected, not 'WHEN'"),
        (" ; ", "the query is empty"),
        ("-- nothing", "the query is empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_sentence_with_its_place(text, message):
    with pytest.raises(ParameterError, match=message) as caught:
        parse_statement(text, "duckdb")
    for jargon in ("Required keyword", "Invalid expression", "Unexpected token", "<class"):
        assert jargon not in str(caught.value)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EXPLAIN SELECT COUNT(*) FROM t", "line 1, column 1: EXPLAIN is refused"),
        ("  show tables", "line 1, column 3: show is refused"),
        ("CREATE TABLE x (a int)", "CREATE is refused"),
        ("VALUES (1)", "VALUES is refused"),
        ("SELECT COUNT(*) FROM t;\nEXPLAIN SELECT 1", "line 2, column 1: several statements"),
        ("hello", "hello is refused: questions only read: ask one SELECT"),
    ],
)
def test_what_is_no_select_is_named_as_it_was_written(text, message, dialect):
    with pytest.raises(UnsupportedError, match=message):
        parse_statement(text, dialect)


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN SELECT COUNT(*) FROM orders WHERE region = 'secret'",
        "SELECT COUNT(*) FROM orders; ALTER TABLE orders ADD COLUMN x",
        "WITH x AS (EXPLAIN SELECT 'secret') SELECT COUNT(*) FROM x",
        "WITH x AS (ALTER TABLE orders RENAME secret) SELECT COUNT(*) FROM x",
        "SELECT COUNT(*) FROM orders AS o (SET secret)",
    ],
)
def test_the_parser_warns_of_nothing(text, caplog, capfd):
    from .test_read import read

    with caplog.at_level(logging.DEBUG), pytest.raises((ParameterError, UnsupportedError)):
        read(text)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_the_parser_still_warns_others(caplog):
    """Control: the silence above is ours."""
    parse_one("EXPLAIN SELECT 1", dialect="duckdb")
    assert "unsupported syntax" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        START + "WHERE t.on = 1 AND t.from > 2 AND NOT -x < 3;",
        START + "WHERE t.join = 1 AND t.when = 2",
        START + "JOIN u JOIN v ON u.a = v.a ON t.a = u.a CROSS JOIN w, x JOIN y USING (a)",
        "SELECT COUNT(*) FROM (t JOIN u ON t.a = u.a) WHERE CASE WHEN x THEN CASE y WHEN 1 THEN 2 END END = 2",
        START + "WHERE x IS DISTINCT FROM y AND EXTRACT(YEAR FROM d) = 1",
        START + 'WHERE "where" = 1 GROUP BY "from"',
        START + "WHERE CAST(x AS STRUCT<a: INT>) IS NULL",
        "; ((SELECT COUNT(*) FROM t WHERE s = 'WHERE'));",
        "WITH u AS (SELECT * FROM t) SELECT COUNT(*) FROM u -- WHERE",
        "FROM t SELECT COUNT(*)",
    ],
)
def test_words_that_are_in_their_place_are_read(text):
    assert parse_statement(text, "duckdb").find_all is not None


# --- what no text may do

POSTS = "SELECT COUNT(*) FROM posts WHERE "


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize(
    "text",
    [
        POSTS + "@",
        POSTS + "@ AND score = 1",
        POSTS + "score = @",
        POSTS + "NOT @",
        POSTS + "(@)",
        POSTS + "ABS(@) = 1",
        "SELECT COUNT(@) FROM posts",
        "SELECT SUM(@) FROM posts",
        "SELECT @ FROM posts",
        "SELECT COUNT(*) FROM @",
        "SELECT COUNT(*) FROM posts JOIN users ON @",
        "SELECT COUNT(*) FROM posts GROUP BY @",
        "SELECT COUNT(*) FROM posts ORDER BY @",
        "WITH x AS (SELECT @ FROM posts) SELECT COUNT(*) FROM x",
        "SELECT COUNT(*) FROM posts LIMIT @",
        POSTS + "score BETWEEN @ AND @",
        POSTS + "score IN (@)",
        POSTS + "CASE @ WHEN @ THEN @ END",
        POSTS + "posts.(score) JOIN users",
        POSTS + "(posts.)",
    ],
)
def test_a_hole_in_the_tree_is_refused_with_its_place(text, dialect):
    assert outcome(text, dialect) in ("wrong", "refused")


@pytest.mark.parametrize(
    "raised",
    [AttributeError, KeyError, IndexError, TypeError, ValueError, AssertionError, TokenError, RecursionError],
)  # fmt: skip
@pytest.mark.parametrize("broken", ["parse", "tokenize"])
def test_whatever_the_parser_raises_becomes_a_refusal_with_a_place(monkeypatch, raised, broken):
    def fail(*given, **more):
        raise raised("odd words of the parser")

    if broken == "parse":
        monkeypatch.setattr(Parser, "_parse_where", fail)
    else:
        monkeypatch.setattr(Dialect, "tokenize", fail)
    with pytest.raises((ParameterError, UnsupportedError)) as caught:
        parse_statement("SELECT COUNT(*)\nFROM posts WHERE closed", "duckdb")
    check_refusal("", caught.value)
    assert "odd words" not in str(caught.value)
    # A stack that overflows says nothing of where, so the deepest brackets are named: those of COUNT.
    second = broken == "parse" and raised is not RecursionError
    assert str(caught.value).startswith("line 2" if second else "line 1")


# The first three double the parser's time at every step, so that without a bound none of this ever ends.
@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM posts " + "LEFT JOIN posts " * 60,
        "SELECT COUNT(*) FROM posts " + "LEFT JOIN posts " * 1000,
        POSTS + "STRUCT ( " * 60 + ")" * 60,
        POSTS + "[1]" * 6600,
        POSTS + "(" * 19_000,
        POSTS + "$a " * 6000,
        POSTS + "' \" ` " * 3000 + "'",
        POSTS + "NOT " * 4900 + "closed",
        POSTS + "score" + "::INT" * 3900 + " = 1",
        POSTS + "title" + " -> 'a'" * 2500 + " = 1",
        f"SELECT COUNT(*) FROM (SELECT score AS {'ab' * 4500} FROM posts) x WHERE {'ba' * 4500} = 1",
        f"SELECT COUNT(*) FROM {'ab' * 9500}",
        f"SELECT {', '.join(f'SUM(score + {n})' for n in range(1000))}, MAX(id) FROM posts",
        "SELECT COUNT(*) FROM posts " + "x" * 90_000,
    ],
    ids=range(14),
)  # fmt: skip
def test_no_text_is_read_for_long(text, dialect):
    """A second or so; three, as other work may run beside the test."""
    assert outcome(text, dialect, seconds=3) in ("wrong", "refused")


def test_the_parser_alone_would_take_for_ever():
    """Control: the bound is what ends the first of the texts above."""
    steps = []
    for joins in (6, 8, 10):
        text = "SELECT COUNT(*) FROM posts " + "LEFT JOIN posts " * joins
        parser = syntax._bounded(Dialect.get_or_raise("duckdb").parser_class)(dialect="duckdb")
        parser.steps_left = 10**6
        parser.parse(Dialect.get_or_raise("duckdb").tokenize(text), text)
        steps.append(10**6 - parser.steps_left)
    assert steps[1] > 3 * steps[0]
    assert steps[2] > 3 * steps[1]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_sensible_joins_are_far_from_the_bound(dialect):
    joins = " ".join(f"JOIN posts p{n} ON p{n}.id = posts.id" for n in range(15))
    assert outcome(f"SELECT COUNT(*) FROM posts {joins}", dialect) == "accepted"
    crossed = " ".join(f"CROSS JOIN posts p{n}" for n in range(15))
    assert outcome(f"SELECT COUNT(*) FROM posts {crossed}", dialect) == "accepted"
    assert outcome(POSTS + "((" * 10 + "closed" + "))" * 10, dialect) == "accepted"
    assert outcome(POSTS + f"score IN ({', '.join(map(str, range(2000)))})", dialect) == "accepted"
