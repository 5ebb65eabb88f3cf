"""Dates and timestamps in SQL expressions: literals, conversions, EXTRACT; all within the years 1 to 9999."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.expressions.value import PLAIN, Kind, Range, Rules, Value, bracket, case, integer

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)


def as_moment(read: Expressions, node: exp.Expr, value: Value, target: Kind) -> Value:
    """A literal or a date as a date or timestamp."""
    if isinstance(value.constant, str):
        return (
            read_day(read, node, value.constant)
            if target == "date"
            else read_time(read, node, value.constant)
        )
    if value.kind == "date" and target == "timestamp":
        if isinstance(value.constant, date):
            return read_time(read, node, value.constant.isoformat())
        # Days beyond the range of timestamps would raise.
        moment = exp.cast(value.expression.copy(), exp.DataType.Type.TIMESTAMP)
        return Value(case((in_calendar(value.expression, "date"), moment)), "timestamp", period=value.period)
    read.text.wrong(node, f"types {value.kind} and {target} do not fit together; write a CAST")


def read_day(read: Expressions, node: exp.Expr, written: str) -> Value:
    """A date literal."""
    try:
        day = date.fromisoformat(written) if len(written) == 10 else None
    except ValueError:
        day = None
    # Python reads '2024-W05-3' and '20240131  ' too, and engines read some of these, as other days or not at all.
    if day is None or day.isoformat() != written:
        read.text.wrong(node, f"{written[:40]!r} is no date such as '2024-01-31'")
    return Value(exp.cast(exp.Literal.string(written), exp.DataType.Type.DATE), "date", constant=day)


def read_time(read: Expressions, node: exp.Expr, written: str) -> Value:
    """A timestamp literal."""
    try:
        moment = datetime.fromisoformat(written) if 10 <= len(written) <= 26 else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        read.text.wrong(node, f"{written[:40]!r} is no timestamp such as '2024-01-31 12:30:00'")
    shown = moment.isoformat(sep=" ")
    return Value(
        exp.cast(exp.Literal.string(shown), exp.DataType.Type.TIMESTAMP), "timestamp", constant=moment
    )


def in_microseconds(value: Value) -> Value:
    """A timestamp column in microseconds: engines with several precisions raise when they meet in a comparison."""
    if value.kind != "timestamp" or value.column is None:
        return value
    moment = exp.TryCast(this=value.expression.copy(), to=exp.DataType(this=exp.DataType.Type.TIMESTAMP))
    return replace(value, expression=moment, column=None)


def in_calendar(expression: exp.Expr, kind: Kind) -> exp.Expr:
    """Between the years 1 and 9999."""
    first, last = f"{_FIRST_DAY.isoformat()}", f"{_LAST_DAY.isoformat()}"
    target = exp.DataType.Type.DATE if kind == "date" else exp.DataType.Type.TIMESTAMP
    return exp.and_(
        exp.GTE(this=bracket(expression), expression=exp.cast(exp.Literal.string(first), target)),
        exp.LT(this=bracket(expression), expression=exp.cast(exp.Literal.string(last), target)),
    )


def _extract(read: Expressions, node: exp.Expr) -> Value:
    part = node.name.upper() if isinstance(node, exp.Extract) else type(node).__name__.upper()
    part = _OTHER_NAMES.get(part, part)
    if part not in _PARTS:
        shown = ", ".join(_PARTS)
        read.text.refuse(node, f"{shown} can be extracted; DOW is 0 on Sundays, ISODOW 7", keyword="EXTRACT")
    source = node.expression if isinstance(node, exp.Extract) else node.this
    inner = read.value(source.this if isinstance(source, exp.TsOrDsToDate) else source)
    wanted = ("timestamp",) if part in ("HOUR", "MINUTE") else ("date", "timestamp")
    if inner.kind not in wanted:
        read.text.wrong(node, f"a {' or '.join(wanted)} is needed, this is of type {inner.kind}")
    inner = in_microseconds(inner)
    # Infinite days have no year, and no engine agrees on those before the first one.
    guarded = case((in_calendar(inner.expression, inner.kind), take_part(part, inner.expression)))
    low, high = _PARTS[part]
    if part == "YEAR":
        if inner.period is None:
            return integer(guarded)
        low, high = (day.year for day in inner.period)
    return replace(integer(guarded), range=Range(Fraction(low), Fraction(high), Fraction(1)))


def take_part(part: str, moment: exp.Expr) -> exp.Expr:
    """A number of a date or timestamp that lies in the calendar, the same on all engines."""
    return _DERIVED[part](moment) if part in _DERIVED else _take(part, moment)


def _take(part: str, moment: exp.Expr) -> exp.Expr:
    return exp.cast(exp.Extract(this=exp.var(part), expression=moment.copy()), exp.DataType.Type.BIGINT)


def _quarter(moment: exp.Expr) -> exp.Expr:
    return _quotient(exp.Add(this=_take("MONTH", moment), expression=exp.Literal.number(2)), 3)


def _weekday(moment: exp.Expr) -> exp.Expr:
    """0 on Sundays, from year, month and day, in which engines agree; Zeller's congruence for years from March on."""
    month, early = (
        _take("MONTH", moment),
        exp.LT(this=_take("MONTH", moment), expression=exp.Literal.number(3)),
    )
    year = exp.Paren(this=exp.Sub(
        this=_take("YEAR", moment), expression=case((early, exp.Literal.number(1)), default=exp.Literal.number(0))
    ))  # fmt: skip
    counted = case(
        (early, exp.Add(this=month.copy(), expression=exp.Literal.number(10))),
        default=exp.Sub(this=month.copy(), expression=exp.Literal.number(2)),
    )
    months = exp.Mul(this=exp.Literal.number(31), expression=counted)
    days: exp.Expr = exp.Add(this=_take("DAY", moment), expression=year)
    for sign, period in ((exp.Add, 4), (exp.Sub, 100), (exp.Add, 400)):
        days = sign(this=days, expression=_quotient(year, period))
    days = exp.Add(this=days, expression=_quotient(months, 12))
    return exp.Mod(this=exp.Paren(this=days), expression=exp.Literal.number(7))


