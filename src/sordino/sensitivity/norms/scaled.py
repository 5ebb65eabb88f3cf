"""ScaledNorm: a norm times a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.part import Exponent, NormPart


@dataclass(frozen=True, slots=True)
class ScaledNorm:
    """a·N for a number a > 0; its dual is N* / a."""

    factor: Fraction
    inner: NormPart

    def leaves(self, factor: Fraction = Fraction(1)) -> Iterator[tuple[NormLeaf, Fraction]]:
        """Those of the inner norm, scaled."""
        return self.inner.leaves(factor * self.factor)

    def measure(self, moves: Mapping[str, Any]) -> Any:
        """a times the inner length."""
        return float(self.factor) * self.inner.measure(moves)

    def dual(self, slopes: Mapping[str, Any]) -> Any:
        """The inner dual divided by a."""
        return self.inner.dual(slopes) / float(self.factor)

    def unit_rates(self, factor: float) -> Iterator[tuple[str, float]]:
        """Columns that cost a times as much may carry a times the rate."""
        return self.inner.unit_rates(factor * float(self.factor))

    def exponents(self) -> Iterator[Exponent]:
        """Those of the inner norm."""
        return self.inner.exponents()

    def parts(self) -> Iterator[NormPart]:
        """Itself and all below."""
        yield self
        yield from self.inner.parts()

    def replaced(self, old: NormPart, new: NormPart) -> NormPart:
        """With the part exchanged inside."""
        return new if self == old else ScaledNorm(self.factor, self.inner.replaced(old, new))

    def __str__(self) -> str:
        return f"{write_factor(self.factor)}*{self.inner}"


def write_factor(value: Fraction) -> str:
    """A number as a decimal: exact where it has few digits."""
    text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
