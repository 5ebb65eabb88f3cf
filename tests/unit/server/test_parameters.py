"""Values in a statement: whatever they hold, the reader of the statement sees one literal for each."""

from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from sordino.server.postgres.frames import FrameError
from sordino.server.postgres.parameters import count_parameters, fill_parameters, write_parameter
from sordino.server.postgres.sqlstate import StateError

DIALECTS = ("duckdb", "postgres", "spark")
NASTY = (
    "it's'; DROP TABLE t; --",
    "\\' OR 1=1 --",
    "\\",
    "\\\\'",
    "*/ x /*",
    "$1",
    "a\nb",
    "\u2019",
    "%s",
    "{}",
)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("value", NASTY)
def test_texts_cannot_leave_their_quotes(value, dialect):
    filled = fill_parameters(
        "SELECT a FROM t WHERE b = $1 AND c = 2", [write_parameter(value, dialect)], dialect
    )
    where = parse_one(filled.sql, read=dialect).find(exp.Where).this
    assert isinstance(where, exp.And)
    assert where.left.expression == exp.Literal.string(value)
    assert where.right.sql() == "c = 2"


@given(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",))), st.sampled_from(DIALECTS)
)
def test_any_text_comes_back_as_it_was(value, dialect):
    read = parse_one(f"SELECT {write_parameter(value, dialect)}", read=dialect).expressions[0]
    assert read == exp.Literal.string(value)


def test_backslashes_would_leave_their_quotes_in_spark_without_its_escapes():
    """The control: doubling quotes alone is what let a value in."""
    read = parse_one("SELECT a FROM t WHERE b = '\\'' OR 1=1 --'", read="spark")
    assert isinstance(read.find(exp.Where).this, exp.Or)


def test_negative_numbers_make_no_comment():
    for value in (-5, -5.0, Decimal(-5)):
        filled = fill_parameters("SELECT 5 -$1, b FROM t", [write_parameter(value, "duckdb")], "duckdb")
        assert len(parse_one(filled.sql, read="duckdb").expressions) == 2


def test_parameters_are_filled_outside_of_quotes_names_and_comments():
    sql = "SELECT '$1', \"$2\", x$1 /* $3 /* */ $3 */ FROM t -- $4\nWHERE a = $2 AND b = $1"
    for dialect in ("duckdb", "postgres"):
        assert count_parameters(sql, dialect) == 2
        filled = fill_parameters(sql, ["10", "'x'"], dialect)
        assert filled.sql.startswith("SELECT '$1', \"$2\", x$1 /* $3 /* */ $3 */ FROM t -- $4\n")
        assert filled.sql.endswith("WHERE a =  'x'  AND b =  10 ")
    with pytest.raises(FrameError, match=r"no value for \$2"):
        fill_parameters(sql, ["1"], "duckdb")


def test_places_lead_back_to_what_was_sent():
    sql = "SELECT $1, b, $2 FROM t"
    filled = fill_parameters(sql, ["'a long text'", "1"], "duckdb")
    for word in ("SELECT", ", b", "FROM t"):
        assert filled.origin(filled.sql.index(word)) == sql.index(word)
    assert filled.origin(filled.sql.index("long")) == sql.index("$1")
    assert filled.origin(filled.sql.index("1")) == sql.index("$2")


def test_a_value_that_is_used_often_does_not_fill_the_memory():
    with pytest.raises(StateError, match="too long"):
        fill_parameters("SELECT " + ", ".join(["$1"] * 4000), ["'" + "x" * 1_000_000 + "'"], "duckdb")


def test_other_literals():
    assert write_parameter(None, "duckdb") == "NULL"
    assert write_parameter(True, "duckdb") == "TRUE"
    assert write_parameter(date(2024, 1, 2), "duckdb") == "DATE '2024-01-02'"
    assert write_parameter(datetime(2024, 1, 2, 3), "duckdb") == "TIMESTAMP '2024-01-02 03:00:00'"
    assert write_parameter(10**400, "duckdb") == str(10**400)
    for bad in (float("nan"), float("-inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), "a\0b"):
        with pytest.raises(FrameError):
            write_parameter(bad, "duckdb")
