"""CombinedNorm: ℓ_p of norms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.part import Exponent, NormPart
from sordino.sensitivity.norms.scaled import write_factor


@dataclass(frozen=True, slots=True)
class CombinedNorm:
    """‖(N₁, …, N_k)‖_p with p ≥ 1.

    The dual is ℓ_q of the duals, 1/p + 1/q = 1 (NAPLES report, Lemma 3.66): that needs columns to be apart. Where they
    are not, `shared.py` splits slopes first.
    """

    exponent: Exponent
    children: tuple[NormPart, ...]

    def leaves(self, factor: Fraction = Fraction(1)) -> Iterator[tuple[NormLeaf, Fraction]]:
        """Those of all children."""
        for child in self.children:
            yield from child.leaves(factor)

    def measure(self, moves: Mapping[str, Any]) -> Any:
        """ℓ_p of the children's lengths."""
        return combine_lengths([child.measure(moves) for child in self.children], self.exponent)

    def dual(self, slopes: Mapping[str, Any]) -> Any:
        """ℓ_q of the children's duals."""
        return combine_lengths([child.dual(slopes) for child in self.children], dual_exponent(self.exponent))

    def unit_rates(self, factor: float) -> Iterator[tuple[str, float]]:
        """Every child carries k^(−1/q): ℓ_q of k equal numbers is k^(1/q) times one of them."""
        q = dual_exponent(self.exponent)
        share = 1.0 if q == math.inf else len(self.children) ** (-1 / float(q))
        for child in self.children:
            yield from child.unit_rates(factor * share)

    def exponents(self) -> Iterator[Exponent]:
        """Its own and those below."""
        yield self.exponent
        for child in self.children:
            yield from child.exponents()

    def parts(self) -> Iterator[NormPart]:
        """Itself and all below."""
        yield self
        for child in self.children:
            yield from child.parts()

    def replaced(self, old: NormPart, new: NormPart) -> NormPart:
        """With the part exchanged in the child that has it."""
        if self == old:
            return new
        return CombinedNorm(self.exponent, tuple(child.replaced(old, new) for child in self.children))

    def __str__(self) -> str:
        name = "inf" if self.exponent == math.inf else write_factor(Fraction(self.exponent))
        return f"l{name}({', '.join(str(child) for child in self.children)})"


def dual_exponent(exponent: Exponent) -> Exponent:
    """q with 1/p + 1/q = 1."""
    if exponent == math.inf:
        return Fraction(1)
    return math.inf if exponent == 1 else exponent / (exponent - 1)


def computable_dual(exponent: Exponent) -> Exponent:
    """q, or 8 where it is larger and finite: ℓ_8 is above ℓ_q, and eighth powers stay within the range of doubles."""
    q = dual_exponent(exponent)
    return q if q == math.inf else min(q, Fraction(8))


def combine_lengths(lengths: list[Any], exponent: Exponent) -> Any:
    """ℓ_p of numbers or arrays that are not negative, without overflow on the way."""
    largest = reduce(np.maximum, lengths)
    if exponent == math.inf:
        return largest
    if exponent == 1:
        return sum(lengths)
    p = float(exponent)
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    return unit * sum((length / unit) ** p for length in lengths) ** (1 / p)
