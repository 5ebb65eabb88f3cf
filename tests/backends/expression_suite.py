"""Functions of numbers, moments and texts: the same on every engine, and those of Python on the same values."""

from __future__ import annotations

import calendar
import math
from collections import Counter
from datetime import date, datetime, timedelta

import pyarrow as pa

from sordino.curator import connect

NUMBERS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.4999, -3.75, 7.0, 9.999, -9.25, None, 0.125, 3.0, 2.0**60, -1e300,
           math.inf, -math.inf, math.nan]  # fmt: skip
DAYS = [date(2024, 2, 29), date(2024, 3, 1), date(2023, 12, 31), date(2024, 1, 1), date(1900, 2, 28), date(2000, 1, 1),
        date(1999, 10, 3), None, date(1, 1, 1), date(9998, 12, 31), date(2100, 3, 1), date(1970, 1, 1)]  # fmt: skip
MOMENTS = [None if day is None else datetime(day.year, day.month, day.day, i * 2 % 24, i * 7 % 60, 59)
           for i, day in enumerate(DAYS)]  # fmt: skip
BOUNDED = [day for day in DAYS if day is None or date(1899, 1, 1) <= day <= date(2100, 12, 31)]
RECENT = [w for w in MOMENTS if w is None or datetime(2023, 12, 31) <= w < datetime(2024, 3, 2)]
FROM_YEAR_FIVE = [day for day in DAYS if day is None or day.year > 4] + [
    None
]  # year 1 less 4 is in no calendar
RECENT_DAYS = [day for day in DAYS if day is None or date(1999, 1, 1) <= day <= date(2001, 1, 1)]
TEXTS = ["a", " a", "a ", "  A b  ", "\ta", "", " ", None, "Ärger", "ärger", "İ", "AB%", "ab_", "a\n"]
POLICY = {
    "version": 1,
    "dataset": "expressions",
    "tables": {
        "numbers": {"columns": {"x": {"bounds": [-10, 10], "granularity": 0.001}}},
        "moments": {
            "columns": {
                "d": {"bounds": ["1899-01-01", "2100-12-31"]},
                "w": {"bounds": ["2023-12-31", "2024-03-01"]},
                "e": {"bounds": ["1999-01-01", "2001-01-01"]},
            }
        },
        "texts": {},
    },
}


def is_near(x):
    return x is not None and -10 <= x <= 10


