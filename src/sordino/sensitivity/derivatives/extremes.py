"""Extreme: the smallest or the largest of several functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sordino.sensitivity.derivatives.algebra import Algebra, Term, largest_of
from sordino.sensitivity.derivatives.node import CellFunction, Cells, Rates, largest_slopes
from sordino.sensitivity.interval import Interval


@dataclass(frozen=True, slots=True)
class Extreme:
    """min or max of functions: slopes by the largest entry, at ties the steeper side.

    The size is the largest; of a minimum the smallest, but only if no function is below 0: the rule min⊥S of Figure 41
    bounds |min(−5, 1)| = 5 by 1.
    """

    parts: tuple[CellFunction, ...]
    largest: bool
    range: Interval = field(init=False, compare=False, repr=False)
    steepest: Mapping[str, float] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", self._range())
        object.__setattr__(self, "steepest", self._steepest())

    @property
    def columns(self) -> frozenset[str]:
        """Of all parts."""
        return frozenset().union(*(part.columns for part in self.parts))

    def _range(self) -> Interval:
        """By the ends."""
        choose = max if self.largest else min
        ranges = [part.range for part in self.parts]
        return Interval(choose(one.low for one in ranges), choose(one.high for one in ranges))

    def _steepest(self) -> Mapping[str, float]:
        """The largest."""
        total: dict[str, float] = {}
        for part in self.parts:
            for name, bound in part.steepest.items():
                total[name] = max(total.get(name, 0.0), bound)
        return total

    @property
    def steady(self) -> bool:
        """If all parts are."""
        return all(part.steady for part in self.parts)

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """The smallest or largest."""
        return self._choose(algebra, [part.value(algebra, cells) for part in self.parts], self.largest)

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """The largest size, or the smallest."""
        sizes = [part.size(algebra, cells, rates) for part in self.parts]
        smallest = not self.largest and all(part.range.low >= 0 for part in self.parts)
        return self._choose(algebra, sizes, not smallest)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """The largest, entry by entry."""
        return largest_slopes(algebra, [part.slopes(algebra, cells, rates) for part in self.parts])

    @staticmethod
    def _choose(algebra: Algebra, terms: list[Term], largest: bool) -> Term:
        return largest_of(algebra, terms) if largest else -largest_of(algebra, [-term for term in terms])
