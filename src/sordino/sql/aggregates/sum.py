"""SUM(x): every joined row adds x, clipped into public bounds and rounded to a whole number of public steps.

Numerics. Every joined row adds a whole number of steps, computed from its own values: integers with a step of 1 in the
engine's integers, everything else in doubles by v·q/p + ½ rounded down, for a step of p/q whose parts are exact
doubles. All engines do these IEEE operations alike, so they agree row by row, and sums of integers do not depend on the
order of rows. Values that are clipped do not reach the division. |steps| ≤ 2⁵⁰, so rounding cannot push a row beyond
its clip, and the size of a contribution has 64 bits to spare.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.aggregates.aggregate import Aggregate, read_argument, take_number, take_radius
from sordino.sql.aggregates.measure import LARGEST_ANSWER, SMALL_REACH, is_there, whole_number
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.value import Range, as_double, bracket, case
from sordino.sql.text import Text

# A row's contribution in steps stays exact in doubles, with room for the half that rounding adds.
MOST_STEPS = 2**50


@dataclass(frozen=True, slots=True)
class BoundedSum:
    """The sum of ``value`` over joined rows; NULL adds nothing.

    A row adds ⌊clip(value, low, high)/step + ½⌋ steps, so the answer is a whole number of ``step`` and the same on
    every engine. ``low`` and ``high`` are whole multiples of ``step``. ``whole``: the value is in the engine's
    integers, not in doubles.
    """

    value: exp.Expr
    low: Fraction
    high: Fraction
    step: Fraction = Fraction(1)
    whole: bool = False
    text: str = field(default="", compare=False)

    @property
    def reach(self) -> int:
        """The larger end of the clip."""
        return int(max(abs(self.low), abs(self.high)) / self.step)

    @property
    def varies(self) -> exp.Expr:
        """The value."""
        return self.value

    def conditions(self) -> tuple[exp.Expr, ...]:
        """The value is there."""
        return (is_there(self.value),)

    def steps(self) -> exp.Expr:
        """What one joined row adds, in whole steps (BIGINT); NULL where the value is NULL."""
        bottom, top = int(self.low / self.step), int(self.high / self.step)
        if self.whole and self.step == 1:
            number: exp.Expr = exp.cast(self.value.copy(), exp.DataType.Type.BIGINT)
        else:
            double = (
                exp.cast(self.value.copy(), exp.DataType.Type.DOUBLE) if self.whole else bracket(self.value)
            )
            number = _round(double, self.step)
        clipped = case(
            (
                exp.LT(this=bracket(self.value), expression=_limit(self.low, self.whole)),
                whole_number(bottom),
            ),
            (exp.GT(this=bracket(self.value), expression=_limit(self.high, self.whole)), whole_number(top)),
            default=number,
        )
        return exp.cast(clipped, exp.DataType.Type.BIGINT)

    def size(self) -> exp.Expr:
        """|steps|."""
        return exp.Abs(this=self.steps())

    def total(self) -> exp.Expr:
        """The sum of the steps, cut."""
        contribution, kind = self.steps(), exp.DataType.build("BIGINT")
        if self.reach > SMALL_REACH:
            # Engines whose sums of integers have 64 bits would raise; decimals hold 38 digits.
            kind = exp.DataType.build("DECIMAL(38, 0)")
            contribution = exp.cast(contribution, kind)
        total = exp.Coalesce(this=exp.Sum(this=contribution), expressions=[exp.cast(whole_number(0), kind)])
        most, least = whole_number(LARGEST_ANSWER), whole_number(-LARGEST_ANSWER)
        return case(
            (exp.GT(this=total.copy(), expression=most), most),
            (exp.LT(this=total.copy(), expression=least), least),
            default=exp.cast(total, exp.DataType.Type.BIGINT),
        )

    def with_value(self, value: exp.Expr) -> BoundedSum:
        """The same clip and lattice over another expression."""
        return replace(self, value=value)


def read_sum(node: exp.Expr, expressions: Expressions) -> BoundedSum:
    """The sum of the one expression in the brackets of ``node``."""
    inner, text = read_argument(node, expressions), expressions.text
    value = expressions.number(inner)
    if value.kind == "null":
        text.wrong(node, "the sum of NULL is always NULL; sum a column")
    low, high, step = _lattice(node, value.range, text)
    # Whole numbers stay in the engine's integers; the rest are doubles, as in all arithmetic here.
    whole = value.kind == "integer"
    number = value if whole else as_double(value)
    return BoundedSum(number.expression, low, high, step, whole, f"SUM({inner.sql()})")


def _lattice(node: exp.Expr, known: Range, text: Text) -> tuple[Fraction, Fraction, Fraction]:
    if known.low is None or known.high is None or known.step is None:
        fields = ", ".join(known.missing)
        declare = (
            f"declare {fields} in the policy" if fields else "use + - *, CASE, COALESCE over bounded columns"
        )
        clip = "" if known.step is None else ", or clip: SUM(LEAST(GREATEST(x, 0), 100))"
        lacks = "bounds" if known.low is None or known.high is None else "granularity"
        text.wrong(node, f"a sum needs public {lacks}: {declare}{clip}")
    step = known.step or Fraction(1)
    low, high = (known.low // step) * step, -((-known.high) // step) * step
    if low == high == 0:
        text.wrong(node, "this sum is always 0")
    if max(abs(low), abs(high)) / step > MOST_STEPS or max(step.numerator, step.denominator) > MOST_STEPS:
        text.wrong(node, f"one row may add up to {max(abs(low), abs(high))} in steps of {step}: that is more than 2^50 "
                   "steps; declare narrower bounds or a coarser granularity")  # fmt: skip
    return low, high, step


def _round(double: exp.Expr, step: Fraction) -> exp.Expr:
    scaled = double if step.numerator == 1 else _without_dust(double)
    if step.denominator != 1:
        scaled = exp.Mul(this=scaled, expression=write_double(float(step.denominator)))
    if step.numerator != 1:
        scaled = exp.Div(this=bracket(scaled), expression=write_double(float(step.numerator)), typed=True)
    shifted = exp.Add(this=bracket(scaled), expression=write_double(0.5))
    return exp.cast(exp.Floor(this=shifted), exp.DataType.Type.BIGINT)


def _without_dust(double: exp.Expr) -> exp.Expr:
    """Zero in place of numbers so small that some engines raise when they are divided."""
    small = exp.and_(
        exp.GT(this=bracket(double), expression=write_double(-1e-200)),
        exp.LT(this=bracket(double), expression=write_double(1e-200)),
    )
    return case((small, write_double(0.0)), default=double)


def _limit(bound: Fraction, whole: bool) -> exp.Expr:
    if whole and bound.denominator == 1:
        return bracket(whole_number(int(bound)))
    return write_double(float(bound))


def _read(node: exp.Sum, expressions: Expressions) -> tuple[BoundedSum]:
    return (read_sum(node, expressions),)


SUM = Aggregate("sum", (exp.Sum,), _read, combine=take_number, radius=take_radius)
