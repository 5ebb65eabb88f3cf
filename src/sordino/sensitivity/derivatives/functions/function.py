"""Elementary: a function of one number with its smooth bounds."""

from __future__ import annotations

from typing import Protocol

from sordino.sensitivity.derivatives.algebra import Algebra, Term
from sordino.sensitivity.interval import Interval


class Elementary(Protocol):
    """φ on a public interval.

    `size` and `slope` are b-smooth upper bounds of |φ| and |φ'| for every rate b ≥ 0: the supremum of
    |φ(t')|·e^(−b|t − t'|) over the interval, exactly where a docstring says so.
    """

    def refuse(self, inside: Interval) -> str | None:
        """Why φ has no smooth bounds on this interval; None if it has."""

    def image(self, inside: Interval) -> Interval:
        """All values."""

    def steepest(self, inside: Interval) -> float:
        """sup |φ'|."""

    def value(self, algebra: Algebra, term: Term) -> Term:
        """φ(t)."""

    def size(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """The bound of |φ|."""

    def slope(self, algebra: Algebra, term: Term, rate: float, inside: Interval) -> Term:
        """The bound of |φ'|."""
