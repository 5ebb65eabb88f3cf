"""What one joined row adds to an answer, in whole steps: one expression for the question and for its analysis.

Numerics. A count is an integer. For a sum every joined row adds a whole number of steps, computed from its own
values: integers with a step of 1 in the engine's integers, everything else in doubles by v·q/p + ½ rounded down,
for a step of p/q whose parts are exact doubles. All engines do these IEEE operations alike, so they agree row by
row, and sums of integers do not depend on the order of rows. Values that are clipped do not reach the division.
|steps| ≤ 2⁵⁰, so rounding cannot push a row beyond its clip, and the size of a contribution has 64 bits to spare.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from sordino.engines import double_literal
from sordino.sql.expressions.value import bracketed, case
from sordino.sql.question import Measure

# Totals of larger contributions could leave 64 bits with a number of rows that exists.
SMALL_REACH = 2**20
# Sums are cut here: cutting moves no two of them further apart, so no row changes an answer by more than twice this.
# A count is not cut: an engine that looked at a billion combinations in a second would be at it for a century.
LARGEST_ANSWER = 2**62
LARGEST_CHANGE = 2 * LARGEST_ANSWER


def steps(measure: Measure) -> exp.Expr:
    """What one joined row adds, in whole steps (BIGINT); NULL where the value is NULL. 1 for COUNT(*)."""
    if measure.kind == "count":
        return exp.Literal.number(1)
    if measure.value is None:
        raise ValueError("a sum needs a value")
    low, high, step = measure.low, measure.high, measure.step
    value = measure.value
    whole = measure.whole
    bottom, top = int(low / step), int(high / step)
    if whole and step == 1:
        number: exp.Expr = exp.cast(value.copy(), exp.DataType.Type.BIGINT)
    else:
        double = exp.cast(value.copy(), exp.DataType.Type.DOUBLE) if whole else bracketed(value)
        number = _rounded(double, step)
    clipped = case(
        (exp.LT(this=bracketed(value), expression=_limit(low, whole)), whole_number(bottom)),
        (exp.GT(this=bracketed(value), expression=_limit(high, whole)), whole_number(top)),
        default=number,
    )
    return exp.cast(clipped, exp.DataType.Type.BIGINT)


def size(measure: Measure) -> exp.Expr:
    """|what a joined row adds|, in whole steps (BIGINT), at most the measure's reach; 1 for COUNT(*)."""
    contribution = steps(measure)
    return contribution if measure.kind == "count" else exp.Abs(this=contribution)


def _rounded(double: exp.Expr, step: Fraction) -> exp.Expr:
    scaled = double if step.numerator == 1 else _without_dust(double)
    if step.denominator != 1:
        scaled = exp.Mul(this=scaled, expression=double_literal(float(step.denominator)))
    if step.numerator != 1:
        scaled = exp.Div(this=bracketed(scaled), expression=double_literal(float(step.numerator)), typed=True)
    shifted = exp.Add(this=bracketed(scaled), expression=double_literal(0.5))
    return exp.cast(exp.Floor(this=shifted), exp.DataType.Type.BIGINT)


def _without_dust(double: exp.Expr) -> exp.Expr:
    """Zero in place of numbers so small that some engines raise when they are divided."""
    small = exp.and_(
        exp.GT(this=bracketed(double), expression=double_literal(-1e-200)),
        exp.LT(this=bracketed(double), expression=double_literal(1e-200)),
    )
    return case((small, double_literal(0.0)), default=double)


def _limit(bound: Fraction, whole: bool) -> exp.Expr:
    if whole and bound.denominator == 1:
        return bracketed(whole_number(int(bound)))
    return double_literal(float(bound))


def whole_number(value: int) -> exp.Expr:
    """A literal."""
    return exp.Literal.number(value)
