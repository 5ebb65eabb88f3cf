"""COUNT(DISTINCT x): how many different values there are, NULL aside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from sordino.sql.aggregates.measure import is_there, whole_number
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.value import case
from sordino.sql.text import check_parts

# Two values of these kinds are equal on one engine if and only if they are on all. Floats have two zeros and NaN.
COUNTED_KINDS = ("text", "integer", "boolean", "date", "decimal")


@dataclass(frozen=True, slots=True)
class DistinctCount:
    """The number of different values of ``value`` among joined rows.

    **Guarantee**: one row more of the only table adds one value or none (`reach`), whatever the other rows are. Over a
    join one row may bring in, or take away, as many values as it meets rows: it is no sum over joined rows.
    """

    value: exp.Expr
    text: str = field(default="", compare=False)
    step: ClassVar[Fraction] = Fraction(1)
    low: ClassVar[Fraction] = Fraction(0)
    high: ClassVar[Fraction] = Fraction(1)
    reach: ClassVar[int] = 1
    varies: ClassVar[None] = None
    additive: ClassVar[bool] = False

    def conditions(self) -> tuple[exp.Expr, ...]:
        """The value is there."""
        return (is_there(self.value),)

    def total(self) -> exp.Expr:
        """COUNT(DISTINCT …), in 64 bits."""
        return exp.Count(this=exp.Distinct(expressions=[write_counted(self.value)]), big_int=True)

    def size(self) -> exp.Expr:
        """One."""
        return whole_number(1)

    def identity(self) -> exp.Expr:
        """The number."""
        return self.total()

    def with_value(self, value: exp.Expr) -> DistinctCount:
        """Counts different values of another expression."""
        return replace(self, value=value)


def write_counted(value: exp.Expr) -> exp.Expr:
    """The value as it is told apart from others: nothing but NULL where it is NULL."""
    return case((is_there(value), value.copy()))


def read_distinct(node: exp.Count, expressions: Expressions) -> DistinctCount:
    """The one expression behind DISTINCT."""
    text = expressions.text
    check_parts(text, node, ("this", "big_int"), "COUNT takes one expression")
    check_parts(text, node.this, ("expressions",), "write COUNT(DISTINCT x)")
    if len(node.this.expressions) != 1:
        text.refuse(node, "COUNT(DISTINCT x) takes one expression", keyword="DISTINCT")
    inner = node.this.expressions[0]
    value = expressions.value(inner)
    if value.constant is not None or value.kind == "null":
        text.wrong(node, "there is at most one such value; write COUNT(DISTINCT column)")
    if value.kind not in COUNTED_KINDS:
        text.refuse(node, f"values of type {value.kind} differ in other ways on other engines; count those of type "
                    + ", ".join(COUNTED_KINDS), keyword="DISTINCT")  # fmt: skip
    return DistinctCount(value.expression, f"COUNT(DISTINCT {inner.sql()})")
