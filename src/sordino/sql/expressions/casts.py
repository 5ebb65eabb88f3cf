"""CAST between types, where it gives the same on every engine.

Casts from text are guarded by a pattern: what does not look like a plain number or an ISO date is NULL.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sordino.sql.expressions.choices import combine_branches
from sordino.sql.expressions.dates import as_moment, in_calendar, in_microseconds, read_day, read_time
from sordino.sql.expressions.moments import list_starts
from sordino.sql.expressions.texts import cut_text
from sordino.sql.expressions.value import (
    Kind,
    Rules,
    Value,
    as_double,
    bracket,
    case,
    integer,
    number_literal,
)

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

_NUMBER = r"^-?[0-9]{1,15}([.][0-9]{1,15})?$"
_WHOLE = r"^-?[0-9]{1,18}$"
_DAY = (
    r"^([1-9][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
    r"02-(0[1-9]|1[0-9]|2[0-8]))|([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)-02-29)$"
)
# With its sign, in 128 bits.
_LONGEST_INTEGER = 40
_TYPE = exp.DataType.Type
_CASTS: dict[Any, Kind] = {
    _TYPE.BIGINT: "integer",
    _TYPE.INT: "integer",
    _TYPE.DOUBLE: "float",
    _TYPE.TEXT: "text",
    _TYPE.VARCHAR: "text",
    _TYPE.BOOLEAN: "boolean",
    _TYPE.DATE: "date",
    _TYPE.TIMESTAMP: "timestamp",
    _TYPE.TIMESTAMPNTZ: "timestamp",
    _TYPE.TIMESTAMPTZ: "timestamp",
}
_PATTERNS: dict[Kind, tuple[str, Any, str]] = {
    "integer": (_WHOLE, _TYPE.BIGINT, "[^0-9-]"),
    "float": (_NUMBER, _TYPE.DOUBLE, "[^0-9.-]"),
    "date": (_DAY, _TYPE.DATE, "[^0-9-]"),
}


def _cast(read: Expressions, node: exp.Cast) -> Value:
    inner = read.value(node.this)
    wanted = _CASTS.get(node.to.this)
    if wanted is None or node.to.expressions:
        read.text.refuse(node, "casts to BIGINT, DOUBLE, TEXT, BOOLEAN, DATE and TIMESTAMP are understood")
    if inner.kind == wanted:
        return inner
    if inner.kind == "null":
        return inner
    if inner.kind == "text" and wanted == "date" and isinstance(inner.constant, str):
        return read_day(read, node, inner.constant)
    if inner.kind == "text" and wanted == "timestamp" and isinstance(inner.constant, str):
        return read_time(read, node, inner.constant)
    if wanted == "float" and inner.is_number:
        return as_double(inner)
    if inner.kind == "boolean" and wanted in ("integer", "float"):
        return _counted(inner, wanted)
    if inner.kind == "date" and wanted == "timestamp":
        return as_moment(read, node, inner, "timestamp")
    if inner.kind == "timestamp" and wanted == "date":
        inner = in_microseconds(inner)
        day = exp.cast(inner.expression.copy(), exp.DataType.Type.DATE)
        days = None if inner.period is None else list_starts(inner.period, "DAY")
        guarded = case((in_calendar(inner.expression, "timestamp"), day))
        return Value(guarded, "date", period=inner.period, values=days)
    if inner.kind == "integer" and wanted == "text":
        return Value(
            exp.cast(inner.expression.copy(), exp.DataType.Type.TEXT), "text", longest=_LONGEST_INTEGER
        )
    if inner.kind == "date" and wanted == "text":
        day = exp.cast(inner.expression.copy(), exp.DataType.Type.TEXT)
        return Value(case((in_calendar(inner.expression, "date"), day)), "text", longest=len("2024-01-31"))
    if inner.kind == "boolean" and wanted == "text":
        truth = bracket(inner.expression)
        words = [(exp.Is(this=truth.copy(), expression=exp.Boolean(this=word == "true")), exp.Literal.string(word))
                 for word in ("true", "false")]  # fmt: skip
        return Value(case(*words), "text", longest=len("false"), values=("true", "false", None))
    if inner.kind == "text" and wanted in ("integer", "float", "date"):
        return _parsed(inner, wanted)
    read.text.refuse(node, f"{inner.kind} does not become {wanted} in the same way on every engine")


def _counted(inner: Value, wanted: Kind) -> Value:
    one, zero = (number_literal(Fraction(n), whole=wanted == "integer") for n in (1, 0))
    truth = bracket(inner.expression)
    whens = [exp.Is(this=truth.copy(), expression=exp.true()), exp.Is(this=truth, expression=exp.false())]
    result = case((whens[0], one.expression), (whens[1], zero.expression))
    return replace(combine_branches([one, zero]), expression=result)


def _parsed(inner: Value, wanted: Kind) -> Value:
    pattern, target, allowed = _PATTERNS[wanted]
    words = bracket(cut_text(inner).expression)
    if isinstance(words, exp.Literal):
        # A bare literal takes the type of a cast around it while some engines still read the query: no guard helps.
        words = exp.cast(words, _TYPE.TEXT)
    # `$` also matches before a final line break on some engines; no such character passes the first test.
    strange = exp.RegexpLike(this=words.copy(), expression=exp.Literal.string(allowed))
    fits = exp.RegexpLike(this=words.copy(), expression=exp.Literal.string(pattern))
    guard = exp.and_(exp.not_(strange), fits)
    result = case((guard, exp.TryCast(this=words.copy(), to=exp.DataType(this=target))))
    if wanted == "integer":
        return integer(result)
    return Value(result, wanted, (1e-15, 1e15) if wanted == "float" else None)


RULES: Rules = dict.fromkeys((exp.Cast, exp.TryCast), (_cast, ("this", "to", "safe")))
