"""CellFunction: a function of the cells of a row, with smooth bounds on its size and its slopes.

The calculus keeps a *vector* of rates where Figure 41 of the NAPLES report keeps one number and a norm.
A positive function g of the cells has rates λ ≥ 0 if |ln g(x) − ln g(x')| ≤ Σ λᵢ|xᵢ − x'ᵢ| (|ln xᵢ − ln x'ᵢ| for `log`
columns). It is then N*(λ)-smooth in the norm N. Sums, maxima, minima and ℓ_p combinations have the larger rates,
products the sum of the rates, and φ∘f with φ of rate b has rates b·Bᵢ where |∂f/∂xᵢ| ≤ Bᵢ everywhere.

**Theorem.** If hᵢ ≥ |∂f/∂xᵢ| and every hᵢ has rates ≤ ρ with N*(ρ) ≤ β, then c = N*(h) is a β-smooth upper bound of the
derivative sensitivity of f in N: N* grows with its entries and is homogeneous, so c(x) ≤ e^{Σρ|Δ|}·c(x') ≤
e^{N*(ρ)N(Δ)}·c(x').
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

from sordino.sensitivity.derivatives.algebra import Algebra, Term
from sordino.sensitivity.interval import Interval

# The cells of a row, clipped to their bounds.
Cells = Mapping[str, Term]
# The rate that each column may have, public.
Rates = Mapping[str, float]


class CellFunction(Protocol):
    """A node of an expression. What is public is a property; what depends on the row takes an algebra and cells."""

    @property
    def columns(self) -> frozenset[str]:
        """The private columns in it."""

    @property
    def range(self) -> Interval:
        """All values that it can have for cells within their bounds."""

    @property
    def steepest(self) -> Mapping[str, float]:
        """Bᵢ ≥ |∂f/∂xᵢ| everywhere, for the columns in it; may be infinite."""

    @property
    def steady(self) -> bool:
        """Whether the bounds on its slopes are the same for all cells, so that they need no rates."""

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """f."""

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """g ≥ |f| with these rates."""

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """hᵢ ≥ |∂f/∂xᵢ| with these rates; a column that is not in it has slope 0."""


def common_rate(rates: Rates, steepest: Mapping[str, float]) -> float:
    """The largest b with b·Bᵢ ≤ ρᵢ for all columns: what a function of f may have. Infinite if f is constant."""
    return min((rates[name] / bound for name, bound in steepest.items() if bound > 0), default=math.inf)


def scaled_rates(rates: Rates, factor: float) -> dict[str, float]:
    """All rates times a number."""
    return {name: rate * factor for name, rate in rates.items()}


def add_slopes(parts: list[dict[str, Term]]) -> dict[str, Term]:
    """Entry by entry."""
    total: dict[str, Term] = {}
    for part in parts:
        for name, slope in part.items():
            total[name] = total[name] + slope if name in total else slope
    return total


def largest_slopes(algebra: Algebra, parts: list[dict[str, Term]]) -> dict[str, Term]:
    """Entry by entry."""
    total: dict[str, Term] = {}
    for part in parts:
        for name, slope in part.items():
            total[name] = algebra.maximum(total[name], slope) if name in total else slope
    return total
