"""GROUP BY over expressions: their values are public by construction, and one row fixes what is computed from it."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from sordino.core import ParameterError, UnsupportedError

from .test_read import read


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("items > 3", [False, True, None]),
        ("items IS NULL", [False, True]),
        ("items IS NOT DISTINCT FROM 3", [False, True]),
        ("CASE WHEN items > 3 THEN 'many' WHEN items > 2 THEN 'few' ELSE 'many' END", ["many", "few"]),
        ("CASE WHEN items > 3 THEN 1 END", [1, None]),
        ("FLOOR(items / 8)", [0, 1, 2, None]),
        ("CEIL(items / 8)", [1, 2, 3, None]),
        ("FLOOR(items / 8) * 8", [0, 8, 16, None]),
        ("FLOOR(items / 8) * -8 + 4", [-12, -8, -4, 0, 4, None]),
        ("FLOOR(items / 8) * 0", [0, None]),
        ("paid", [False, True, None]),
        ("EXTRACT(QUARTER FROM day)", [1, 2, 3, 4, None]),
        ("EXTRACT(DOW FROM day)", [0, 1, 2, 3, 4, 5, 6, None]),
        ("CASE WHEN items > 18 THEN items ELSE 17 END", [*range(1, 21), None]),
        ("CAST(sent AS DATE)", [date(2023, 12, 31), date(2024, 1, 1), date(2024, 1, 2), None]),
        ("CAST(due AS DATE)", [*(date(2023, 12, 30) + timedelta(n) for n in range(34)), None]),
        ("CAST(paid AS BOOLEAN)", [False, True, None]),
        ("CAST(paid AS TEXT)", ["true", "false", None]),
        ("EXTRACT(YEAR FROM due)", [2023, 2024, None]),
        ("DATE_TRUNC('year', due)", [date(2023, 1, 1), date(2024, 1, 1), None]),
        ("DATE_TRUNC('quarter', due)", [date(2023, 10, 1), date(2024, 1, 1), None]),
        ("DATE_TRUNC('month', due)", [date(2023, 12, 1), date(2024, 1, 1), date(2024, 2, 1), None]),
        ("DATE_TRUNC('week', due)", [*(date(2023, 12, 25) + timedelta(7 * n) for n in range(6)), None]),
        ("DATE_TRUNC('day', sent)", [date(2023, 12, 31), date(2024, 1, 1), date(2024, 1, 2), None]),
        (
            "DATE_TRUNC('hour', sent)",
            [*(datetime(2023, 12, 31) + timedelta(hours=n) for n in range(72)), None],
        ),
        ("CAST(sent AS DATE) - DATE '2023-12-31'", [0, 1, 2, None]),
        ("DATE_TRUNC('year', ever)", [*(date(year, 1, 1) for year in range(1, 10_000)), None]),
    ],
)
def test_an_expression_says_what_its_groups_are(expression, values):
    for by in (expression, "1", "k"):
        statement = read(f"SELECT {expression} AS k, COUNT(*) FROM orders GROUP BY {by}")
        assert [group for (group,) in statement.groups()] == values
        assert statement.partitions
    assert read(f"SELECT COUNT(*) FROM orders GROUP BY {expression} ORDER BY {expression} DESC").order


def test_a_group_is_asked_for_by_its_value():
    statement = read("SELECT COUNT(*) FROM orders GROUP BY items > 3")
    conditions = [statement.question((value,), 0).conditions[0].sql() for value in (True, None)]
    assert conditions == ['("orders"."items" > 3) = TRUE', '("orders"."items" > 3) IS NULL']


@pytest.mark.parametrize(
    "source",
    [
        "orders o JOIN customers c ON o.customer = c.id",  # a row of customers meets rows of all groups
        "orders o JOIN orders p ON o.id = p.customer",  # and so does the other copy of a table
    ],
)
def test_groups_of_one_private_table_of_two_are_no_partition(source):
    assert not read(f"SELECT COUNT(*) FROM {source} GROUP BY o.items > 3").partitions
    assert not read(f"SELECT COUNT(*) FROM {source} GROUP BY CASE WHEN o.items > 3 THEN 1 END").partitions


def test_one_computed_key_of_two_that_is_not_fixed_is_no_partition():
    source = "orders o JOIN customers c ON o.customer = c.id"
    assert not read(f"SELECT COUNT(*) FROM {source} GROUP BY o.items > 3, c.age > 30").partitions
    assert read("SELECT COUNT(*) FROM orders GROUP BY items > 3, region").partitions


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("items + 0.5", "expressions that say what they can be"),
        ("LOWER(region)", "expressions that say what they can be"),
        ("FLOOR(amount * rate * items / amount)", "expressions that say what they can be"),
        ("EXTRACT(YEAR FROM day)", "expressions that say what they can be"),
        ("CASE WHEN items > 3 THEN region END", "expressions that say what they can be"),
        ("FLOOR(items * 10000)", "at most 10000 groups"),
        ("DATE_TRUNC('month', day)", "bounds in the policy"),
        ("DATE_TRUNC('month', ever)", "more than 10000 values between 0001-01-01 and 9999-12-31"),
        ("DATE_TRUNC('hour', due)", "a timestamp is needed"),
        ("DATE_TRUNC('decade', due)", "weeks begin on Monday"),
        ("at", "a column of type timestamp cannot be a group"),
        ("TRUE OR FALSE", "needs a column"),
        ("COUNT(*) > 3", "not inside one another"),
    ],
)
def test_what_has_no_public_values_is_refused(expression, message):
    with pytest.raises((UnsupportedError, ParameterError), match=message):
        read(f"SELECT COUNT(*) FROM orders GROUP BY {expression}")


def test_what_is_shown_of_a_group_is_what_was_grouped_by():
    statement = read(
        "SELECT CASE WHEN o.items > 3 THEN 1 END AS k, COUNT(*) FROM orders o GROUP BY CASE WHEN items > 3 THEN 1 END"
    )
    assert [output.name for output in statement.outputs] == ["k", "count"]
    with pytest.raises(UnsupportedError, match="must be in GROUP BY"):
        read("SELECT items > 4, COUNT(*) FROM orders GROUP BY items > 3")


def test_a_date_with_bounds_has_a_group_for_each_day():
    statement = read("SELECT due, COUNT(*) FROM orders GROUP BY due")
    days = [date(2023, 12, 30) + timedelta(n) for n in range(34)]
    assert [group for (group,) in statement.groups()] == [*days, None]
    assert statement.partitions


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("day + INTERVAL '1 year 2 months' = due", "a whole number of one unit"),
        ("day + INTERVAL '1-2' YEAR TO MONTH = due", "a whole number of one unit"),
        ("day + INTERVAL items DAY = due", "a whole number of one unit"),
        ("day + INTERVAL '1.5' DAY = due", "a whole number of one unit"),
        ("day + INTERVAL '1' HOUR = due", "units of a date are DAY, WEEK, MONTH, QUARTER, YEAR"),
        ("day + INTERVAL '2000000' DAY = due", "at most 1000000 days"),
        ("INTERVAL '1' DAY - day = due", "an INTERVAL is added to a date"),
        ("items + INTERVAL '1' DAY > 3", "a date or timestamp is needed"),
        ("day + 3 = due", "INTERVAL is added to a date"),
        ("at - at > 3", "CAST"),
    ],
)
def test_what_cannot_be_added_to_a_date_is_refused(expression, message):
    with pytest.raises((UnsupportedError, ParameterError), match=message) as refused:
        read(f"SELECT COUNT(*) FROM orders WHERE {expression}")
    assert "line 1, column" in str(refused.value)
