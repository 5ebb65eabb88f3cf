"""Rebuilding expressions with some of their parts exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import singledispatch

from sordino.sensitivity.derivatives.build import (
    add_terms,
    apply,
    multiply_factors,
    take_extreme,
    take_length,
)
from sordino.sensitivity.derivatives.composition import Composition
from sordino.sensitivity.derivatives.extremes import Extreme
from sordino.sensitivity.derivatives.lengths import Length
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.derivatives.sum import WeightedSum

# What a part is exchanged for, or None if it stays.
Change = Callable[[CellFunction], CellFunction | None]


def exchange(node: CellFunction, change: Change) -> CellFunction:
    """The expression with every outermost part exchanged that ``change`` has something for."""
    found = change(node)
    return _rebuilt(node, change) if found is None else found


def walk(node: CellFunction) -> Iterator[CellFunction]:
    """An expression and all its parts."""
    yield node
    for part in parts_of(node):
        yield from walk(part)


@singledispatch
def _rebuilt(node: CellFunction, change: Change) -> CellFunction:
    return node  # a leaf


@_rebuilt.register
def _(node: WeightedSum, change: Change) -> CellFunction:
    return add_terms([(factor, exchange(part, change)) for factor, part in node.terms], node.constant)


@_rebuilt.register
def _(node: Product, change: Change) -> CellFunction:
    return multiply_factors([exchange(part, change) for part in node.factors])


@_rebuilt.register
def _(node: Composition, change: Change) -> CellFunction:
    return apply(node.function, exchange(node.inner, change))


@_rebuilt.register
def _(node: Extreme, change: Change) -> CellFunction:
    return take_extreme([exchange(part, change) for part in node.parts], largest=node.largest)


@_rebuilt.register
def _(node: Length, change: Change) -> CellFunction:
    return take_length([exchange(part, change) for part in node.parts], node.exponent)


@singledispatch
def parts_of(node: CellFunction) -> tuple[CellFunction, ...]:
    """What a node is made of; nothing for a leaf."""
    return ()


@parts_of.register
def _(node: WeightedSum) -> tuple[CellFunction, ...]:
    return tuple(part for _, part in node.terms)


@parts_of.register
def _(node: Product) -> tuple[CellFunction, ...]:
    return node.factors


@parts_of.register
def _(node: Composition) -> tuple[CellFunction, ...]:
    return (node.inner,)


@parts_of.register
def _(node: Extreme) -> tuple[CellFunction, ...]:
    return node.parts


@parts_of.register
def _(node: Length) -> tuple[CellFunction, ...]:
    return node.parts
