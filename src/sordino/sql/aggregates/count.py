"""COUNT(*) and COUNT(x): every joined row adds one, if x is there; COUNT(DISTINCT x) is read in `distinct`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, read_argument, take_first
from sordino.sql.aggregates.distinct import DistinctCount, read_distinct
from sordino.sql.aggregates.measure import is_there, whole_number
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.value import case
from sordino.sql.text import check_parts


@dataclass(frozen=True, slots=True)
class RowCount:
    """The number of joined rows, or of those where ``value`` is not NULL."""

    value: exp.Expr | None = None
    text: str = field(default="COUNT(*)", compare=False)
    step: ClassVar[Fraction] = Fraction(1)
    low: ClassVar[Fraction] = Fraction(0)
    high: ClassVar[Fraction] = Fraction(1)
    reach: ClassVar[int] = 1
    varies: ClassVar[None] = None
    additive: ClassVar[bool] = True

    def conditions(self) -> tuple[exp.Expr, ...]:
        """The value is there."""
        return () if self.value is None else (is_there(self.value),)

    def total(self) -> exp.Expr:
        """COUNT, in 64 bits."""
        counted = exp.Star() if self.value is None else case((is_there(self.value), whole_number(1)))
        return exp.Count(this=counted, big_int=True)

    def size(self) -> exp.Expr:
        """One."""
        return whole_number(1)

    def identity(self) -> exp.Expr:
        """The number."""
        return self.total()

    def with_value(self, value: exp.Expr) -> RowCount:
        """Counts rows where another value is there."""
        return replace(self, value=value)


def count_where_there(value: exp.Expr, text: str, expressions: Expressions) -> RowCount:
    """COUNT(x), which is COUNT(*) where x is a column that is never NULL: one number, paid for once."""
    filled = isinstance(value, exp.Column) and (value.table, value.name) in expressions.filled
    return RowCount(None if filled else value, text)


def _read(node: exp.Count, expressions: Expressions) -> tuple[RowCount | DistinctCount]:
    if isinstance(node.this, exp.Distinct):
        return (read_distinct(node, expressions),)
    inner, text = read_argument(node, expressions), expressions.text
    if isinstance(inner, exp.Star):
        check_parts(text, inner, (), "write COUNT(*)")
        return (RowCount(),)
    value = expressions.value(inner)
    if value.kind == "null":
        text.wrong(node, "COUNT(NULL) is always 0; write COUNT(*)")
    asked = f"COUNT({inner.sql()})"
    if value.constant is not None:
        return (RowCount(None, asked),)
    return (count_where_there(value.expression, asked, expressions),)


COUNT = Aggregate("count", (exp.Count,), _read, combine=take_first)
