"""DATE_TRUNC, dates and timestamps plus or minus an INTERVAL, and days between dates; all within the years 1 to 9999.

Dates are made of numbers that engines agree in, and stay dates: truncated to a day or more, a timestamp becomes one. A
month more than the last of January is the last of February.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.expressions.dates import as_moment, in_calendar, in_microseconds, take_part
from sordino.sql.expressions.value import Period, Range, Rules, Value, bracket, case, integer

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

# So many groups are listed; see `sordino.sql.reading.groups`.
MOST_VALUES = 10_000
_MOMENTS = ("date", "timestamp")
# Beyond these an engine would leave the years that it has.
_MOST_DAYS, _MOST_MONTHS = 1_000_000, 12_000
_WHOLE = re.compile("-?[0-9]{1,12}")
_DAYS = {"DAY": 1, "WEEK": 7}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SECONDS = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_STARTS: dict[str, Callable[[date], date]] = {
    "YEAR": lambda day: day.replace(month=1, day=1),
    "QUARTER": lambda day: day.replace(month=(day.month + 2) // 3 * 3 - 2, day=1),
    "MONTH": lambda day: day.replace(day=1),
    "WEEK": lambda day: day - timedelta(days=day.weekday()),
    "DAY": lambda day: day,
}


def _truncate(read: Expressions, node: exp.TimestampTrunc | exp.DateTrunc) -> Value:
    unit = node.args["unit"].name.upper()
    if unit not in (*_STARTS, "HOUR"):
        shown = ", ".join((*_STARTS, "HOUR"))
        read.text.refuse(
            node, f"moments are truncated to {shown}; weeks begin on Monday", keyword="DATE_TRUNC"
        )
    source = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
    inner = read.value(source)
    if inner.kind not in _MOMENTS or (unit == "HOUR" and inner.kind == "date"):
        read.text.wrong(
            node, f"a timestamp{'' if unit == 'HOUR' else ' or date'} is needed, this is of type {inner.kind}"
        )
    inner = in_microseconds(inner)
    moment = inner.expression
    if unit == "HOUR":
        start: exp.Expr = exp.TimestampTrunc(this=moment.copy(), unit=exp.var("HOUR"))
        return Value(case((in_calendar(moment, inner.kind), start)), "timestamp", period=inner.period,
                     values=list_hours(inner.period))  # fmt: skip
    day = moment.copy() if inner.kind == "date" else exp.cast(moment.copy(), exp.DataType.Type.DATE)
    start = _write_start(unit, day, moment)
    values = None if inner.period is None else list_starts(inner.period, unit)
    return Value(case((in_calendar(moment, inner.kind), start)), "date", period=inner.period, values=values)


def _write_start(unit: str, day: exp.Expr, moment: exp.Expr) -> exp.Expr:
    if unit == "DAY":
        return day
    one = exp.Literal.number(1)
    if unit == "WEEK":
        back = exp.Sub(this=one, expression=bracket(take_part("ISODOW", moment)))
        return exp.cast(exp.Add(this=bracket(day), expression=_as_int(bracket(back))), exp.DataType.Type.DATE)
    month: exp.Expr = one
    if unit == "MONTH":
        month = take_part("MONTH", moment)
    elif unit == "QUARTER":
        thrice = exp.Mul(this=exp.Literal.number(3), expression=bracket(take_part("QUARTER", moment)))
        month = exp.Sub(this=thrice, expression=exp.Literal.number(2))
    parts = [take_part("YEAR", moment), month, one.copy()]
    return exp.Anonymous(this="MAKE_DATE", expressions=[_as_int(part) for part in parts])


def list_starts(period: Period, unit: str) -> tuple[date | None, ...] | None:
    """Every first day of a unit from the first to the last day, and NULL; None where they are too many."""
    first, last = (_STARTS[unit](day) for day in period)
    if (last - first).days > 400 * MOST_VALUES:
        return None
    found: list[date | None] = []
    while first <= last and len(found) <= MOST_VALUES:
        found.append(first)
        if first > date(9998, 12, 31):
            break
        first = _STARTS[unit](
            first + timedelta(days={"YEAR": 366, "QUARTER": 93, "MONTH": 31, "WEEK": 7, "DAY": 1}[unit])
        )
    return (*found, None) if len(found) < MOST_VALUES else None


def list_hours(period: Period | None) -> tuple[datetime | None, ...] | None:
    """Every full hour of the days of a period, and NULL; None where they are too many."""
    if period is None or (hours := 24 * ((period[1] - period[0]).days + 1)) >= MOST_VALUES:
        return None
    first = datetime(period[0].year, period[0].month, period[0].day)
    return (*(first + timedelta(hours=hour) for hour in range(hours)), None)


def shift_moment(read: Expressions, node: exp.Add | exp.Sub) -> Value:
    """A date or timestamp plus or minus a literal INTERVAL; NULL beyond the calendar."""
    left, right = node.this.unnest(), node.expression.unnest()
    if isinstance(node, exp.Add) and isinstance(left, exp.Interval):
        left, right = right, left
    if not isinstance(right, exp.Interval) or isinstance(left, exp.Interval):
        read.text.refuse(node, "an INTERVAL is added to a date or timestamp, or taken away from it")
    inner = in_microseconds(read.value(left))
    if isinstance(inner.constant, str):
        inner = as_moment(read, node, inner, "date" if len(inner.constant) == 10 else "timestamp")
    if inner.kind not in _MOMENTS:
        read.text.wrong(
            node, f"a date or timestamp is needed before the INTERVAL, this is of type {inner.kind}"
        )
    number, unit = _read_interval(read, right, inner.kind)
    moment = inner.expression
    forward = isinstance(node, exp.Add) == (number >= 0)
    interval = exp.Interval(this=exp.Literal.string(str(abs(number))), unit=exp.var(unit))
    target = exp.DataType.Type.DATE if inner.kind == "date" else exp.DataType.Type.TIMESTAMP
    shifted = exp.cast((exp.Add if forward else exp.Sub)(this=bracket(moment), expression=interval), target)
    kept = case((in_calendar(shifted, inner.kind), shifted))
    return Value(case((in_calendar(moment, inner.kind), kept)), inner.kind)


def _read_interval(read: Expressions, node: exp.Interval, kind: str) -> tuple[int, str]:
    """A whole number of days, months or seconds, which all engines add in the same way."""
    said = node.args.get("unit")
    unit = said.name.upper().removesuffix("S") if isinstance(said, exp.Var) else ""
    sizes = {**_DAYS, **_MONTHS, **(_SECONDS if kind == "timestamp" else {})}
    written = node.this.unnest() if isinstance(node.this, exp.Expr) else None
    text = str(written.this) if isinstance(written, exp.Literal) else ""
    if unit not in sizes or not _WHOLE.fullmatch(text):
        read.text.refuse(node, "an INTERVAL is a whole number of one unit, such as INTERVAL '3' DAY; units of a "
                         f"{kind} are {', '.join(sizes)}", keyword="INTERVAL")  # fmt: skip
    number = int(text) * sizes[unit]
    steps, most = ("MONTH", _MOST_MONTHS) if unit in _MONTHS else ("DAY", _MOST_DAYS)
    if unit in _SECONDS:
        steps, most = "SECOND", _MOST_DAYS * 86_400
    if abs(number) > most:
        read.text.refuse(node, f"an INTERVAL has at most {most} {steps.lower()}s", keyword="INTERVAL")
    return number, steps


def count_days(left: Value, right: Value) -> Value:
    """The days from one date to another, negative if it is the later one; NULL beyond the calendar."""
    days = exp.DateDiff(this=left.expression.copy(), expression=right.expression.copy(), unit=exp.var("DAY"))
    guard = exp.and_(in_calendar(left.expression, "date"), in_calendar(right.expression, "date"))
    result = integer(case((guard, exp.cast(days, exp.DataType.Type.BIGINT))))
    a, b = _find_period(left), _find_period(right)
    if a is None or b is None:
        return result
    low, high = (a[0] - b[1]).days, (a[1] - b[0]).days
    return Value(
        result.expression, "integer", result.window, Range(Fraction(low), Fraction(high), Fraction(1))
    )


def _find_period(value: Value) -> Period | None:
    if isinstance(value.constant, date):
        return value.constant, value.constant
    return value.period


def _as_int(number: exp.Expr) -> exp.Expr:
    return exp.cast(number.copy(), exp.DataType.Type.INT)


RULES: Rules = dict.fromkeys((exp.TimestampTrunc, exp.DateTrunc), (_truncate, ("this", "unit")))
