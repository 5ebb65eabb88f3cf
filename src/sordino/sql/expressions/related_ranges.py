"""Ranges of expressions in which a column stands several times: x − x is 0, and x·x is no product of two numbers.

Where an interval alone takes every occurrence for a number of its own, an affine form remembers which is which. Both
hold for all cells within their public ranges, so the narrower end is taken. A sum clips to what is found here, as it
does to every interval: nothing but declared ranges and the text of the question goes in.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sensitivity.affine import AffineForm
from sordino.sql.expressions.value import Range

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions


def narrow_range(read: Expressions, node: exp.Expr, known: Range) -> Range:
    """The range of an expression, by what its parts have in common."""
    if known.low is None or known.high is None:
        return known
    form = _relate(read, node)
    if form is None:
        return known
    return replace(
        known,
        low=max(known.low, form.centre - form.radius),
        high=min(known.high, form.centre + form.radius),
    )


def _relate(read: Expressions, node: exp.Expr) -> AffineForm | None:
    """Sums and products by their parts; all else is a number of its own, known by its text. None without a range."""
    match node:
        case exp.Paren():
            return _relate(read, node.this)
        case exp.Neg():
            inner = _relate(read, node.this)
            return None if inner is None else -inner
        case exp.Add() | exp.Sub() | exp.Mul():
            one, two = _relate(read, node.this), _relate(read, node.expression)
            if one is None or two is None:
                return None
            if isinstance(node, exp.Mul):
                return _square(one) if one == two and one.terms else one * two
            return one + two if isinstance(node, exp.Add) else one - two
    found = read.value(node).range
    if found.low is None or found.high is None:
        return None
    radius = (found.high - found.low) / 2
    return AffineForm((found.low + found.high) / 2, {node.sql(comments=False): radius} if radius else {})


def _square(form: AffineForm) -> AffineForm:
    """x·x by the form of a product, or between the squares of its magnitudes if that is narrower."""
    low, high = form.centre - form.radius, form.centre + form.radius
    largest = max(low * low, high * high)
    smallest = Fraction(0) if low <= 0 <= high else min(low * low, high * high)
    product = form * form
    if product.radius <= (largest - smallest) / 2:
        return product
    return AffineForm((largest + smallest) / 2, {}, (largest - smallest) / 2)
