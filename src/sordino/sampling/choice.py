"""Exact choice of one candidate among many, from integer scores and a rational rate.

Both laws are over weights p_i = exp(−rate·(top − score_i)), with ``top`` the largest score:

* `ExponentialChoice`: P(i) ∝ p_i, the exponential mechanism.
* `FlipChoice`: every candidate i tosses a coin that shows heads with probability p_i, and one of the heads is
  taken uniformly: permute-and-flip (a random order whose first head wins is a uniform head).

**Numerics.** Scores are exact integers, the rate an exact fraction. Weights in single precision only *filter*: with
exponents up to 80 the conversion, the product and ``exp`` lose together less than 2⁻¹⁵ of a weight, and they are used
with margins above that; a smaller weight counts as lying in [0, e⁻⁸⁰]. What the filter cannot decide is decided by
ball arithmetic with as many further random bits as it takes, so the law drawn from is exact.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.sampling.refined_uniform import RefinedUniform, precision
from sordino.sampling.source import random_below, random_words

_MARGIN = 2.0**-14
_LARGEST_EXPONENT = 80.0
_LARGEST_RATE = Fraction(10**18)  # any score below the top has weight 0 there


def is_below_exp(uniform: RefinedUniform, exponent: Fraction) -> bool:
    """Whether U < e^(−exponent), with as many bits of U as the answer needs."""
    rational = fmpq(-exponent.numerator, exponent.denominator)
    while True:
        with precision(uniform.bits + 32):
            threshold = arb(rational).exp()
            if uniform.upper() <= threshold:
                return True
            if uniform.lower() >= threshold:
                return False
        uniform.refine()


class _Weights:
    """Scores with their largest, and weights within a relative margin of 2⁻¹⁵."""

    __slots__ = ("rate", "scores", "top", "weights")

    def __init__(self, scores: NDArray[np.int64], rate: Fraction) -> None:
        self.scores = scores
        self.top = int(scores.max())
        self.rate = rate
        exponents = np.empty(len(scores), dtype=np.float32)
        np.subtract(scores, self.top, out=exponents, casting="unsafe")
        exponents *= np.float32(float(min(rate, _LARGEST_RATE)))
        np.maximum(exponents, -_LARGEST_EXPONENT, out=exponents)
        self.weights = np.exp(exponents, out=exponents)

    def exponent(self, index: int) -> Fraction:
        """How far the score is below the top, times the rate: exact."""
        return self.rate * (self.top - int(self.scores[index]))


class ExponentialChoice(_Weights):
    """Draws i with probability proportional to exp(rate·score_i), as often as asked.

    Integer weights that are certainly at least the true ones make a proposal that is drawn exactly; one coin, with
    bias true weight / integer weight, corrects it, and shows tails about once in 2¹⁴ draws.
    """

    __slots__ = ("ceilings", "cumulative", "scale_bits")

    def __init__(self, scores: NDArray[np.int64], rate: Fraction) -> None:
        super().__init__(scores, rate)
        self.scale_bits = 61 - len(scores).bit_length()
        self.ceilings = np.empty(len(scores), dtype=np.int64)
        np.multiply(
            self.weights,
            np.float32(2.0**self.scale_bits * (1 + _MARGIN)),
            out=self.ceilings,
            casting="unsafe",
        )
        self.ceilings += 1
        self.cumulative = np.cumsum(self.ceilings)

    def draw(self) -> int:
        """One index."""
        total = int(self.cumulative[-1])
        while True:
            index = int(np.searchsorted(self.cumulative, random_below(total), side="right"))
            if self._corrected(index):
                return index

    def _corrected(self, index: int) -> bool:
        """A coin with bias exp(−exponent)·2^scale_bits / ceiling, which is at most 1."""
        uniform = RefinedUniform()
        ceiling = int(self.ceilings[index])
        exponent = self.exponent(index)
        if exponent < _LARGEST_EXPONENT:
            surely = float(self.weights[index]) * (1 - _MARGIN) * 2.0**self.scale_bits / ceiling
            if uniform.midpoint() < surely * (1 - _MARGIN):
                return True
        rational = fmpq(-exponent.numerator, exponent.denominator)
        while True:
            with precision(uniform.bits + 32):
                bias = arb(rational).exp() * (arb(2) ** self.scale_bits) / ceiling
                if uniform.upper() <= bias:
                    return True
                if uniform.lower() >= bias:
                    return False
            uniform.refine()


def _uniform_head(heads: NDArray[np.bool_]) -> int:
    """One of the heads, uniformly: by trial where they are many, from a list where they are few."""
    if 16 * int(np.count_nonzero(heads)) >= len(heads):
        while True:
            index = random_below(len(heads))
            if heads[index]:
                return index
    winners = np.flatnonzero(heads)
    return int(winners[random_below(len(winners))])


class FlipChoice(_Weights):
    """Draws a uniform head among independent coins with biases exp(−rate·(top − score_i)): permute-and-flip.

    Eight bits of each coin's uniform decide all but about one coin in a hundred; those get 32 bits more, and what is
    still open goes to ball arithmetic.
    """

    __slots__ = ("thresholds",)

    def __init__(self, scores: NDArray[np.int64], rate: Fraction) -> None:
        super().__init__(scores, rate)
        # Within 1 of 256·p: the float error is below 2^-6 and the cast cuts off less than 1.
        self.thresholds = np.empty(len(scores), dtype=np.int16)
        np.multiply(self.weights, np.float32(256), out=self.thresholds, casting="unsafe")

    def draw(self) -> int:
        """One index."""
        words = random_words(len(self.scores), np.uint8)
        excess = words - self.thresholds
        heads = excess < -1
        excess += 1
        undecided = np.flatnonzero(excess.view(np.uint16) <= 2)  # excess was -1, 0 or 1
        heads[undecided] = self._tossed(undecided, words[undecided])
        return _uniform_head(heads)

    def _tossed(self, indices: NDArray[np.intp], first: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """The coins at ``indices``, whose uniforms begin with the bits ``first``."""
        words = (first.astype(np.int64) << 32) | random_words(len(indices), np.uint32).astype(np.int64)
        exponents = (self.scores[indices] - self.top) * float(min(self.rate, _LARGEST_RATE))
        np.maximum(exponents, -_LARGEST_EXPONENT, out=exponents)
        # In double precision 2^40·p is within 2^-40 of the truth, relatively: within 2 of the cast.
        excess = words - (np.exp(exponents) * 2.0**40).astype(np.int64)
        heads: NDArray[np.bool_] = excess < -2
        for position in np.flatnonzero(np.abs(excess) <= 2).tolist():
            uniform = RefinedUniform(int(words[position]), 40)
            heads[position] = is_below_exp(uniform, self.exponent(int(indices[position])))
        return heads