def away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def add_months(day, months):
    """The same day of another month, or its last one."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def small(text):
    return "".join(c.lower() if c.isascii() else c for c in text)


# Table, expression, values that it is made of, what Python makes of one; NULL of NULL.
CASES = {
    "floor": ("numbers", "FLOOR(x)", NUMBERS, math.floor),
    "ceil": ("numbers", "CEIL(x)", NUMBERS, math.ceil),
    "round": ("numbers", "ROUND(x)", NUMBERS, away),
    "places": ("numbers", "ROUND(x, 2) = 0.13", NUMBERS, lambda x: x == 0.125),
    "bins": ("numbers", "FLOOR(x / 4)", NUMBERS, lambda x: math.floor(x / 4)),
    "sign": ("numbers", "CASE WHEN x < 0 THEN 'minus' WHEN x > 0 THEN 'plus' ELSE 'none' END", NUMBERS,
             lambda x: "minus" if x < 0 else "plus" if x > 0 or x != x else "none"),
    "month": ("moments", "EXTRACT(MONTH FROM d)", DAYS, lambda d: d.month),
    "quarter": ("moments", "EXTRACT(QUARTER FROM d)", DAYS, lambda d: (d.month + 2) // 3),
    "weekday": ("moments", "EXTRACT(DOW FROM d)", DAYS, lambda d: d.isoweekday() % 7),
    "iso weekday": ("moments", "EXTRACT(ISODOW FROM w)", MOMENTS, lambda w: w.isoweekday()),
    "hour": ("moments", "EXTRACT(HOUR FROM w)", MOMENTS, lambda w: w.hour),
    "minute": ("moments", "EXTRACT(MINUTE FROM w)", MOMENTS, lambda w: w.minute),
    "year": ("moments", "EXTRACT(YEAR FROM d)", BOUNDED, lambda d: d.year),
    "years": ("moments", "DATE_TRUNC('year', d)", BOUNDED, lambda d: d.replace(month=1, day=1).isoformat()),
    "quarters": ("moments", "DATE_TRUNC('quarter', d)", BOUNDED,
                 lambda d: date(d.year, (d.month - 1) // 3 * 3 + 1, 1).isoformat()),
    "months": ("moments", "DATE_TRUNC('month', d)", BOUNDED, lambda d: d.replace(day=1).isoformat()),
    "weeks": ("moments", "DATE_TRUNC('week', w)", RECENT, lambda w: (w.date() - timedelta(w.weekday())).isoformat()),
    "days": ("moments", "DATE_TRUNC('day', w)", RECENT, lambda w: w.date().isoformat()),
    "hours": ("moments", "DATE_TRUNC('hour', w)", RECENT, lambda w: w.replace(minute=0, second=0).isoformat()),
    "days of a column": ("moments", "e", RECENT_DAYS, lambda e: e.isoformat()),
    "three days on": ("moments", "d + INTERVAL '3' DAY = DATE '2024-03-03'", DAYS,
                      lambda d: d + timedelta(3) == date(2024, 3, 3)),
    "a month on": ("moments", "EXTRACT(DAY FROM d + INTERVAL '1' MONTH)", DAYS, lambda d: add_months(d, 1).day),
    "a year back": ("moments", "EXTRACT(DAY FROM d - INTERVAL '4' YEAR) = 29", FROM_YEAR_FIVE,
                    lambda d: add_months(d, -48).day == 29),
    "hours on": ("moments", "EXTRACT(HOUR FROM w + INTERVAL '5' HOUR)", MOMENTS,
                 lambda w: (w + timedelta(hours=5)).hour),
    "days between": ("moments", "(d - DATE '2024-01-01') > 59", DAYS, lambda d: (d - date(2024, 1, 1)).days > 59),
    "days apart": ("moments", "CASE WHEN '1970-01-01' - d = 25509 THEN 1 ELSE 3 END", DAYS,
                   lambda d: 1 if (date(1970, 1, 1) - d).days == 25509 else 3),
    "a day in words": ("moments", "CAST(d AS TEXT) = '2024-02-29'", DAYS, lambda d: d.isoformat() == "2024-02-29"),
    "an old day in words": ("moments", "CAST(d AS TEXT) = '0001-01-01'", DAYS, lambda d: d.isoformat() == "0001-01-01"),
    "trim": ("texts", "TRIM(s) = 'a'", TEXTS, lambda s: s.strip(" ") == "a"),
    "ltrim": ("texts", "LTRIM(s) = 'a '", TEXTS, lambda s: s.lstrip(" ") == "a "),
    "rtrim": ("texts", "RTRIM(s) = ' a'", TEXTS, lambda s: s.rstrip(" ") == " a"),
    "ilike": ("texts", "s ILIKE 'Ab_'", TEXTS, lambda s: len(s) == 3 and small(s).startswith("ab")),
    "not ilike": ("texts", "s NOT ILIKE '%A%'", TEXTS, lambda s: "a" not in small(s)),
    "truth": ("texts", "CAST(s = 'a' AS TEXT)", TEXTS, lambda s: "true" if s == "a" else "false"),
}  # fmt: skip


def tables():
    """What an engine has to hold."""
    return {
        "numbers": pa.table({"x": pa.array(NUMBERS, pa.float64())}),
        "moments": pa.table(
            {
                "d": pa.array(DAYS, pa.date32()),
                "w": pa.array(MOMENTS, pa.timestamp("us")),
                "e": pa.array(DAYS, pa.date32()),
            }
        ),
        "texts": pa.table({"s": pa.array(TEXTS, pa.string())}),
    }


def check_expressions(engine, name):
    """The groups of an expression, counted by the engine and by Python."""
    table, expression, values, function = CASES[name]
    expected: Counter = Counter()
    for value in values:
        if name == "bins" and value is not None and not abs(value) <= 1e70:
            value = None  # arithmetic has no such numbers
        if name in ("floor", "ceil", "round", "bins") and value is not None and not is_near(value):
            continue  # beyond the bounds: in no group
        alone = None if value is None else function(value)
        expected[{"sign": "none", "days apart": 3}.get(name) if value is None else alone] += 1
    with connect(engine, policy=POLICY) as curator:
        facts = curator.explain(
            f"SELECT {expression} AS k, COUNT(*) AS n FROM {table} GROUP BY 1", 1
        ).reveal()
    assert {row["k"]: row["n"] for row in facts["exact"] if row["n"]} == dict(expected)
    assert "partition" in facts["budget"]
