"""LatticeLaw: the exact law of continuous noise rounded to a public lattice, and bounds on its tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.core.errors import ParameterError, UnsupportedError
from sordino.mechanisms.noise.tail_loss import tail_loss
from sordino.sampling.lattice import lattice_draw
from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes.shape import Shape

FloatArray = NDArray[np.float64]

_WINDOW_TAIL = 1e-15  # the window aims at this mass outside,
_WINDOW_RADIUS = 100.0  # but heavy tails end here, in units of the scale,
_WINDOW_POINTS = 1 << 16  # and fine lattices after this many points on either side of the centre
_BITS = 128
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """The law of k, where k·step is the lattice point nearest to centre + scale·Z: what `lattice_draw` draws.

    P(k) = P(Z in [((k - ½)·step - centre)/scale, ((k + ½)·step - centre)/scale)).
    Numerics: `log_masses` are floats with a relative error of the mass of about 1e-13, far out too:
    differences of tails where the bin is wide, Gauss–Legendre on the density where it is narrow. `ball_mass`
    and `tail_mass` are rigorous. The centre and the scale are confidential: so is this object.
    """

    shape: Shape
    centre: Fraction
    scale: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0 or self.step <= 0:
            raise ParameterError("scale and step must be > 0")

    def __repr__(self) -> str:
        return f"LatticeLaw({self.shape!r}, <secret>, step={self.step})"

    def window(self) -> tuple[int, int]:
        """Indices (first, last), both included, that hold all but little of the mass.

        Outside lies at most 1e-15 of light-tailed noise; heavy tails are cut at 100 scales, and fine lattices
        at 2¹⁶ points on either side: there `tail_mass` and `tail_loss` speak.
        """
        reach = min(float(self.shape.tail_quantile(_WINDOW_TAIL)), _WINDOW_RADIUS)
        points = min(math.ceil(reach * float(self.scale / self.step)) + 1, _WINDOW_POINTS)
        middle = round(self.centre / self.step)
        return middle - points, middle + points

    def log_masses(self, first: int, last: int) -> FloatArray:
        """ln P(k) for k = first, …, last."""
        nearest = round(self.centre / self.step)
        width = float(self.step / self.scale)
        start = float((nearest * self.step - self.centre) / self.scale)
        middle = start + width * np.arange(first - nearest, last - nearest + 1, dtype=np.float64)
        low, high = middle - width / 2, middle + width / 2
        upper = self._log_side(np.maximum(low, 0.0), np.maximum(high, 0.0), width, low >= 0)
        if not self.shape.symmetric:
            return upper
        lower = self._log_side(np.maximum(-high, 0.0), np.maximum(-low, 0.0), width, high <= 0)
        return np.logaddexp(upper, lower)

    def _log_side(self, low: FloatArray, high: FloatArray, width: float, whole: NDArray[Any]) -> FloatArray:
        """ln P(low < Z < high) for 0 <= low <= high; ``whole`` bins have the exact width."""
        result = np.full(low.shape, -np.inf)
        some = high > low
        low, high, whole = low[some], high[some], whole[some]
        if low.size == 0:
            return result
        tail = self.shape.log_tail(low)
        with np.errstate(invalid="ignore"):
            drop = tail - self.shape.log_tail(high)
        wide = ~(drop < 0.1)
        value = tail.copy()
        value[wide] += np.log(-np.expm1(-drop[wide]))
        if not wide.all():
            a, b = low[~wide], high[~wide]
            half = np.where(whole[~wide], width, b - a) / 2
            node = ((a + b) / 2)[:, None] + half[:, None] * _NODES
            density = self.shape.log_pdf(node)
            top = density.max(axis=1)
            value[~wide] = np.log(half * (np.exp(density - top[:, None]) @ _WEIGHTS)) + top
        result[some] = value
        return result

    def ball_mass(self, index: int, bits: int = _BITS) -> arb:
        """P(index) as a rigorous ball."""
        low, high = 2 * index - 1, 2 * index + 1
        with precision(bits + 64):
            if self._edge(high) <= 0:  # both edges on the lower side: differences there do not cancel
                return self._below(high) - self._below(low)
            return self._above(low) - self._above(high)

    def tail_mass(self, first: int, last: int) -> float:
        """An upper bound on the mass outside first, …, last."""
        with precision(_BITS):
            outside = self._above(2 * last + 1) + self._below(2 * first - 1)
            return math.nextafter(float(outside.upper()), math.inf)

    def _edge(self, halves: int) -> Fraction:
        return (halves * self.step / 2 - self.centre) / self.scale

    def _above(self, halves: int) -> arb:
        """P(X > halves·step/2)."""
        z = self._edge(halves)
        if not self.shape.symmetric:
            return self.shape.ball_tail(_ball(z)) if z > 0 else arb(1)
        return self.shape.ball_tail(_ball(z)) / 2 if z >= 0 else 1 - self.shape.ball_tail(_ball(-z)) / 2

    def _below(self, halves: int) -> arb:
        z = self._edge(halves)
        if self.shape.symmetric:
            return self.shape.ball_tail(_ball(-z)) / 2 if z <= 0 else 1 - self.shape.ball_tail(_ball(z)) / 2
        return 1 - self.shape.ball_tail(_ball(z)) if z > 0 else arb(0)

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """An upper bound on |ln(P(k)/P_other(k))| over all k outside first, …, last.

        Masses of one bin are integrals of the densities over it, so their ratio is at most the largest ratio
        of the densities, taken over everything beyond the window's outer edges. Infinite where that is the
        truth.
        """
        if not isinstance(other, LatticeLaw) or other.shape != self.shape:
            raise UnsupportedError(
                f"tail_loss compares two laws of one shape ({self.shape!r}); with another law it has no bound"
            )
        if other.step != self.step:
            raise ParameterError(
                f"the steps of two lattice laws must agree, got {self.step} and {other.step}"
            )
        # in units of this law's scale, about this law's centre
        ratio = float(other.scale / self.scale)
        shift = float((other.centre - self.centre) / self.scale)
        right, left = float(self._edge(2 * last + 1)), float(self._edge(2 * first - 1))
        above = tail_loss(self.shape, shift, ratio, right)
        return max(above, tail_loss(self.shape, -shift, ratio, -left))

    def draw(self) -> int:
        """One index with this law, exactly."""
        return lattice_draw(self.shape, self.centre, self.scale, self.step)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
