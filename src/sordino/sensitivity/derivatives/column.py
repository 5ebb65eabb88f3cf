"""Private columns: a cell, its logarithm, and powers of a cell that is measured by its logarithm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sordino.sensitivity.derivatives.algebra import Algebra, Term, decay, lift, lift_constant
from sordino.sensitivity.derivatives.functions import raise_smoothly
from sordino.sensitivity.derivatives.node import Cells, Rates
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class PlainColumn:
    """x for a cell x within its bounds. Its slope is 1."""

    name: str
    bounds: Interval

    @property
    def columns(self) -> frozenset[str]:
        """Itself."""
        return frozenset((self.name,))

    @property
    def range(self) -> Interval:
        """Its bounds."""
        return self.bounds

    @property
    def steepest(self) -> Mapping[str, float]:
        """1."""
        return {self.name: 1.0}

    @property
    def steady(self) -> bool:
        """Yes."""
        return True

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """The cell."""
        return cells[self.name]

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """That of the first power."""
        magnitude = algebra.absolute(cells[self.name])
        return raise_smoothly(algebra, magnitude, 1.0, rates[self.name], self.bounds.magnitude())

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """1."""
        return {self.name: 1.0}


@dataclass(frozen=True, slots=True)
class LogColumn:
    """ln x for a cell x that is measured by its logarithm: its slope per unit of ln x is 1."""

    name: str
    bounds: Interval

    @property
    def columns(self) -> frozenset[str]:
        """Itself."""
        return frozenset((self.name,))

    @property
    def range(self) -> Interval:
        """The logarithms of the bounds."""
        return self.bounds.increasing(math.log)

    @property
    def steepest(self) -> Mapping[str, float]:
        """1."""
        return {self.name: 1.0}

    @property
    def steady(self) -> bool:
        """Yes."""
        return True

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """The logarithm of the cell."""
        return algebra.ln(cells[self.name])

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """That of the first power."""
        magnitude = algebra.absolute(self.value(algebra, cells))
        return raise_smoothly(algebra, magnitude, 1.0, rates[self.name], self.range.magnitude())

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """1."""
        return {self.name: 1.0}


@dataclass(frozen=True, slots=True)
class LogPower:
    """x^s for a cell x that is measured by its logarithm: e^(s·ln x), whose slope per unit of ln x is |s|·x^s.

    It is |s|-smooth by itself; at a smaller rate by the end of the bounds where it is largest. Exact.
    """

    name: str
    bounds: Interval
    exponent: float

    @property
    def columns(self) -> frozenset[str]:
        """Its column."""
        return frozenset((self.name,))

    @property
    def range(self) -> Interval:
        """By the ends."""
        ends = [end**self.exponent for end in (self.bounds.low, self.bounds.high)]
        return Interval(max(widen(min(ends), -math.inf), 0.0), widen(max(ends), math.inf))

    @property
    def steepest(self) -> Mapping[str, float]:
        """|s| times the largest value."""
        return {self.name: widen(abs(self.exponent) * self.range.high, math.inf)}

    @property
    def steady(self) -> bool:
        """No."""
        return False

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """x^s."""
        cell = cells[self.name]
        return cell if self.exponent == 1 else algebra.power(cell, self.exponent)

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """The power itself, or the end's, falling at the rate."""
        rate = rates[self.name]
        if abs(self.exponent) <= rate:
            return self.value(algebra, cells)
        end = self.bounds.high if self.exponent > 0 else self.bounds.low
        if math.isinf(end):
            return math.inf
        away = algebra.absolute(algebra.ln(cells[self.name]) - math.log(end))
        return decay(algebra, rate * away) * lift_constant(end**self.exponent)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """|s| times the size."""
        return {self.name: abs(self.exponent) * lift(algebra, self.size(algebra, cells, rates))}
