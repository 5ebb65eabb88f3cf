"""NormPart: a node in the tree of a norm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sordino.sensitivity.norms.leaf import NormLeaf

# An exponent p >= 1 of an ℓ_p: exact, or infinity.
Exponent = Fraction | float


class NormPart(Protocol):
    """A norm of some columns. Moves and slopes are numbers or arrays, one entry per row.

    Moves of a `log` leaf are those of the logarithm, and slopes are per unit of the logarithm.
    """

    def leaves(self, factor: Fraction = Fraction(1)) -> Iterator[tuple[NormLeaf, Fraction]]:
        """The columns, each with the product of all factors above it."""

    def measure(self, moves: Mapping[str, Any]) -> Any:
        """The length of a move; a column that is not named has not moved."""

    def dual(self, slopes: Mapping[str, Any]) -> Any:
        """The largest slope·move over moves of length 1."""

    def unit_rates(self, factor: float) -> Iterator[tuple[str, float]]:
        """Rates r with dual(r) = factor, spread evenly over the columns that can move by little."""

    def exponents(self) -> Iterator[Exponent]:
        """The p of every ℓ_p in it."""

    def parts(self) -> Iterator[NormPart]:
        """Itself and all below."""

    def replaced(self, old: NormPart, new: NormPart) -> NormPart:
        """The tree with one part of it exchanged."""

    def __hash__(self) -> int:
        """Parts are values."""

    def __str__(self) -> str:
        """As it is written."""
