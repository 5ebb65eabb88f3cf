"""Shape: a continuous noise distribution with unit scale, as floats for speed and as balls for certainty."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from sordino.core.errors import ParameterError
from sordino.sampling.refined_uniform import precision

FloatArray = NDArray[np.float64]


class Shape(Protocol):
    """The law of Z in centre + scale·Z.

    The float functions are vectorised; `log_pdf` and `log_tail` are within 1e-13·(1 + their size) of the truth, which
    tests hold against balls over random points, and quantiles are good guesses. The law of a draw never rests on
    them. `ball_tail` is rigorous: the ball contains the true value and is small relative to it, far out too. A
    symmetric shape speaks of P(|Z| > z) in `tail_quantile` and `ball_tail`, a one-sided one of P(Z > z).
    """

    symmetric: ClassVar[bool]

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""

    def cdf(self, z: ArrayLike) -> FloatArray:
        """P(Z <= z)."""

    def log_tail(self, z: ArrayLike) -> FloatArray:
        """ln P(Z > z), without cancellation in the upper tail."""

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The z with P(Z <= z) = p."""

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v (P(Z > z) = v where one-sided), for v down to 1e-300."""

    def radius(self, confidence: float) -> float:
        """Half the width of the interval around the centre that holds Z with this probability."""

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z), or P(Z > z) where one-sided, for z >= 0, at the current precision."""


class SymmetricShape:
    """What every shape that is symmetric about 0 derives from P(|Z| > z)."""

    __slots__ = ()
    symmetric: ClassVar[bool] = True

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        raise NotImplementedError

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v."""
        raise NotImplementedError

    def cdf(self, z: ArrayLike) -> FloatArray:
        """P(Z <= z)."""
        return np.asarray(np.exp(self.log_tail(-np.asarray(z, dtype=np.float64))), dtype=np.float64)

    def log_tail(self, z: ArrayLike) -> FloatArray:
        """ln P(Z > z)."""
        z = np.asarray(z, dtype=np.float64)
        half = self.log_both_tails(np.abs(z)) - np.log(2.0)
        return np.asarray(np.where(z >= 0, half, np.log1p(-np.exp(half))), dtype=np.float64)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The z with P(Z <= z) = p."""
        p = np.asarray(p, dtype=np.float64)
        magnitude = self.tail_quantile(2.0 * np.minimum(p, 1.0 - p))
        return np.asarray(np.where(p < 0.5, -magnitude, magnitude), dtype=np.float64)

    def radius(self, confidence: float) -> float:
        """The z with P(|Z| <= z) = confidence."""
        return float(self.tail_quantile(_complement(confidence)))


def _complement(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be in (0, 1), got {confidence!r}")
    return 1.0 - confidence


def one_sided_radius(tail_quantile: Callable[[float], FloatArray], confidence: float) -> float:
    """The radius of a one-sided shape."""
    return float(tail_quantile(_complement(confidence)))


def at_midpoint(z: arb, extra_bits: int, tail: Callable[[arb], arb], density: Callable[[arb], arb]) -> arb:
    """A decreasing tail over the ball z, by its value at the midpoint and the mean value theorem.

    Formulas that cancel would blow up the radius of z; the midpoint is exact, so there only ``extra_bits`` of
    working precision are needed. ``density`` is minus the derivative of ``tail`` and must not increase.
    """
    radius = z.rad()
    with precision(ctx.prec + extra_bits):
        value = tail(z.mid())
        if radius == 0:
            return value
        lowest = (z.mid() - radius).nonnegative_part()
        return value + arb(0, (density(lowest) * radius).upper())


def magnitude_bits(z: arb) -> int:
    """About log2 of z where z > 1, else 0."""
    mantissa, exponent = z.mid().man_exp()
    return max(0, int(mantissa).bit_length() + int(exponent))
