"""Arithmetic in SQL expressions: + - * / %, signs, ABS, GREATEST and LEAST.

Literals are calculated with exactly, when reading, and decimals of few digits in the engine's decimals (`decimals.py`).
All other arithmetic is done in doubles (whole numbers are exact up to 2⁵³). Some engines raise on overflow, underflow
and division by zero. Each value therefore carries a window (tiny, big): it is zero or its magnitude lies within. A
window that would leave 10^±290 is refused when reading; a divisor of zero is NULL; a double column enters through
`make_calculable`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.expressions.choices import combine_branches
from sordino.sql.expressions.decimals import calculate, fold_literals, turns_exactly
from sordino.sql.expressions.intervals import (
    add_ranges,
    choose_ranges,
    divide_ranges,
    multiply_ranges,
    negate_range,
)
from sordino.sql.expressions.moments import count_days, shift_moment
from sordino.sql.expressions.value import (
    PLAIN,
    Range,
    Rules,
    Value,
    as_double,
    bracket,
    integer,
    make_calculable,
    null,
    number_literal,
)
from sordino.sql.text import is_within_reach

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

_LARGEST, _SMALLEST = 1e290, 1e-290
_TOO_MANY = "so many products and quotients could leave the range of numbers; use fewer"


def _add(read: Expressions, node: exp.Add | exp.Sub) -> Value:
    if isinstance(node.this.unnest(), exp.Interval) or isinstance(node.expression.unnest(), exp.Interval):
        return shift_moment(read, node)
    left, right = read.value(node.this), read.value(node.expression)
    kinds = {left.kind, right.kind}
    if isinstance(node, exp.Sub) and "date" in kinds and kinds <= {"date", "text"}:
        return count_days(*read.alike(node, left, right))
    if kinds & {"date", "timestamp"}:
        read.text.refuse(node, "an INTERVAL is added to a date, d + INTERVAL '3' DAY, and two dates have days between "
                         "them, d - e; of timestamps write CAST(... AS DATE)")  # fmt: skip
    return _calculate(
        read, node, _check_number(read, node.this, left), _check_number(read, node.expression, right)
    )


def _check_number(read: Expressions, node: exp.Expr, value: Value) -> Value:
    if not value.is_number:
        read.text.wrong(node, f"a number is needed here, this is of type {value.kind}")
    return value


def _arithmetic(read: Expressions, node: exp.Binary) -> Value:
    if isinstance(node, exp.Div) and node.args.get("typed"):
        sides = (read.value(node.this), read.value(node.expression))
        if all(side.kind == "integer" for side in sides):
            read.text.refuse(
                node, "dividing integers drops the remainder on this engine and not on others; "
                "write CAST(... AS DOUBLE PRECISION) around one of them",
            )  # fmt: skip
    return _calculate(read, node, read.number(node.this), read.number(node.expression))


def _calculate(read: Expressions, node: exp.Binary, left: Value, right: Value) -> Value:
    if "null" in (left.kind, right.kind) or (isinstance(node, exp.Div) and right.constant == 0):
        return null()
    constant = fold_literals(type(node), left, right)
    if constant is not None:
        if not is_within_reach(constant, 290):
            read.text.refuse(node, _TOO_MANY)
        whole = isinstance(left.constant, int) and isinstance(right.constant, int)
        return number_literal(constant, whole=whole and not isinstance(node, exp.Div))
    exact = calculate(type(node), left, right)
    if exact is not None:
        return replace(exact, window=_decimal_window(exact), range=_range_of(node, left, right))
    a, b = make_calculable(left), make_calculable(right)
    (tiny_a, big_a), (tiny_b, big_b) = a.window or (0.0, 0.0), b.window or (0.0, 0.0)
    divisor = bracket(b.expression)
    if isinstance(node, exp.Add | exp.Sub):
        # Sums of doubles are multiples of the last place of the smaller one, and never underflow.
        window = (min(tiny_a, tiny_b) * 2.0**-53, big_a + big_b)
        result: exp.Expr = type(node)(this=bracket(a.expression), expression=divisor)
    elif isinstance(node, exp.Mul):
        window = (tiny_a * tiny_b, big_a * big_b)
        result = exp.Mul(this=bracket(a.expression), expression=divisor)
    else:
        window = (tiny_a / big_b, big_a / tiny_b)
        nullable = exp.Nullif(this=divisor, expression=write_double(0.0))
        result = exp.Div(this=bracket(a.expression), expression=nullable, typed=True, safe=False)
    if window[0] < _SMALLEST or window[1] > _LARGEST:
        read.text.refuse(node, _TOO_MANY)
    return Value(result, "float", (window[0] / 2, window[1] * 2), _range_of(node, left, right))


def _range_of(node: exp.Binary, left: Value, right: Value) -> Range:
    """Where the result lies."""
    if isinstance(node, exp.Add):
        return add_ranges(left.range, right.range)
    if isinstance(node, exp.Sub):
        return add_ranges(left.range, negate_range(right.range))
    return (multiply_ranges if isinstance(node, exp.Mul) else divide_ranges)(left.range, right.range)


def _decimal_window(value: Value) -> tuple[float, float]:
    return 10.0 ** -(value.scale or 0), 10.0 ** (value.digits or 0)


def _mod(read: Expressions, node: exp.Mod) -> Value:
    left, right = read.value(node.this), read.value(node.expression)
    if left.kind != "integer" or not isinstance(right.constant, int) or right.constant <= 0:
        read.text.refuse(node, "% takes an integer column on the left and a literal > 0 on the right")
    return integer(exp.Mod(this=bracket(left.expression), expression=right.expression.copy()))


def _neg(read: Expressions, node: exp.Neg) -> Value:
    inner = read.number(node.this)
    if isinstance(inner.constant, int | Fraction) and inner.constant:
        return number_literal(-Fraction(inner.constant), whole=isinstance(inner.constant, int))
    if inner.kind == "null":
        return inner
    double = inner if turns_exactly(inner) else as_double(inner)
    return replace(
        double,
        expression=exp.Neg(this=exp.Paren(this=double.expression.copy())),
        range=negate_range(inner.range),
        column=None,
        constant=None,
    )


def _abs(read: Expressions, node: exp.Abs) -> Value:
    inner = read.number(node.this)
    if inner.kind == "null":
        return inner
    # The least integer has no counterpart, so integers become doubles first.
    double = inner if turns_exactly(inner) else as_double(inner)
    known = choose_ranges(True, [inner.range, negate_range(inner.range)])
    known = replace(known, low=Fraction(0))
    result = exp.Abs(this=double.expression.copy())
    return replace(double, expression=result, range=known, column=None, constant=None)


def _extreme(read: Expressions, node: exp.Greatest | exp.Least) -> Value:
    # They skip NULLs on all engines.
    parts = [read.number(part) for part in (node.this, *node.expressions)]
    parts = [part for part in read.alike(node, *parts) if part.kind != "null"]
    if not parts:
        return null()
    first, *rest = (part.expression.copy() for part in parts)
    result = type(node)(this=first, expressions=rest, ignore_nulls=True) if rest else first
    known = choose_ranges(isinstance(node, exp.Greatest), [part.range for part in parts])
    return replace(combine_branches(parts), expression=result, range=known)


RULES: Rules = {
    **dict.fromkeys((exp.Add, exp.Sub), (_add, PLAIN)),
    exp.Mul: (_arithmetic, PLAIN),
    exp.Div: (_arithmetic, ("this", "expression", "typed", "safe")),
    exp.Mod: (_mod, PLAIN),
    exp.Neg: (_neg, PLAIN),
    exp.Abs: (_abs, PLAIN),
    **dict.fromkeys((exp.Greatest, exp.Least), (_extreme, ("this", "expressions", "ignore_nulls"))),
}
