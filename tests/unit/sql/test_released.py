"""Arithmetic between aggregates: calculated from released numbers by exact rules, with radii that hold."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.sql.aggregates import Part
from sordino.sql.reading.released import MOST_PARTS
from sordino.sql.released import ReleasedRow

from .test_read import read

ASKED = "COUNT(*), SUM(items), COUNT(items), SUM(amount)"  # measures of these come in this order


@cache
def read_asked(expression):
    return read(f"SELECT {ASKED}, {expression} AS x FROM orders")


def evaluate(expression, numbers=(10, 25, 8, Fraction(1, 4)), radii=(None,) * 4):
    statement = read_asked(expression)
    assert len(statement.measures) == 4
    parts = [Part(*part) for part in zip(statement.measures, map(Fraction, numbers), radii, strict=True)]
    return statement.outputs[-1].expression.evaluate(ReleasedRow((), parts))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("SUM(items) / COUNT(*)", Fraction(5, 2)),
        ("COUNT(*) / COUNT(items)", Fraction(5, 4)),  # no remainder is dropped
        ("100.0 * COUNT(items) / COUNT(*)", Fraction(80)),
        ("COUNT(*) + SUM(items) - 3", 32),
        ("-COUNT(*)", -10),
        ("ABS(3 - COUNT(*))", 7),
        ("SUM(amount)", Fraction(1, 4)),
        ("ROUND(SUM(items) / COUNT(items), 2)", Fraction(313, 100)),  # 3.125: halves away from zero
        ("ROUND(-SUM(items) / COUNT(items), 2)", Fraction(-313, 100)),
        ("ROUND(SUM(items) / 10.0)", 3),
        ("ROUND(SUM(items) * 5, -1)", 130),
        ("FLOOR(-SUM(amount))", -1),
        ("CEIL(SUM(amount))", 1),
        ("COUNT(*) / (COUNT(*) - 10)", None),
        ("COUNT(*) / NULLIF(COUNT(items), 8)", None),
        ("NULLIF(COUNT(*), 8)", 10),
        ("COALESCE(COUNT(*) / 0, SUM(items))", 25),
        ("COALESCE(NULL, COUNT(*))", 10),
        ("NULL + COUNT(*)", None),
        ("GREATEST(COUNT(*), NULL, SUM(items))", 25),
        ("LEAST(COUNT(*), SUM(items))", 10),
        ("CASE WHEN COUNT(*) > 9 THEN 'many' WHEN COUNT(*) > 1 THEN 'some' ELSE 'few' END", "many"),
        ("CASE COUNT(*) WHEN 9 THEN 1 WHEN 10 THEN 2 END", 2),
        ("CASE WHEN COUNT(*) / 0 > 1 THEN 1 END", None),
        ("IF(COUNT(*) = 10, SUM(items), 0)", 25),
        ("COUNT(*) > 5 AND SUM(items) < 30", True),
        ("COUNT(*) / 0 > 1 OR COUNT(*) = 10", True),
        ("COUNT(*) / 0 > 1 AND COUNT(*) = 9", False),
        ("NOT COUNT(*) / 0 > 1", None),
        ("(COUNT(*) / 0) IS NULL", True),
        ("(COUNT(*) > 2) IS NOT TRUE", False),
        ("COUNT(*) IN (9, 10)", True),
        ("COUNT(*) NOT IN (9, 10)", False),
        ("COUNT(*) IN (9, NULL)", None),
        ("COUNT(*) NOT BETWEEN 1 AND 9", True),
        ("CAST(COUNT(*) AS DOUBLE)", 10),
    ],
)
def test_released_numbers_are_calculated_with_exactly(expression, expected):
    found = evaluate(expression).value
    assert found == expected
    assert isinstance(found, bool) == isinstance(expected, bool)


def test_whole_numbers_stay_whole_and_quotients_do_not():
    assert isinstance(evaluate("COUNT(*) * 2 + SUM(items)").value, int)
    assert isinstance(evaluate("ROUND(SUM(items) / COUNT(*))").value, int)
    assert isinstance(evaluate("COUNT(*) / 5").value, Fraction)


NUMBERS = ("SUM(items) / COUNT(*)", "ROUND(100.0 * COUNT(items) / COUNT(*), 1)", "ABS(SUM(items) - 3 * COUNT(*))",
           "FLOOR(SUM(amount) * COUNT(items))", "-CEIL(SUM(items) / 7)", "GREATEST(COUNT(*), COUNT(items), 12)",
           "LEAST(COUNT(*), SUM(items) / COUNT(items))", "COALESCE(SUM(items) / COUNT(items), 0)",
           "CASE WHEN COUNT(*) > 9 THEN SUM(items) ELSE COUNT(items) END",
           "CASE WHEN SUM(items) BETWEEN 20 AND 30 THEN 1 WHEN NOT COUNT(*) = 4 THEN 2 ELSE COUNT(*) END",
           "NULLIF(COUNT(*), COUNT(items)) * SUM(amount)", "IF(COUNT(items) IN (7, 8), 1, -1)",
           "AVG(items) + COUNT(*)", "COALESCE(AVG(items), -5)")  # fmt: skip


@pytest.mark.parametrize("expression", NUMBERS)
def test_no_exact_value_is_further_than_the_radius(expression):
    """All parts within their radii of the released ones; the exact value by the same rules without any radius."""
    draw, looked, tight = random.Random(5), 0, 0
    for _ in range(150):
        released = [draw.randint(0, 30) for _ in range(3)] + [Fraction(draw.randint(-20, 20), 4)]
        radii = [Fraction(draw.randint(0, 6)) for _ in range(4)]
        found = evaluate(expression, released, radii)
        radius = found.radius()
        if radius is None:
            continue
        for _ in range(10):
            exact = [n + r * draw.randint(-4, 4) / 4 for n, r in zip(released, radii, strict=True)]
            exact = [Fraction(round(n)) for n in exact[:3]] + exact[3:]
            value = evaluate(expression, exact).value
            if value is not None and found.value is not None:
                looked += 1
                assert abs(value - found.value) <= radius
                tight += radius > 0 and abs(value - found.value) * 3 >= radius
    assert looked > 100  # radii are known most of the time
    assert tight > 0  # and are not far too long


def test_a_condition_that_no_noise_can_turn_leaves_one_branch():
    sure = evaluate("CASE WHEN COUNT(*) > 2 THEN 7 ELSE SUM(items) END", radii=[Fraction(3)] * 4)
    open_ = evaluate("CASE WHEN COUNT(*) > 9 THEN 7 ELSE SUM(items) END", radii=[Fraction(3)] * 4)
    assert sure.radius() == 0
    assert open_.radius() == 28 - 7


def test_without_a_radius_of_a_part_there_is_none():
    assert evaluate("COUNT(*) + SUM(items)", radii=[Fraction(1), None, None, None]).radius() is None
    assert evaluate("COUNT(*) / SUM(items)", radii=[Fraction(1), Fraction(30), None, None]).radius() is None


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("items + COUNT(*)", "items is refused: a column outside an aggregate must be in GROUP BY"),
        ("COUNT(*) + 'a'", "a number is needed here, this is of type text"),
        ("COUNT(*) AND TRUE", "a condition is needed here, this is of type number"),
        ("CASE WHEN COUNT(*) THEN 1 END", "a condition is needed here"),
        ("CASE WHEN COUNT(*) > 1 THEN 1 ELSE 'a' END", "types number and text do not fit together"),
        ("ROUND(COUNT(*), COUNT(*))", "is refused|takes a literal n"),
        ("ROUND(COUNT(*), 99)", "takes a literal n"),
        ("CAST(COUNT(*) AS INTEGER)", "write ROUND, FLOOR or CEIL"),
        ("CAST(COUNT(*) AS TEXT)", "can be cast to DOUBLE"),
        ("COUNT(*) % 3", "between aggregates"),
        ("SQRT(COUNT(*))", "between aggregates"),
        ("COUNT(*) IN (SELECT 1)", "IN takes a list of literals"),
        ("SUM(items) OVER ()", "windows are not answered"),
        ("COUNT(*) + QUANTILE(items, [0.5])", "type list"),
    ],
)
def test_what_is_not_understood_between_aggregates_is_refused(expression, message):
    with pytest.raises((UnsupportedError, ParameterError), match=message):
        read(f"SELECT {expression} FROM orders")


def test_long_and_deep_expressions_are_refused_before_anything_is_paid():
    with pytest.raises(UnsupportedError, match="nested"):
        read(f"SELECT {'+'.join(['COUNT(*)'] * 300)} FROM orders")
    wide = ", ".join(["COUNT(*) + 1"] * (MOST_PARTS // 2))
    with pytest.raises(UnsupportedError, match="parts around its aggregates"):
        read(f"SELECT {wide} FROM orders")


def test_columns_are_named_by_their_alias_their_function_or_value():
    statement = read(
        "SELECT SUM(items) / COUNT(*), ROUND(AVG(items), 1), COUNT(*) AS n, AVG(items) FROM orders"
    )
    assert [output.name for output in statement.outputs] == ["value", "round", "n", "avg"]
