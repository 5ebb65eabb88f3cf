"""FLOOR, CEIL and ROUND in SQL expressions, in doubles.

Engines give results of different types, round halves differently, and some turn large doubles into integers that do not
hold them. A double of 2⁵² or more is a whole number already and stays as it is, NaN and infinity with it; halves go
away from zero; the result is a double.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.expressions.value import PLAIN, Range, Rules, Value, as_double, bracket, case

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

_WHOLE_FROM = 2.0**52
_MOST_PLACES = 6


def _floor(read: Expressions, node: exp.Floor | exp.Ceil) -> Value:
    inner = read.number(node.this)
    if inner.kind in ("null", "integer"):
        return inner
    double, down = as_double(inner), isinstance(node, exp.Floor)
    result = case(
        (_is_small(double.expression, _WHOLE_FROM), _whole(type(node), double.expression)),
        default=double.expression,
    )
    turn = math.floor if down else math.ceil
    known = Range(
        None if inner.range.low is None else Fraction(turn(inner.range.low)),
        None if inner.range.high is None else Fraction(turn(inner.range.high)),
        Fraction(1),
        inner.range.missing,
    )
    return Value(result, "float", _window(double, 1.0), known)


def _round(read: Expressions, node: exp.Round) -> Value:
    inner = read.number(node.this)
    places = 0
    if node.args.get("decimals") is not None:
        said = read.value(node.args["decimals"]).constant
        if not isinstance(said, int) or not 0 <= said <= _MOST_PLACES:
            read.text.refuse(node, f"ROUND(x, n) takes a literal n from 0 to {_MOST_PLACES}")
        places = said
    if inner.kind in ("null", "integer"):
        return inner
    double, unit = as_double(inner), 10.0**places
    scaled = exp.Mul(this=exp.Abs(this=double.expression.copy()), expression=write_double(unit))
    steps = _whole(exp.Floor, exp.Add(this=scaled, expression=write_double(0.5)))
    size = exp.Div(this=steps, expression=write_double(unit), typed=True, safe=False)
    small = _is_small(double.expression, _WHOLE_FROM / unit)
    below = exp.LT(this=bracket(double.expression), expression=write_double(0.0))
    result = case(
        (exp.and_(small, below), exp.Neg(this=exp.Paren(this=size))),
        (small, size),
        default=double.expression,
    )
    step = Fraction(1, 10**places)
    known = Range(
        None if inner.range.low is None else math.floor(inner.range.low / step) * step,
        None if inner.range.high is None else math.ceil(inner.range.high / step) * step,
        step,
        inner.range.missing,
    )
    return Value(result, "float", _window(double, 1 / unit), known)


def _whole(rounding: type[exp.Expr], double: exp.Expr) -> exp.Expr:
    return exp.cast(rounding(this=double.copy()), exp.DataType.Type.DOUBLE)


def _is_small(double: exp.Expr, limit: float) -> exp.Expr:
    """Within ±limit; not so for NaN, which is larger than every number."""
    return exp.and_(
        exp.GT(this=bracket(double), expression=write_double(-limit)),
        exp.LT(this=bracket(double), expression=write_double(limit)),
    )


def _window(double: Value, least: float) -> tuple[float, float] | None:
    return None if double.window is None else (least / 2, max(double.window[1], least) * 2)


RULES: Rules = {
    **dict.fromkeys((exp.Floor, exp.Ceil), (_floor, PLAIN)),
    exp.Round: (_round, ("this", "decimals")),
}