def _iso_weekday(moment: exp.Expr) -> exp.Expr:
    """7 on Sundays."""
    sunday = _weekday(moment)
    return case(
        (exp.EQ(this=bracket(sunday), expression=exp.Literal.number(0)), exp.Literal.number(7)),
        default=sunday,
    )


def _quotient(number: exp.Expr, divisor: int) -> exp.Expr:
    """The whole part of a quotient of small positive integers: exact in doubles."""
    double = exp.cast(bracket(number), exp.DataType.Type.DOUBLE)
    divided = exp.Div(this=double, expression=write_double(float(divisor)), typed=True, safe=False)
    return exp.cast(exp.Floor(this=divided), exp.DataType.Type.BIGINT)


# What can be extracted, and between which numbers it lies.
_PARTS = {"YEAR": (1, 9999), "QUARTER": (1, 4), "MONTH": (1, 12), "DAY": (1, 31), "DOW": (0, 6), "ISODOW": (1, 7),
          "HOUR": (0, 23), "MINUTE": (0, 59)}  # fmt: skip
_OTHER_NAMES = {"DAYOFWEEKISO": "ISODOW", "DAYOFWEEK_ISO": "ISODOW", "DOW_ISO": "ISODOW"}
_DERIVED = {"QUARTER": _quarter, "DOW": _weekday, "ISODOW": _iso_weekday}

RULES: Rules = dict.fromkeys(
    (exp.Extract, exp.Year, exp.Month, exp.Day, exp.Quarter, exp.Hour, exp.Minute, exp.DayOfWeekIso),
    (_extract, PLAIN),
)
