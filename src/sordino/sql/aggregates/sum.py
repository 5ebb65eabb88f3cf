"""SUM(x): every joined row adds x, clipped into public bounds and rounded to a whole number of public steps.

Sums of integers do not depend on the order of rows, so engines that agree row by row (`lattice`) agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, read_argument, take_first
from sordino.sql.aggregates.lattice import Lattice, read_lattice
from sordino.sql.aggregates.measure import LARGEST_ANSWER, SMALL_REACH, is_there, whole_number
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.value import case


@dataclass(frozen=True, slots=True)
class BoundedSum:
    """The sum of ``value`` over joined rows; NULL adds nothing.

    A row adds ⌊clip(value, low, high)/step + ½⌋ steps, so the answer is a whole number of ``step`` and the same on
    every engine. ``low`` and ``high`` are whole multiples of ``step``. ``whole``: the value is in the engine's
    integers, not in doubles. ``inner``: nobody asked for this sum, another aggregate is made of it.
    """

    value: exp.Expr
    low: Fraction
    high: Fraction
    step: Fraction = Fraction(1)
    whole: bool = False
    text: str = field(default="", compare=False)
    inner: bool = field(default=False, compare=False)
    additive: ClassVar[bool] = True

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

    @property
    def lattice(self) -> Lattice:
        """What a row adds, apart from the adding."""
        return Lattice(self.value, self.low, self.high, self.step, self.whole)

    def steps(self) -> exp.Expr:
        """What one joined row adds, in whole steps (BIGINT); NULL where the value is NULL."""
        return self.lattice.steps()

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

    def identity(self) -> exp.Expr:
        """The sum."""
        return self.total()

    def with_value(self, value: exp.Expr) -> BoundedSum:
        """The same clip and lattice over another expression."""
        return replace(self, value=value)


def read_sum(node: exp.Expr, expressions: Expressions) -> BoundedSum:
    """The sum of the one expression in the brackets of ``node``."""
    inner = read_argument(node, expressions)
    found = read_lattice(node, inner, expressions, "a sum")
    if found.low == found.high == 0:
        expressions.text.wrong(node, "this sum is always 0")
    return BoundedSum(found.value, found.low, found.high, found.step, found.whole, f"SUM({inner.sql()})")


def _read(node: exp.Sum, expressions: Expressions) -> tuple[BoundedSum]:
    return (read_sum(node, expressions),)


SUM = Aggregate("sum", (exp.Sum,), _read, combine=take_first)
