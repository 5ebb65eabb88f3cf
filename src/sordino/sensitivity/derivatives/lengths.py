"""Length: ℓ_p of functions, such as √(f² + g²) and |f|; and where it is a norm of columns, one column of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sordino.sensitivity.derivatives.algebra import Algebra, Term, largest_of
from sordino.sensitivity.derivatives.functions import raise_smoothly
from sordino.sensitivity.derivatives.node import CellFunction, Cells, Rates
from sordino.sensitivity.interval import Interval, widen


@dataclass(frozen=True, slots=True)
class Length:
    """‖(f₁, …, f_k)‖_p: sizes and slopes are ℓ_p of those of the functions, entry by entry.

    ∂ᵢ‖f‖_p = Σ wⱼ∂ᵢfⱼ with ‖w‖_q ≤ 1, which Hölder's inequality bounds.
    """

    exponent: float
    parts: tuple[CellFunction, ...]
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
        """By the magnitudes."""
        ranges = [part.range.magnitude() for part in self.parts]
        low = _plain_length([one.low for one in ranges], self.exponent)
        return Interval(
            max(widen(low, -math.inf), 0.0),
            widen(_plain_length([one.high for one in ranges], self.exponent), math.inf),
        )

    def _steepest(self) -> Mapping[str, float]:
        """ℓ_p of the bounds of each column."""
        return {
            name: widen(
                _plain_length([part.steepest.get(name, 0.0) for part in self.parts], self.exponent), math.inf
            )
            for name in self.columns
        }

    @property
    def steady(self) -> bool:
        """If all parts are."""
        return all(part.steady for part in self.parts)

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """ℓ_p of the values."""
        return length_of(algebra, [part.value(algebra, cells) for part in self.parts], self.exponent)

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """ℓ_p of the sizes."""
        return length_of(algebra, [part.size(algebra, cells, rates) for part in self.parts], self.exponent)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """ℓ_p of the slopes of each column."""
        found = [part.slopes(algebra, cells, rates) for part in self.parts]
        names = sorted({name for slopes in found for name in slopes})
        return {
            name: length_of(algebra, [slopes[name] for slopes in found if name in slopes], self.exponent)
            for name in names
        }


@dataclass(frozen=True, slots=True)
class NormLength:
    """A length of columns that the norm itself measures: one entry for each part of the norm, not one per column.

    u = ‖(k₁x₁ + c₁, …)‖_p moves by at most κ·M(Δ) where M is the part of the norm N over its columns, and its columns
    occur nowhere else. So a move is no longer in N[M := |u|/κ] than in N, and u is a column of that norm with slope 1:
    √(x² + y²) under l2(x, y) has sensitivity 1, where entries of x and y would give √2. In a join u may depend on rows
    that are measured apart; then there is one such column for each.
    """

    length: Length
    names: tuple[str, ...]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that stand for the parts of the norm."""
        return frozenset(self.names)

    @property
    def range(self) -> Interval:
        """That of the length."""
        return self.length.range

    @property
    def steepest(self) -> Mapping[str, float]:
        """1."""
        return dict.fromkeys(self.names, 1.0)

    @property
    def steady(self) -> bool:
        """Yes."""
        return True

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """The length."""
        return self.length.value(algebra, cells)

    def size(self, algebra: Algebra, cells: Cells, rates: Rates) -> Term:
        """As of a column."""
        rate = min(rates[name] for name in self.names)
        return raise_smoothly(algebra, self.value(algebra, cells), 1.0, rate, self.range)

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """1."""
        return dict.fromkeys(self.names, 1.0)


def length_of(algebra: Algebra, terms: list[Term], exponent: float) -> Term:
    """ℓ_p of terms."""
    sizes = [algebra.absolute(term) for term in terms]
    if len(sizes) == 1:
        return sizes[0]
    if math.isinf(exponent):
        return largest_of(algebra, sizes)
    powers = [size if exponent == 1 else algebra.power(size, exponent) for size in sizes]
    total = powers[0]
    for power in powers[1:]:
        total = total + power
    return total if exponent == 1 else algebra.power(total, 1 / exponent)


def _plain_length(sizes: list[float], exponent: float) -> float:
    largest = max(sizes)
    if largest == 0 or math.isinf(largest) or math.isinf(exponent):
        return largest
    return largest * float(math.fsum((size / largest) ** exponent for size in sizes) ** (1 / exponent))
