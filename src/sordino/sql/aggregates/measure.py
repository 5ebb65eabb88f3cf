"""Measure: one number that is asked of a join.

Most are totals of what every joined row adds to them. The question computes `total`, the analysis bounds what a row can
change by `size`, and both go by the same rule for which rows count at all (`conditions`), so that what is bounded is
what is asked. A value that is chosen by its rank (`ranked`) is no total: there `total` is the number of rows that have
a rank, and one row changes the rows up to any point by one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, Self

from sqlglot import exp

# Totals of larger contributions could leave 64 bits with a number of rows that exists.
SMALL_REACH = 2**20
# Sums are cut here: cutting moves no two of them further apart, so no row changes an answer by more than twice this.
# A count is not cut: an engine that looked at a billion combinations in a second would be at it for a century.
LARGEST_ANSWER = 2**62
LARGEST_CHANGE = 2 * LARGEST_ANSWER


class Measure(Protocol):
    """A whole number of ``step``; every row adds at most `reach` steps to the total, up or down.

    Two measures are equal if they are the same number, whatever text asked for them.
    """

    @property
    def step(self) -> Fraction:
        """The lattice of the answer."""

    @property
    def low(self) -> Fraction:
        """The least that one joined row adds, or holds where a value is chosen."""

    @property
    def high(self) -> Fraction:
        """The most that one joined row adds or holds."""

    @property
    def text(self) -> str:
        """As it was asked."""

    @property
    def reach(self) -> int:
        """The most steps that one joined row can add or take away."""

    @property
    def value(self) -> exp.Expr | None:
        """What is summed, or what must be there to be counted; None where every joined row counts."""

    @property
    def additive(self) -> bool:
        """Whether the number is a sum over joined rows; otherwise only rows of one table are bounded by `reach`."""

    @property
    def varies(self) -> exp.Expr | None:
        """What decides how much a joined row adds; None where each row that counts adds the same."""

    def conditions(self) -> tuple[exp.Expr, ...]:
        """A joined row counts only where these are TRUE."""

    def total(self) -> exp.Expr:
        """The exact number of steps over all joined rows, a BIGINT, within ±`LARGEST_ANSWER`; 0 over no rows."""

    def size(self) -> exp.Expr:
        """|what a joined row adds| in steps (BIGINT), at most `reach`."""

    def identity(self) -> exp.Expr:
        """A tree that differs from that of every other measure of its kind with the same bounds and step."""

    def with_value(self, value: exp.Expr) -> Self:
        """The same over another expression: columns get other names in an analysis."""


def is_there(value: exp.Expr) -> exp.Expr:
    """The condition that a value is not NULL: engines disagree with themselves on values made of NULLs."""
    return exp.Not(this=exp.Is(this=exp.paren(value), expression=exp.null()))


def whole_number(value: int) -> exp.Expr:
    """A literal."""
    return exp.Literal.number(value)
