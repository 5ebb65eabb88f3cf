"""How far a function of cells, computed in doubles by an engine, can be from its exact value."""

from __future__ import annotations

from functools import singledispatch

from sordino.sensitivity.derivatives.cell_bounds import CellBounds
from sordino.sensitivity.derivatives.column import LogPower
from sordino.sensitivity.derivatives.composition import Composition
from sordino.sensitivity.derivatives.extremes import Extreme
from sordino.sensitivity.derivatives.lengths import Length, NormLength
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.derivatives.sum import WeightedSum

# One operation, with a wide margin: engines' exponentials, powers and logarithms are right to a few units.
_UNIT = 2.0**-49
# What the floors and guards of exponentials and powers change.
_GUARDS = 1e-25


def bound_evaluation_error(cells: CellBounds) -> float:
    """The largest over all categories."""
    return max(_error(root) for root in cells.cases.values())


@singledispatch
def _error(node: CellFunction) -> float:
    return _UNIT * node.range.largest + _GUARDS  # a leaf: rounded once or twice


@_error.register
def _(node: LogPower) -> float:
    # the cell is a double near its lattice, and a power multiplies what it is off by
    return _UNIT * (2 + abs(node.exponent)) * node.range.largest + _GUARDS


@_error.register
def _(node: WeightedSum) -> float:
    sizes = abs(node.constant) + sum(abs(factor) * part.range.largest for factor, part in node.terms)
    own = sum(abs(factor) * _error(part) for factor, part in node.terms)
    return own + (len(node.terms) + 2) * _UNIT * sizes


@_error.register
def _(node: Product) -> float:
    size, error = 1.0, 0.0
    for part in node.factors:
        largest, own = part.range.largest, _error(part)
        error = error * (largest + own) + size * own + _UNIT * size * largest
        size *= largest
    return error


@_error.register
def _(node: Composition) -> float:
    outer = node.function.steepest(node.inner.range)
    return 2 * outer * _error(node.inner) + 8 * _UNIT * node.range.largest + _GUARDS


@_error.register
def _(node: Extreme) -> float:
    return max(_error(part) for part in node.parts)


@_error.register
def _(node: Length) -> float:
    # |‖f‖_p − ‖g‖_p| ≤ ‖f − g‖_p ≤ the sum of the differences
    return sum(_error(part) for part in node.parts) + 16 * _UNIT * node.range.largest + _GUARDS


@_error.register
def _(node: NormLength) -> float:
    return _error(node.length)
