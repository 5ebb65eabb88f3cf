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
from sordino.sensitivity.derivatives.constant import Number
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.derivatives.rebuild import walk
from sordino.sensitivity.derivatives.sum import WeightedSum
from sordino.sql.aggregates import BoundedSum
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.values.evaluation_error import bound_evaluation_error
from sordino.sql.values.joined import name_cells
from sordino.sql.values.stages import write_whole
from sordino.sql.values.terms import SqlAlgebra

ValueKind = Literal["sum", "min", "max"]
# Terms are rounded to so many binary places below the largest there is.
_PLACES = 36
# A product of more exponentials, each at least e^(−60), may leave the range of doubles.
_MOST_FACTORS = 10
_LARGEST = 1e100
# Of numbers in an expression, and of slopes per unit of the norms: beyond these the noise is without any use.
_SMALLEST_FACTOR = 1e-100
_STEEPEST = 1e25


@dataclass(frozen=True, slots=True)
class ValueMeasure:
    """The sum, least or largest of a function of cells over joined rows, in whole steps.

    ``function``: the term of a joined row, filters included: f·σ for SUM, σ for COUNT, and f + (1 − σ)Δ and
    f − (1 − σ)Δ for MIN and MAX, with Δ the width of f's public range. ``rounded``: it as whole steps, of cells by
    their names in `write_joined`, and ``term`` that before rounding. ``error``: how far the number of steps of a term,
    times the step, is from the exact term. ``public``: nothing protected is in it.
    """

    kind: ValueKind
    rounded: BoundedSum
    text: str = field(default="", compare=False)
    function: CellBounds = field(compare=False, kw_only=True)
    cells: dict[str, Any] = field(compare=False, kw_only=True)
    term: Any = field(compare=False, kw_only=True)
    error: float = field(compare=False, kw_only=True)
    public: bool = field(default=False, compare=False, kw_only=True)

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

    def total(self, value: exp.Expr | None = None) -> exp.Expr:
        """Whole steps, of the value or of a column that holds it; over no rows the end of the range, as where no row
        passes."""
        rounded = self.rounded if value is None else self.rounded.with_value(value)
        if self.kind == "sum":
            return rounded.total()
        function = exp.Min if self.kind == "min" else exp.Max
        return exp.Coalesce(this=function(this=rounded.steps()), expressions=[whole_number(self.nothing)])

    @property
    def nothing(self) -> int:
        """The number of steps over no rows: as where no row passes, the least is above and the largest below all."""
        if self.kind == "sum":
            return 0
        return int((self.high if self.kind == "min" else self.low) / self.step)

    def size(self) -> exp.Expr:
        """|term|."""
        return self.rounded.size()

    def identity(self) -> exp.Expr:
        """The total, where least, largest and sum differ, with what every cell is in the place of its name."""
        trees = {f"cell_{place}": cell.tree for place, cell in enumerate(self.cells.values())}

        def read(node: exp.Expr) -> exp.Expr:
            return trees[node.name].copy() if isinstance(node, exp.Column) and not node.table else node

        return self.total().transform(read)

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
    *,
    rows_are_public: bool = False,
) -> ValueMeasure:
    """The measure of a function over the rows that pass; ``bounds_of`` makes `CellBounds` of a function."""
    if kind == "sum":
        term = multiply_factors([function, *filters])
    else:
        width = find_width(function)
        sign = 1.0 if kind == "min" else -1.0
        missed = add_terms([(-1.0, multiply_factors(filters))], 1.0) if filters else None
        term = function if missed is None else add_terms([(1.0, function), (sign * width, missed)])
    bounded: CellBounds = bounds_of(term)
    factors = max(_count_factors(root) for root in bounded.cases.values())
    if factors > _MOST_FACTORS:
        raise ParameterError(
            f"the expression multiplies and nests {factors} functions; {_MOST_FACTORS} are followed"
        )
    inside = bounded.range
    if not inside.largest < _LARGEST:
        raise ParameterError("the expression needs a public range: declare bounds of its columns")
    for root in bounded.cases.values():
        for node in walk(root):
            _check_magnitudes(node)
    if not bounded.largest_slope() < _STEEPEST:
        raise ParameterError(
            f"one unit of the norm may change the expression by more than {_STEEPEST:g}: declare narrower bounds, or "
            "write it without parts so steep"
        )
    largest = max(inside.largest, 2.0**-60)
    # the number of rows, where contents alone are protected
    public = rows_are_public and kind == "sum" and isinstance(term, Number) and term.number == 1
    step = Fraction(1) if public else Fraction(2) ** (math.ceil(math.log2(largest)) - _PLACES)
    low, high = (Fraction(inside.low) // step) * step, -((-Fraction(inside.high)) // step) * step
    value = bounded.value(SqlAlgebra(), name_cells(cells))
    rounded = BoundedSum(write_whole(value), low, max(high, low + step), step, False, text)
    error = float(step) / 2 * (1 + 2.0**-30) + bound_evaluation_error(bounded)
    return ValueMeasure(
        kind, rounded, text, function=bounded, cells=cells, term=value, error=error, public=public
    )


def find_width(function: CellFunction) -> float:
    """Δ: how far a row that does not pass is moved beyond all others. Of the public range, never of the rows."""
    return function.range.width


def _count_factors(root: CellFunction) -> int:
    """How many functions are multiplied and nested."""
    nodes = list(walk(root))
    factors = sum(len(node.factors) for node in nodes if isinstance(node, Product))
    return factors + sum(isinstance(node, Composition) for node in nodes)


def _check_magnitudes(node: CellFunction) -> None:
    """Raise where some cells, inside their bounds, could drive a part beyond the range of doubles.

    Sizes are at most those of ranges, and slopes those of `steepest`: what is checked here is never exceeded by what an
    engine computes, whatever rows there are. A minimum of a huge number and 1 is small, but the number is computed.
    """
    sizes = [node.range.largest, *node.steepest.values()]
    if isinstance(node, WeightedSum):
        sizes += [abs(factor) * part.range.largest for factor, part in node.terms]
        if any(abs(factor) < _SMALLEST_FACTOR for factor, _ in node.terms):
            raise ParameterError(f"a number in the expression is smaller than {_SMALLEST_FACTOR:g}")
    if isinstance(node, Product):
        sizes.append(math.prod(max(part.range.largest, 1.0) for part in node.factors))
    if not max(sizes) < _LARGEST:
        raise ParameterError(
            f"a part of the expression may be larger than {_LARGEST:g} or as steep: declare narrower bounds of its "
            "columns, or write it with smaller parts"
        )
