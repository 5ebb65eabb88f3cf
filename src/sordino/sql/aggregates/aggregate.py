"""Aggregate: a function such as SUM, as what has to be measured for it and how released numbers make its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from sordino.sql.aggregates.measure import Measure
from sordino.sql.expressions import Expressions
from sordino.sql.known import Known
from sordino.sql.text import check_parts


@dataclass(frozen=True, slots=True)
class Part:
    """A released number of one measure, and the radius that 95 % of its noise stays within, if that is known."""

    measure: Measure
    number: Fraction
    radius: Fraction | None = None

    @property
    def known(self) -> Known:
        """For calculating with it: a whole number where its step is whole."""
        number = int(self.number) if self.measure.step.denominator == 1 else self.number
        return Known.about(number, self.radius)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG and those to come: what is measured for it, and what is made of the released numbers.

    ``nodes``: how the parser calls it, and ``accepts`` which of these it is. ``read``: the measures that it needs, or a
    refusal; each says its exact statement and its size. ``combine``: the value from the released parts, in the order of
    ``read``, and where the exact one lies while all parts are within their radii: post-processing, free of cost.
    """

    name: str
    nodes: tuple[type[exp.Expr], ...]
    read: Callable[[Any, Expressions], tuple[Measure, ...]]
    combine: Callable[[Sequence[Part]], Known]
    accepts: Callable[[exp.Expr], bool] = lambda node: True
    kind: Literal["number", "list"] = "number"


def read_argument(node: exp.Expr, expressions: Expressions) -> exp.Expr:
    """The one expression in the brackets."""
    text, name = expressions.text, type(node).__name__.upper()
    check_parts(text, node, ("this", "big_int"), f"{name} takes one expression")
    if node.this is None or node.this == "":
        text.refuse(node, f"{name} takes one expression")
    inner: exp.Expr = node.this
    if isinstance(inner, exp.Distinct):
        text.refuse(node, "different values can be counted, COUNT(DISTINCT x), and nothing else is made of them",
                    keyword="DISTINCT")  # fmt: skip
    return inner


def take_first(parts: Sequence[Part]) -> Known:
    """The first part as it is."""
    return parts[0].known
