"""KeyRelease: which group keys may be shown, by how many units hold them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from sordino.core import Loss, ParameterError
from sordino.core.loss import round_as_written
from sordino.core.parameters import exact, whole
from sordino.sampling.refined_uniform import precision
from sordino.sampling.source import random_bits, random_words

_WORD = 64
_MOST_STEPS = 1 << 18  # of the chain until a key is certain; beyond, ε and δ are too small for any use
_LARGEST_EPSILON = 64  # a larger ε gains nothing: two units are then shown but for e^-64


@dataclass(frozen=True, slots=True)
class KeyRelease:
    """A key held by n units is shown with probability π_n, the largest that (ε, δ) allows.

    π_0 = 0 and π_{n+1} = min(e^ε π_n + δ, 1 − e^{−ε}(1 − π_n − δ), 1), at ε/m and δ/m for units that hold up to m keys.
    A unit's keys beyond m must have been dropped by a rule that looks at that unit alone.

    **Guarantee**: (ε, δ)-DP for one unit added or removed: it moves at most m numbers n by one, and each coin is
    (ε/m, δ/m)-DP, as is every non-decreasing chain in which no π_{n+1} exceeds what the recursion makes of π_n.
    ``min_units`` moves the whole chain: fewer units are never shown (governance; the guarantee is the same).
    **Source**: Desfontaines, Voss, Gipson and Mandayam 2022, "Differentially private partition selection".
    **Numerics**: every π_n is a whole multiple of 2^−bits, computed from a lower bound of e^ε and rounded down: the
    chain stays below what the recursion allows, so the guarantee is exact, and each π_n is less than the largest by
    about n·2⁻⁶⁴ of itself. A coin is one comparison of whole random numbers, exact.
    """

    epsilon: Fraction
    delta: Fraction
    keys_per_unit: int
    min_units: int
    bits: int
    chain: tuple[int, ...]

    @classmethod
    def of(cls, *, epsilon: Any, delta: Any, keys_per_unit: int = 1, min_units: int = 1) -> KeyRelease:
        """Checked; the chain is computed until a key is certain."""
        budget, failure = exact("epsilon", epsilon), exact("delta", delta)
        keys = whole("keys_per_unit", keys_per_unit, least=1)
        least = whole("min_units", min_units, least=1)
        if budget <= 0:
            raise ParameterError(f"epsilon must be > 0, got {epsilon!r}")
        if not 0 < failure < 1:
            raise ParameterError(
                f"delta must be in (0, 1), got {delta!r}: without it no key that is not declared can be shown"
            )
        bits, chain = _compute_chain(budget / keys, failure / keys)
        return cls(budget, failure, keys, least, bits, chain)

    @property
    def loss(self) -> Loss:
        """(ε, δ), for all keys together."""
        return Loss(epsilon=round_as_written(self.epsilon), delta=round_as_written(self.delta))

    @property
    def certain(self) -> int:
        """From this number of units on a key is always shown; public."""
        return len(self.chain) - 1 + self.min_units - 1

    def probability(self, units: int) -> Fraction:
        """π_n exactly."""
        place = min(max(0, whole("units", units, least=0) - self.min_units + 1), len(self.chain) - 1)
        return Fraction(self.chain[place], 1 << self.bits)

    def units_needed(self, chance: Fraction = Fraction(1, 2)) -> int:
        """The least number of units whose key is shown with that chance; public."""
        return next(n for n in range(self.certain + 1) if self.probability(n) >= chance)

    def draw(self, units: ArrayLike) -> NDArray[np.bool_]:
        """For every key, from the number of units that hold it, whether it is shown; coins are independent."""
        counts = np.asarray(units)
        if counts.ndim != 1 or not (counts.size == 0 or np.issubdtype(counts.dtype, np.integer)):
            raise ParameterError("units must be a list of whole numbers, one per key")
        places = np.clip(counts.astype(np.int64) - (self.min_units - 1), 0, len(self.chain) - 1)
        shown: NDArray[np.bool_] = places == len(self.chain) - 1
        open_ = np.flatnonzero((places > 0) & ~shown)
        low_bits = self.bits - _WORD
        firsts = np.array([step >> low_bits for step in self.chain[:-1]], dtype=np.uint64)[places[open_]]
        words = random_words(len(open_), np.uint64)
        shown[open_] = words < firsts
        for at in np.flatnonzero(words == firsts).tolist():
            rest = self.chain[int(places[open_[at]])] & ((1 << low_bits) - 1)
            shown[open_[at]] = random_bits(low_bits) < rest
        return shown


@lru_cache(maxsize=64)
def _compute_chain(epsilon: Fraction, delta: Fraction) -> tuple[int, tuple[int, ...]]:
    """bits, and π_0, π_1, …, 1 in units of 2^−bits."""
    # δ itself has 64 bits there
    bits = _WORD + (delta.denominator // delta.numerator).bit_length()
    one, failure = 1 << bits, (delta.numerator << bits) // delta.denominator
    growth = _growth_below(min(epsilon, Fraction(_LARGEST_EPSILON)), bits)  # in units of 2^−bits, at most e^ε
    chain = [0]
    while chain[-1] < one:
        last = chain[-1]
        missing = max(0, one - last - failure)
        upper = one - -(-(missing << bits) // growth)  # 1 − missing/growth, rounded down
        chain.append(min((growth * last >> bits) + failure, upper, one))
        if len(chain) > _MOST_STEPS:
            raise ParameterError(
                f"epsilon = {float(epsilon):.3g} and delta = {float(delta):.3g} per key are too small to show any key"
            )
    return bits, tuple(chain)


def _growth_below(epsilon: Fraction, bits: int) -> int:
    """A whole number of at most 2^bits·e^ε, from the lower end of a ball; at least 2^bits, since e^ε > 1."""
    with precision(2 * bits + 4 * _WORD):
        ball = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp() * (arb(2) ** bits)
        mantissa, exponent = ball.lower().man_exp()
    below = int(mantissa) << int(exponent) if exponent >= 0 else int(mantissa) >> -int(exponent)
    return max(1 << bits, below)
