"""Lattice: an expression as a whole number of public steps within public bounds, row by row and alike on all engines.

Numerics. Every joined row has a whole number of steps, computed from its own values: integers with a step of 1 in the
engine's integers, everything else in doubles by v·q/p + ½ rounded down, for a step of p/q whose parts are exact
doubles. All engines do these IEEE operations alike, so they agree row by row. Values that are clipped do not reach the
division. |steps| ≤ 2⁵⁰, so rounding cannot push a row beyond its clip, and 64 bits have room to spare.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.related_ranges import narrow_range
from sordino.sql.expressions.value import Range, as_double, bracket, case
from sordino.sql.text import Text

# A row's number of steps stays exact in doubles, with room for the half that rounding adds.
MOST_STEPS = 2**50


@dataclass(frozen=True, slots=True)
class Lattice:
    """``value`` as ⌊clip(value, low, high)/step + ½⌋ steps; NULL stays NULL.

    ``low`` and ``high`` are whole multiples of ``step``. ``whole``: the value is in the engine's integers, not in
    doubles.
    """

    value: exp.Expr
    low: Fraction
    high: Fraction
    step: Fraction = Fraction(1)
    whole: bool = False

    @property
    def first(self) -> int:
        """The least number of steps."""
        return int(self.low / self.step)

    @property
    def points(self) -> int:
        """How many numbers of steps there are."""
        return int(self.high / self.step) - self.first + 1

    def steps(self) -> exp.Expr:
        """The number of steps of one joined row (BIGINT); NULL where the value is NULL."""
        bottom, top = self.first, int(self.high / self.step)
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


def read_lattice(node: exp.Expr, inner: exp.Expr, expressions: Expressions, what: str) -> Lattice:
    """The lattice of the expression ``inner`` of the aggregate ``node``; ``what`` needs it: "a sum"."""
    text, value = expressions.text, expressions.value(inner)
    if value.kind in ("date", "timestamp"):
        day = inner.sql(comments=False)
        day = day if value.kind == "date" else f"CAST({day} AS DATE)"
        text.wrong(
            inner, f"{what} needs a number, this is a {value.kind}: ask about days, {day} - DATE '2020-01-01'"
        )
    value = expressions.number(inner)
    if value.kind == "null":
        text.wrong(node, f"{what} of NULL is always NULL; name a column")
    low, high, step = _bounds(node, narrow_range(expressions, inner, value.range), text, what)
    # Whole numbers stay in the engine's integers; the rest are doubles, as in all arithmetic here.
    whole = value.kind == "integer"
    number = value if whole else as_double(value)
    return Lattice(number.expression, low, high, step, whole)


def _bounds(node: exp.Expr, known: Range, text: Text, what: str) -> tuple[Fraction, Fraction, Fraction]:
    if known.low is None or known.high is None or known.step is None:
        fields = ", ".join(known.missing)
        lacks = "bounds" if known.low is None or known.high is None else "granularity"
        if fields:
            declare = f"declare {fields} in the policy"
        elif lacks == "bounds":
            declare = "use + - *, CASE, COALESCE over bounded columns, and / by what is never 0"
        else:
            declare = "round it: ROUND(x, 2)"
        clip = "" if known.step is None else ", or clip: LEAST(GREATEST(x, 0), 100)"
        text.wrong(node, f"{what} needs public {lacks}: {declare}{clip}")
    step = known.step or Fraction(1)
    low, high = (known.low // step) * step, -((-known.high) // step) * step
    if max(abs(low), abs(high)) / step > MOST_STEPS or max(step.numerator, step.denominator) > MOST_STEPS:
        text.wrong(node, f"one row may hold up to {max(abs(low), abs(high))} in steps of {step}: that is more than "
                   "2^50 steps; declare narrower bounds or a coarser granularity")  # fmt: skip
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
