"""Dates and timestamps in SQL expressions: literals, conversions, EXTRACT; all within the years 1 to 9999."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.expressions.value import PLAIN, Kind, Rules, Value, bracket, case, integer

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
        return Value(case((in_calendar(value.expression, "date"), moment)), "timestamp")
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
    if part not in ("YEAR", "MONTH", "DAY"):
        read.text.refuse(node, "YEAR, MONTH and DAY can be extracted", keyword="EXTRACT")
    source = node.expression if isinstance(node, exp.Extract) else node.this
    inner = read.value(source.this if isinstance(source, exp.TsOrDsToDate) else source)
    if inner.kind not in ("date", "timestamp"):
        read.text.wrong(node, f"a date or timestamp is needed, this is of type {inner.kind}")
    inner = in_microseconds(inner)
    taken = exp.Extract(this=exp.var(part), expression=inner.expression.copy())
    # Infinite days have no year, and no engine agrees on those before the first one.
    guarded = case((in_calendar(inner.expression, inner.kind), exp.cast(taken, exp.DataType.Type.BIGINT)))
    return integer(guarded)


RULES: Rules = dict.fromkeys((exp.Extract, exp.Year, exp.Month, exp.Day), (_extract, PLAIN))
