"""What is public in an expression: numbers, and columns that are not protected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term
from sordino.sensitivity.derivatives.node import Cells, Rates
from sordino.sensitivity.interval import Interval


@dataclass(frozen=True, slots=True)
class Number:
    """A number: its size is itself, and it has no slope."""

    number: float

    @property
    def columns(self) -> frozenset[str]:
        """None."""
        return frozenset()

    @property
    def range(self) -> Interval:
        """The number."""
        return Interval(self.number, self.number)

    @property
    def steepest(self) -> Mapping[str, float]:
        """No slope."""
        return {}

    @property
    def steady(self) -> bool:
        """Yes."""
        return True

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """The number."""
        return self.number

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """|k|; the report prints k."""
        return abs(self.number)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A column that is public: another number in every row, and the same in all databases that are compared."""

    name: str
    bounds: Interval

    @property
    def columns(self) -> frozenset[str]:
        """None that is private."""
        return frozenset()

    @property
    def range(self) -> Interval:
        """The declared bounds."""
        return self.bounds

    @property
    def steepest(self) -> Mapping[str, float]:
        """No slope."""
        return {}

    @property
    def steady(self) -> bool:
        """Yes."""
        return True

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """The cell."""
        return cells[self.name]

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """Its magnitude."""
        return algebra.absolute(cells[self.name])

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """None."""
        return {}
