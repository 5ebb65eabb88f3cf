"""Indicator: whether a category is one of some values; it is fixed before bounds are computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.algebra import Algebra, Term
from sordino.sensitivity.derivatives.node import Cells, Rates
from sordino.sensitivity.interval import Interval

Category = str | int | bool


@dataclass(frozen=True, slots=True)
class Indicator:
    """1 where the cell is one of the values, else 0.

    A category does not move, it jumps: `CellBounds` bounds the expression for every category by itself.
    """

    name: str
    values: frozenset[Category]

    @property
    def columns(self) -> frozenset[str]:
        """Its column."""
        return frozenset((self.name,))

    @property
    def range(self) -> Interval:
        """0 or 1."""
        return Interval(0.0, 1.0)

    @property
    def steepest(self) -> Mapping[str, float]:
        """A jump is steeper than any slope."""
        return {self.name: math.inf}

    @property
    def steady(self) -> bool:
        """No."""
        return False

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """Known once the category is fixed."""
        self._jump()

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """Known once the category is fixed."""
        self._jump()

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """Known once the category is fixed."""
        self._jump()

    def _jump(self) -> NoReturn:
        raise ParameterError(f"the category {self.name!r} has no slope: it is fixed first")
