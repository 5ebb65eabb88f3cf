"""Aggregate: a function such as SUM, as what has to be measured for it and how released numbers make its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.sql.aggregates.measure import Measure
from sordino.sql.expressions import Expressions
from sordino.sql.text import check_parts


@dataclass(frozen=True, slots=True)
class Part:
    """A released number of one measure, and the radius that 95 % of its noise stays within, if that is known."""

    measure: Measure
    number: Fraction
    radius: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG and those to come: what is measured for it, and what is made of the released numbers.

    ``nodes``: how the parser calls it. ``read``: the measures that it needs, or a refusal; each says its exact
    statement and its size. ``combine``: the value from the released parts, in the order of ``read``: post-processing,
    free of cost. ``radius``: the 95 % radius of that value, None if there is none to be had from the parts.
    """

    name: str
    nodes: tuple[type[exp.Expr], ...]
    read: Callable[[Any, Expressions], tuple[Measure, ...]]
    combine: Callable[[Sequence[Part]], int | float | None]
    radius: Callable[[Sequence[Part]], float | None] | None = None


def read_argument(node: exp.Expr, expressions: Expressions) -> exp.Expr:
    """The one expression in the brackets."""
    text, name = expressions.text, type(node).__name__.upper()
    check_parts(text, node, ("this", "big_int"), f"{name} takes one expression")
    if node.this is None or node.this == "":
        text.refuse(node, f"{name} takes one expression")
    inner: exp.Expr = node.this
    if isinstance(inner, exp.Distinct):
        text.refuse(node, "distinct values cannot be counted; group by a column with a declared domain and count rows",
                    keyword="DISTINCT")  # fmt: skip
    return inner


def take_number(parts: Sequence[Part]) -> int | float:
    """The first part as it is: an int where its step is whole."""
    part = parts[0]
    return int(part.number) if part.measure.step.denominator == 1 else float(part.number)


def take_radius(parts: Sequence[Part]) -> float | None:
    """The radius of the first part."""
    return None if parts[0].radius is None else float(parts[0].radius)
