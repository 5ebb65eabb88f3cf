"""RoundedLaw: the exact law of continuous noise rounded to a public lattice, and bounds on its tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.core.errors import ParameterError, PrivateDataError, UnsupportedError
from sordino.mechanisms.noise.tail_loss import tail_loss
from sordino.sampling.lattice import draw_on_lattice
from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes.shape import Shape

FloatArray = NDArray[np.float64]

_WINDOW_TAIL = 1e-15  # the window aims at this mass outside,
_WINDOW_RADIUS = 100.0  # but heavy tails end here, in units of the scale,
_WINDOW_POINTS = 1 << 16  # and fine lattices after this many points on either side of the centre
_BITS = 128
_FLOAT_BITS = 64
_MOST_BITS = 1 << 13
_LARGEST_LOG = 1e12  # a ball that is not small for all these bits is mostly one around less than e^-(1e12)
_LARGEST = Fraction(10) ** 300  # scales from the centre: up to here floats reach
_LARGEST_LOSS = Fraction(10) ** 140  # and squares of floats to here
_NARROW = Fraction(1, 10**40)  # in such a bin no density changes by a part of 1e-20, at the centre neither
_COARSE = 64  # bins that wide, in scales, hold whole tails: floats do, and balls of far tails are slow
_LOG_ERROR = 1e-13
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True, slots=True)
class RoundedLaw:
    """The law of k, where k·step is the lattice point nearest to centre + scale·Z: what `draw_on_lattice` draws.

    P(k) = P(Z in [((k - ½)·step - centre)/scale, ((k + ½)·step - centre)/scale)).
    Numerics: `log_masses` are floats within ``log_error``·(1 + |ln P|) of the truth, far out too: by ball arithmetic in
    the three bins at the centre, where a density may have a kink or a peak that no quadrature sees; elsewhere by
    differences of tails where the bin is wide, and Gauss–Legendre on the density where it is narrow. `ball_mass` and
    `tail_mass` are rigorous. The centre and the scale are confidential: so is this object.
    """

    shape: Shape
    centre: Fraction
    scale: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0 or self.step <= 0:
            raise ParameterError("scale and step must be > 0")

    def __repr__(self) -> str:
        return f"RoundedLaw({self.shape!r}, <secret>, step={self.step})"

    @property
    def log_error(self) -> float:
        """How far each number of `log_masses` may be off, relative to 1 + its size; `prove` adds it to the losses."""
        return _LOG_ERROR

    def window(self) -> tuple[int, int]:
        """Indices (first, last), both included, that hold all but little of the mass.

        Outside lies at most 1e-15 of light-tailed noise; heavy tails are cut at 100 scales, and fine lattices
        at 2¹⁶ points on either side: there `tail_mass` and `tail_loss` speak.
        """
        reach = min(float(self.shape.tail_quantile(_WINDOW_TAIL)), _WINDOW_RADIUS)
        steps = min(self.scale / self.step, Fraction(_WINDOW_POINTS) ** 2)
        points = min(math.ceil(reach * float(steps)) + 1, _WINDOW_POINTS)
        middle = round(self.centre / self.step)
        return middle - points, middle + points

    def log_masses(self, first: int, last: int) -> FloatArray:
        """ln P(k) for k = first, …, last."""
        nearest, width = round(self.centre / self.step), self.step / self.scale
        start = ((first * self.step) - self.centre) / self.scale
        if max(abs(start), abs(start + (last - first) * width), width) > _LARGEST:  # past what floats can say
            return np.array([self._log_ball(index) for index in range(first, last + 1)])
        middle = float(start) + float(width) * np.arange(last - first + 1, dtype=np.float64)
        if width < _NARROW:
            masses = self.shape.log_pdf(middle) + math.log(width.numerator) - math.log(width.denominator)
            if self.shape.symmetric:  # a one-sided density begins within a bin
                return masses
        else:
            masses = self._log_masses_about(middle, float(width))
        for index in range(max(first, nearest - 1), min(last, nearest + 1) + 1):
            masses[index - first] = self._log_ball(index) if width < _COARSE else self._log_coarse(index)
        return masses

    def _log_masses_about(self, middle: FloatArray, width: float) -> FloatArray:
        """ln P of bins that begin at least a width away from z = 0, by their midpoints.

        So the singularities of a density that lie on the imaginary axis, at 0 or below it are three half-widths away
        from the middle, and 16 Gauss–Legendre nodes leave less than 1e-20 of their effect.
        """
        inside = np.ones(middle.shape, dtype=bool) if self.shape.symmetric else middle > 0
        away = np.maximum(np.abs(middle), 1.5 * width)  # the bins at the centre are not asked for here
        tail = self.shape.log_tail(away - width / 2)
        with np.errstate(invalid="ignore"):
            drop = tail - self.shape.log_tail(away + width / 2)
        wide = ~(drop < 0.1)
        value = np.where(wide, tail, 0.0)
        here = wide & (tail > -np.inf)
        value[here] += np.log(-np.expm1(-drop[here]))
        if not wide.all():
            node = away[~wide][:, None] + width / 2 * _NODES
            density = self.shape.log_pdf(node)
            top = density.max(axis=1)
            value[~wide] = np.log(width / 2 * (np.exp(density - top[:, None]) @ _WEIGHTS)) + top
        value[~inside] = -np.inf
        return value

    def _log_coarse(self, index: int) -> float:
        """ln P of a bin at the centre that is many scales wide, by the tails at its edges."""
        low, high = (float(self._edge(2 * index + side)) for side in (-1, 1))
        if low > 0 or (high < 0 and self.shape.symmetric):
            near, far = (low, high) if low > 0 else (-high, -low)
            tail = float(self.shape.log_tail(near))
            if tail == -math.inf:
                return tail
            return tail + math.log(-math.expm1(float(self.shape.log_tail(far)) - tail))
        if not self.shape.symmetric:
            return math.log(-math.expm1(float(self.shape.log_tail(high)))) if high > 0 else -math.inf
        return math.log1p(-sum(math.exp(float(self.shape.log_tail(edge))) for edge in (-low, high)))

    def _log_ball(self, index: int) -> float:
        """ln P(index) as a float; -∞ for an outcome that is impossible, or whose ln P is below all floats."""
        bits = _FLOAT_BITS // 2
        ratio = self.scale / self.step
        most = _MOST_BITS + 4 * max(0, ratio.numerator.bit_length() - ratio.denominator.bit_length())
        while bits < most:
            ball = self.ball_mass(index, bits)
            if ball == 0:
                return -math.inf
            if ball.rel_accuracy_bits() >= _FLOAT_BITS:
                with precision(_BITS):
                    return float(ball.log())
            bits *= 2
        with precision(_BITS):
            if not ball.upper().log() < -_LARGEST_LOG:
                raise PrivateDataError("the scale of the noise is too far below the step to compute this law")
        return -math.inf

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
            return min(1.0, math.nextafter(float(outside.upper()), math.inf))

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
        if not isinstance(other, RoundedLaw) or other.shape != self.shape:
            raise UnsupportedError(
                f"tail_loss compares two laws of one shape ({self.shape!r}); with another law it has no bound"
            )
        if other.step != self.step:
            raise ParameterError(
                f"the steps of two lattice laws must agree, got {self.step} and {other.step}"
            )
        # in units of this law's scale, about this law's centre
        ratio, shift = other.scale / self.scale, (other.centre - self.centre) / self.scale
        right, left = self._edge(2 * last + 1), self._edge(2 * first - 1)
        if max(abs(shift), abs(right), abs(left), ratio, 1 / ratio) > _LARGEST_LOSS:
            return math.inf  # no float tells how much
        stretch, move = _apart(float(ratio), 1.0, ratio == 1), _apart(float(shift), 0.0, shift == 0)
        above = tail_loss(self.shape, move, stretch, float(right))
        return max(above, tail_loss(self.shape, -move, stretch, -float(left)))

    def draw(self) -> int:
        """One index with this law, exactly."""
        return draw_on_lattice(self.shape, self.centre, self.scale, self.step)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _apart(value: float, point: float, same: bool) -> float:
    """The value, or the float next to ``point`` if it is rounded to it without being it."""
    return math.nextafter(point, math.inf) if value == point and not same else value
