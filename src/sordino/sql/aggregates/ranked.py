"""RankedValue: a number that is chosen by its rank among the values of joined rows, not summed over them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from sordino.sql.aggregates.lattice import Lattice
from sordino.sql.aggregates.measure import is_there, whole_number
from sordino.sql.expressions.value import case


@dataclass(frozen=True, slots=True)
class RankedValue:
    """The q-quantile of the values on ``lattice`` among joined rows, NULL aside: 0 for the least, 1 for the greatest.

    The answer is a point of the lattice near the rank; it is drawn from how many rows lie at every point, so what one
    row changes is one of these counts, by one (`reach`).
    """

    lattice: Lattice
    q: Fraction
    text: str = field(default="", compare=False)
    reach: ClassVar[int] = 1
    varies: ClassVar[None] = None
    additive: ClassVar[bool] = False

    @property
    def value(self) -> exp.Expr:
        """What is ranked."""
        return self.lattice.value

    @property
    def step(self) -> Fraction:
        """That of the lattice."""
        return self.lattice.step

    @property
    def low(self) -> Fraction:
        """The least point."""
        return self.lattice.low

    @property
    def high(self) -> Fraction:
        """The greatest point."""
        return self.lattice.high

    @property
    def is_extreme(self) -> bool:
        """Whether it is the least or the greatest value."""
        return self.q in (0, 1)

    def conditions(self) -> tuple[exp.Expr, ...]:
        """The value is there."""
        return (is_there(self.value),)

    def total(self) -> exp.Expr:
        """The number of rows that have a rank."""
        return exp.Count(this=case((is_there(self.value), whole_number(1))), big_int=True)

    def size(self) -> exp.Expr:
        """One."""
        return whole_number(1)

    def identity(self) -> exp.Expr:
        """The rank and the place of a row on the lattice."""
        return exp.Anonymous(this="rank", expressions=[exp.Literal.string(str(self.q)), self.lattice.steps()])

    def with_value(self, value: exp.Expr) -> RankedValue:
        """The same rank on the same lattice, of another expression."""
        return replace(self, lattice=replace(self.lattice, value=value))
