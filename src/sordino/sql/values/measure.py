"""ValueMeasure: one number of a question about values, in its continuous version."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.build import add_terms, multiply_factors
from sordino.sensitivity.derivatives.cell_bounds import CellBounds
from sordino.sensitivity.derivatives.composition import Composition
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.derivatives.rebuild import walk
from sordino.sql.aggregates import BoundedSum
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.values.evaluation_error import bound_evaluation_error
from sordino.sql.values.terms import SqlAlgebra, write_term

ValueKind = Literal["sum", "min", "max"]
# Terms are rounded to so many binary places below the largest there is.
_PLACES = 36
# A product of more exponentials, each at least e^(−60), may leave the range of doubles.
_MOST_FACTORS = 10
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class ValueMeasure:
    """The sum, least or largest of a function of cells over joined rows, in whole steps.

    ``function``: the term of a joined row, filters included: f·σ for SUM, σ for COUNT, and f + (1 − σ)Δ and
    f − (1 − σ)Δ for MIN and MAX, with Δ the width of f's public range. ``error``: how far the number of steps of a
    term, times the step, is from the exact term.
    """

    kind: ValueKind
    rounded: BoundedSum
    text: str = field(default="", compare=False)
    function: CellBounds = field(compare=False, kw_only=True)
    cells: dict[str, Any] = field(compare=False, kw_only=True)
    error: float = field(compare=False, kw_only=True)

    @property
    def step(self) -> Fraction:
        """A power of two."""
        return self.rounded.step

    @property
    def low(self) -> Fraction:
        """Of a term."""
        return self.rounded.low

    @property
    def high(self) -> Fraction:
        """Of a term."""
        return self.rounded.high

    @property
    def reach(self) -> int:
        """Of a term."""
        return self.rounded.reach

    @property
    def value(self) -> exp.Expr:
        """The term of a joined row."""
        return self.rounded.value

    @property
    def varies(self) -> exp.Expr:
        """The term."""
        return self.rounded.value

    @property
    def additive(self) -> bool:
        """Whether it is a sum."""
        return self.kind == "sum"

    def conditions(self) -> tuple[exp.Expr, ...]:
        """Terms are never NULL."""
        return ()

    def total(self) -> exp.Expr:
        """Whole steps; 0 over no rows."""
        if self.kind == "sum":
            return self.rounded.total()
        function = exp.Min if self.kind == "min" else exp.Max
        return exp.Coalesce(this=function(this=self.rounded.steps()), expressions=[whole_number(0)])

    def size(self) -> exp.Expr:
        """|term|."""
        return self.rounded.size()

    def identity(self) -> exp.Expr:
        """The total: least, largest and sum differ in it."""
        return self.total()

    def with_value(self, value: exp.Expr) -> ValueMeasure:
        """A term is bound to its function."""
        raise TypeError("the term of a question about values belongs to its function")


def make_measure(
    kind: ValueKind,
    function: CellFunction,
    filters: list[CellFunction],
    bounds_of: Any,
    cells: dict[str, Any],
    text: str,
) -> ValueMeasure:
    """The measure of a function over the rows that pass; ``bounds_of`` makes `CellBounds` of a function."""
    if kind == "sum":
        term = multiply_factors([function, *filters])
    else:
        width = function.range.width
        sign = 1.0 if kind == "min" else -1.0
        missed = add_terms([(-1.0, multiply_factors(filters))], 1.0) if filters else None
        term = function if missed is None else add_terms([(1.0, function), (sign * width, missed)])
    factors = sum(len(node.factors) for node in walk(term) if isinstance(node, Product))
    factors += sum(isinstance(node, Composition) for node in walk(term))
    if factors > _MOST_FACTORS:
        raise ParameterError(
            f"the expression multiplies and nests {factors} functions; {_MOST_FACTORS} are followed"
        )
    bounded: CellBounds = bounds_of(term)
    inside = bounded.range
    if not inside.largest < _LARGEST:
        raise ParameterError("the expression needs a public range: declare bounds of its columns")
    largest = max(inside.largest, 2.0**-60)
    step = Fraction(2) ** (math.ceil(math.log2(largest)) - _PLACES)
    low, high = (Fraction(inside.low) // step) * step, -((-Fraction(inside.high)) // step) * step
    value = write_term(bounded.value(SqlAlgebra(), cells))
    rounded = BoundedSum(value, low, max(high, low + step), step, False, text)
    error = float(step) / 2 * (1 + 2.0**-30) + bound_evaluation_error(bounded)
    return ValueMeasure(kind, rounded, text, function=bounded, cells=cells, error=error)
