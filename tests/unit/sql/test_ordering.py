"""HAVING, ORDER BY and LIMIT: which released rows are shown, by public keys and released numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.sql.aggregates import Part
from sordino.sql.reading.ordering import arrange_rows, list_notes
from sordino.sql.released import ReleasedRow

from .test_read import read

GROUPED = "SELECT region AS place, COUNT(*) AS n, AVG(age) FROM customers GROUP BY region"
# (group, released COUNT(*), SUM(age), COUNT(age))
ROWS = [(("EU",), 3, 30, 3), (("US",), 7, 0, 0), ((None,), 3, 60, 3)]


def shown(clause, rows=ROWS, select=GROUPED):
    statement = read(f"{select} {clause}")
    released = []
    for group, *numbers in rows:
        found = [Part(m, Fraction(number)) for m, number in zip(statement.measures, numbers, strict=False)]
        released.append(ReleasedRow(group, found))
    return [row.group[0] for row in arrange_rows(statement, released)]


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("ORDER BY n DESC", ["US", "EU", None]),
        ("ORDER BY n, region DESC", ["EU", None, "US"]),
        ("ORDER BY place", ["EU", "US", None]),
        ("ORDER BY customers.region DESC", ["US", "EU", None]),
        ("ORDER BY 1 NULLS FIRST", [None, "EU", "US"]),
        ("ORDER BY COUNT(*) DESC, 1 NULLS FIRST", ["US", None, "EU"]),
        ("ORDER BY 3 DESC, region", [None, "EU", "US"]),  # the average of no rows is NULL
        ("ORDER BY avg(age) NULLS FIRST", ["US", "EU", None]),
        ("ORDER BY -n, AVG(age) DESC", ["US", None, "EU"]),
        ("ORDER BY n * COALESCE(AVG(age), 0)", ["US", "EU", None]),
        ("ORDER BY CASE WHEN place IS NULL THEN 0 ELSE n END", [None, "EU", "US"]),
        ("HAVING COUNT(*) > 3", ["US"]),
        ("HAVING n BETWEEN 1 AND 3 ORDER BY AVG(age) DESC", [None, "EU"]),
        ("HAVING region = 'EU' OR n > 5", ["EU", "US"]),
        ("HAVING region <> 'EU'", ["US"]),  # NULL <> 'EU' is NULL, which is not true
        ("HAVING place IS NULL", [None]),
        ("HAVING region IN ('US', 'EU')", ["EU", "US"]),
        ("HAVING AVG(age) IS NOT NULL", ["EU", None]),
        ("HAVING NOT (n = 3)", ["US"]),
        ("HAVING n / 0 > 1", []),
        ("LIMIT 2", ["EU", "US"]),
        ("LIMIT 0", []),
        ("ORDER BY n DESC LIMIT 1", ["US"]),
        ("ORDER BY n DESC LIMIT 1 OFFSET 1", ["EU"]),
        ("OFFSET 2", [None]),
        ("LIMIT 9 OFFSET 5", []),
        ("ORDER BY n DESC FETCH FIRST 2 ROWS ONLY", ["US", "EU"]),
        ("HAVING n < 5 ORDER BY 1 LIMIT 1", ["EU"]),
    ],
)
def test_rows_are_kept_sorted_and_cut_by_what_was_released(clause, expected):
    assert shown(clause) == expected


def test_text_is_sorted_by_code_points_and_null_stands_where_the_text_says():
    rows = [((value,), 1, 1, 1) for value in ("b", None, "a", "B")]
    expected = {"region": ["B", "a", "b", None], "region DESC": ["b", "a", "B", None],
                "region NULLS FIRST": [None, "B", "a", "b"],
                "region DESC NULLS LAST": ["b", "a", "B", None]}  # fmt: skip
    for clause, order in expected.items():
        assert shown(f"ORDER BY {clause}", rows) == order, clause


def test_what_is_shown_is_no_part_of_the_questions():
    plain, cut = read(GROUPED), read(f"{GROUPED} HAVING n > 2 ORDER BY n DESC LIMIT 1")
    assert plain.groups() == cut.groups()
    assert plain.measures == cut.measures
    assert plain.question(("EU",), 0) == cut.question(("EU",), 0)


def test_aggregates_of_having_and_order_by_are_measured_too():
    assert len(read("SELECT region FROM customers GROUP BY region HAVING COUNT(*) > 2").measures) == 1
    grouped = "SELECT region, COUNT(*) FROM customers GROUP BY region"
    assert len(read(f"{grouped} ORDER BY SUM(age)").measures) == 2
    assert len(read(f"{grouped} HAVING COUNT(*) > 2 ORDER BY COUNT(*)").measures) == 1


def test_a_cut_in_no_stated_order_is_said():
    assert list_notes(read(f"{GROUPED} LIMIT 1")) == (
        "LIMIT without ORDER BY cuts released rows in the policy's order of groups",
    )
    assert list_notes(read(f"{GROUPED} ORDER BY 1 LIMIT 1")) == list_notes(read(GROUPED)) == ()


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("ORDER BY age", "age is refused: a column outside an aggregate must be in GROUP BY"),
        ("ORDER BY 4", "the SELECT has 3 columns"),
        ("ORDER BY 0", "the SELECT has 3 columns"),
        ("ORDER BY nobody", "there is no column 'nobody' here"),
        ("ORDER BY customers.n", "there is no column 'n' here"),
        ("HAVING age > 3", "age is refused: a column outside an aggregate must be in GROUP BY"),
        ("HAVING n", "a condition is needed here, this is of type number"),
        ("HAVING region < 'B'", "have no order here"),
        ("HAVING region = 3", "types number and text do not fit together"),
        ("HAVING n > 'a'", "types number and text do not fit together"),
        ("HAVING UPPER(region) = 'EU'", "is refused: ask COUNT"),
        ("LIMIT n", "LIMIT n is refused: write LIMIT and a whole number"),
        ("LIMIT 1.5", "write LIMIT and a whole number"),
        ("LIMIT 10%", "write LIMIT and a whole number"),
        ("LIMIT ALL", "write LIMIT and a whole number"),
        ("OFFSET n", "write OFFSET and a whole number"),
        ("FETCH FIRST 10 PERCENT ROWS ONLY", "write LIMIT and a whole number"),
        ("LIMIT", "after 'LIMIT' a whole number is expected"),
        ("HAVING", "after 'HAVING' a condition"),
    ],
)
def test_what_is_not_of_the_answer_is_refused(clause, message):
    with pytest.raises((UnsupportedError, ParameterError), match=message):
        read(f"{GROUPED} {clause}")


def test_a_name_that_two_columns_have_is_not_guessed():
    with pytest.raises(ParameterError, match="two columns of the answer have this name"):
        read("SELECT COUNT(*) AS n, SUM(age) AS n FROM customers HAVING n > 2")
