"""ORDER BY sorts released rows by public keys and released numbers."""

from __future__ import annotations

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.sql.question import Order
from sordino.sql.reading.ordering import sort_rows

from .test_read import read

GROUPED = "SELECT region AS place, COUNT(*) AS n, AVG(age) FROM customers GROUP BY region"


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("region", (Order(0, None, False, False),)),
        ("customers.region DESC", (Order(0, None, True, False),)),
        ("place", (Order(0, None, False, False),)),
        ("1 NULLS FIRST", (Order(0, None, False, True),)),
        ("n DESC, place", (Order(None, 1, True, False), Order(0, None, False, False))),
        ("COUNT(*)", (Order(None, 1, False, False),)),
        ("avg(age) DESC", (Order(None, 2, True, False),)),
        ("3", (Order(None, 2, False, False),)),
    ],
)
def test_keys_names_places_and_aggregates_of_the_answer_can_be_sorted_by(clause, expected):
    assert read(f"{GROUPED} ORDER BY {clause}").order == expected


def test_order_is_no_part_of_the_questions():
    plain, sorted_ = read(GROUPED), read(f"{GROUPED} ORDER BY n DESC")
    assert plain.groups() == sorted_.groups()
    assert plain.question(("EU",), 0) == sorted_.question(("EU",), 0)


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("age", "age is refused: ORDER BY takes group keys and columns of the answer"),
        ("SUM(age)", r"column 89: SUM\(age\) is refused"),
        ("n + 1", r"column 89: n \+ 1 is refused"),
        ("4", "the SELECT has 3 columns"),
        ("0", "the SELECT has 3 columns"),
        ("nobody", "there is no column 'nobody' here"),
    ],
)
def test_what_is_not_in_the_answer_cannot_be_sorted_by(clause, message):
    with pytest.raises((UnsupportedError, ParameterError), match=message):
        read(f"{GROUPED} ORDER BY {clause}")


def test_rows_are_sorted_by_released_numbers_and_ties_stay_in_the_order_of_the_policy():
    statement = read(f"{GROUPED} ORDER BY n DESC")
    rows = [
        (("EU",), {"n": 3, "avg": 1.0}),
        (("US",), {"n": 7, "avg": None}),
        ((None,), {"n": 3, "avg": 2.0}),
    ]
    assert [row["n"] for row in sort_rows(statement, rows)] == [7, 3, 3]
    assert [row["avg"] for row in sort_rows(statement, rows)] == [None, 1.0, 2.0]
    by_mean = read(f"{GROUPED} ORDER BY 3 DESC, region")
    assert [row["avg"] for row in sort_rows(by_mean, rows)] == [2.0, 1.0, None]


def test_null_stands_where_the_text_says():
    rows = [((value,), {"n": place}) for place, value in enumerate(["b", None, "a", "B"])]
    expected = {"region": [3, 2, 0, 1], "region DESC": [0, 2, 3, 1], "region NULLS FIRST": [1, 3, 2, 0],
                "region DESC NULLS LAST": [0, 2, 3, 1]}  # fmt: skip
    for clause, places in expected.items():
        found = sort_rows(read(f"{GROUPED} ORDER BY {clause}"), rows)
        assert [row["n"] for row in found] == places, clause
