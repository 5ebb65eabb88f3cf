"""Noise on the lattice itself: discrete Laplace and discrete Gaussian, for values that are lattice points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import CalibrationError, Distance, Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.parameters import positive
from sordino.mechanisms.noise.gaussian import divergence
from sordino.mechanisms.noise.noise import checked, in_range
from sordino.mechanisms.noise.rounding import certainly_at_most, largest
from sordino.mechanisms.noise.zero_concentrated import largest_rho
from sordino.sampling.discrete import discrete_gaussian, discrete_laplace

FloatArray = NDArray[np.float64]

_MOST_TERMS = (
    1 << 20
)  # lattice points of one sum over a discrete Gaussian; beyond, the continuous law decides
_LARGEST_WIDTH = Fraction(10) ** 250
_LARGEST_INVERSE = 1e6  # of σ: such noise is 0 but for e^{-5e11}, and a smaller σ gains nothing
_LOG_ERROR = 1e-13
_ROUNDING = 1e-10  # outward, above the error of such a sum


class DiscreteNoise(Protocol):
    """Integer noise added to k = value/step, for a constant bound that is ``sensitivity`` lattice steps."""

    @property
    def name(self) -> str:
        """The name by which `add_noise` knows it."""

    def width(self, sensitivity: Fraction, epsilon: float, delta: float) -> Fraction:
        """The parameter of the integer law: its scale, or its σ²."""

    def law(self, centre: int, width: Fraction, step: Fraction) -> IntegerLaw:
        """The law of the released index."""

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """What it guarantees."""


@dataclass(frozen=True, slots=True)
class IntegerLaw:
    """The law of centre + K for an integer K, as `sordino.audit.prove` reads it.

    ``log_mass`` gives ln P(K = k) within 1e-13·(1 + |ln P|), ``reach`` an n with P(|K| > n) <= 1e-15, ``outside``
    an upper bound on P(|K| > n), and ``loss_rate`` the log ratio per step of shift far out (∞ where it grows).
    """

    centre: int
    width: Fraction
    step: Fraction
    log_mass: Callable[[FloatArray], FloatArray]
    reach: int
    outside: Callable[[int], float]
    loss_rate: float
    sample: Callable[[Fraction], int]

    def __repr__(self) -> str:
        return f"IntegerLaw(<secret>, width={self.width}, step={self.step})"

    @property
    def log_error(self) -> float:
        """How far each number of `log_masses` may be off, relative to 1 + its size; `prove` adds it to the losses."""
        return _LOG_ERROR

    def window(self) -> tuple[int, int]:
        """Indices (first, last), both included, outside which at most 1e-15 of the mass lies."""
        return self.centre - self.reach, self.centre + self.reach

    def log_masses(self, first: int, last: int) -> FloatArray:
        """ln P(k) for k = first, …, last."""
        return self.log_mass(np.arange(first - self.centre, last - self.centre + 1, dtype=np.float64))

    def tail_mass(self, first: int, last: int) -> float:
        """An upper bound on the mass outside first, …, last."""
        nearest = min(self.centre - first, last - self.centre)
        return 1.0 if nearest < 0 else min(1.0, self.outside(nearest))

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """An upper bound on |ln(P(k)/P_other(k))| outside first, …, last."""
        if not isinstance(other, IntegerLaw) or (other.width, other.step) != (self.width, self.step):
            raise UnsupportedError("tail_loss compares two laws of one width and step")
        shift = abs(other.centre - self.centre)
        return shift * self.loss_rate * (1 + 1e-12) if shift else 0.0

    def draw(self) -> int:
        """One index with this law, exactly."""
        return self.centre + self.sample(self.width)


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceNoise:
    """k + K with P(K) proportional to e^{-|K|ε/Δ}, Δ in lattice steps.

    **Guarantee**: ε-DP. **Requires**: a constant bound; values on the lattice.
    **Source**: Ghosh, Roughgarden, Sundararajan 2009. **Numerics**: none, the scale Δ/ε is an exact rational.
    """

    @property
    def name(self) -> str:
        """The name by which `add_noise` knows it."""
        return "discrete_laplace"

    def width(self, sensitivity: Fraction, epsilon: float, delta: float) -> Fraction:
        """Δ/ε."""
        if sensitivity <= 0:
            raise ParameterError(f"the sensitivity must be > 0, got {sensitivity}")
        budget = in_range("epsilon", positive("epsilon", epsilon))
        return Fraction(in_range("the sensitivity in steps", sensitivity)) / Fraction(budget)

    def law(self, centre: int, width: Fraction, step: Fraction) -> IntegerLaw:
        """The law of the released index."""
        rate = float(1 / _checked_width(width))
        constant = math.log(math.tanh(rate / 2))

        def outside(n: int) -> float:
            return 2 * math.exp(-(n + 1) * rate) / (1 + math.exp(-rate)) * (1 + 1e-12)

        return IntegerLaw(
            centre,
            width,
            step,
            lambda k: constant - np.abs(k) * rate,
            math.ceil(35.0 / rate) + 1,
            outside,
            rate,
            discrete_laplace,
        )

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """Pure: δ is not used."""
        return Guarantee(Loss(epsilon=epsilon), distance, "discrete Laplace mechanism")


@dataclass(frozen=True, slots=True)
class DiscreteGaussianNoise:
    """k + K with P(K) proportional to e^{-K²/(2σ²)}.

    **Guarantee**: (ε, δ)-DP: P(K > εσ²/Δ - Δ/2) - e^ε·P(K > εσ²/Δ + Δ/2) <= δ for the integer sensitivity Δ.
    Smaller shifts cost less: the law is log-concave, so for every shift d the worst events are half-lines [t,
    ∞), and P(K >= t - d) - e^ε·P(K >= t) increases with d.
    **Requires**: a constant bound that is a whole number of steps; values on the lattice.
    **Source**: Canonne, Kamath and Steinke 2020, Theorem 7. Laws wider than 2²⁰ lattice points are compared
    with the continuous law, see `_wide_divergence_holds`.
    **Numerics**: the sums are floats with an outward margin of 1e-10; σ is the smallest that passes, by
    bisection.
    """

    @property
    def name(self) -> str:
        """The name by which `add_noise` knows it."""
        return "discrete_gaussian"

    def width(self, sensitivity: Fraction, epsilon: float, delta: float) -> Fraction:
        """σ²."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        if delta == 0:
            raise CalibrationError("discrete_gaussian noise needs delta > 0; discrete_laplace noise is pure")
        if sensitivity.denominator != 1 or sensitivity <= 0:
            raise ParameterError(
                f"discrete_gaussian noise needs a sensitivity of a whole number of steps, got {sensitivity} steps"
            )
        return _smallest_variance(int(in_range("the sensitivity in steps", sensitivity)), epsilon, delta)

    def law(self, centre: int, width: Fraction, step: Fraction) -> IntegerLaw:
        """The law of the released index."""
        sigma = math.sqrt(float(_checked_width(width)))
        constant = -math.log(_total(sigma))

        def outside(n: int) -> float:
            return math.exp(-0.5 * (n / sigma) ** 2) * 2 if n > 0 else 1.0  # P(|K| > n) <= P(|K| >= n)

        return IntegerLaw(
            centre,
            width,
            step,
            lambda k: constant - k * k / (2 * float(width)),
            math.ceil(8.5 * sigma) + 1,
            outside,
            math.inf,
            discrete_gaussian,
        )

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """(ε, δ)."""
        theorem = "Canonne, Kamath and Steinke 2020, Thm 7, discrete Gaussian"
        return Guarantee(Loss(epsilon=epsilon, delta=delta), distance, theorem)


def _checked_width(width: Fraction) -> Fraction:
    """The public width of an integer law, refused where floats could not speak of it."""
    if not 1 / _LARGEST_WIDTH < width < _LARGEST_WIDTH:
        raise ParameterError(
            "the width of integer noise must be between 1e-250 and 1e250, got a number outside"
        )
    return width


@lru_cache(maxsize=1024)
def _smallest_variance(shift: int, epsilon: float, delta: float) -> Fraction:
    safe = shift / math.sqrt(2 * largest_rho(epsilon, delta))
    # 1/σ as the variable: the conditions hold below some value
    if 2 * (_reach(safe) + shift) <= _MOST_TERMS:
        inverse = largest(
            lambda p: p < _LARGEST_INVERSE and gaussian_divergence(1 / p, shift, epsilon) <= delta, 1 / safe
        )
    else:
        inverse = largest(
            lambda p: p < _LARGEST_INVERSE and _wide_divergence_holds(1 / p, shift, epsilon, delta), 1 / safe
        )
    if inverse == 0:
        raise CalibrationError(
            f"discrete_gaussian noise cannot be certified at epsilon = {epsilon:g}, delta = {delta:g} for a "
            f"sensitivity of {shift} steps; a smaller epsilon or a larger step can"
        )
    return Fraction(1 / inverse) ** 2 * (1 + Fraction(1, 1 << 50))


def _wide_divergence_holds(sigma: float, shift: int, epsilon: float, delta: float) -> bool:
    """δ of a discrete Gaussian too wide to sum, by that of the continuous one.

    With t = εσ²/Δ - Δ/2, the summand g(x) = e^{-x²/(2σ²)}(1 - e^{-(x-t)Δ/σ²}) is log-concave on x > t, so its
    sum over the integers is at most its integral plus its maximum; for t > 0 that is at most
    e^{-t²/(2σ²)}·min(1, Δ/(et)), from 1 - e^{-v} <= v. The sum is divided by the total mass, which is at
    least that of the integral, σ√(2π).
    """
    t = epsilon * sigma * sigma / shift - shift / 2
    standard = t / sigma  # multiplied out: a power would raise where a product is infinite
    highest = math.exp(-0.5 * standard * standard) * min(1.0, shift / (math.e * t)) if t > 0 else 1.0
    extra = highest / (sigma * math.sqrt(2 * math.pi)) * (1 + _ROUNDING)
    alpha = shift / sigma * (1 + _ROUNDING)
    return delta > extra and certainly_at_most(lambda: divergence(epsilon, alpha), delta - extra)


def gaussian_divergence(sigma: float, shift: int, epsilon: float) -> float:
    """An upper bound on the hockey-stick divergence of a discrete Gaussian and its shift by ``shift`` steps."""
    first = (
        math.floor(epsilon * sigma * sigma / shift - shift / 2) - 1
    )  # below it the loss is certainly less than ε
    if first > _reach(sigma):
        return math.exp(-0.5 * (first / sigma) * (first / sigma))  # a sub-Gaussian tail
    points = np.arange(first, max(first, 0) + _reach(sigma) + 1, dtype=np.float64)
    inner = np.exp(-0.5 * (points / sigma) ** 2) * (1 + _ROUNDING)
    outer = np.exp(np.minimum(epsilon - 0.5 * ((points + shift) / sigma) ** 2, 700.0)) * (1 - _ROUNDING)
    return float(np.maximum(inner - outer, 0.0).sum() / _total(sigma)) * (1 + _ROUNDING)


def _reach(sigma: float) -> int:
    """Beyond it, terms are below the smallest float."""
    return math.ceil(39 * sigma) + 40


def _total(sigma: float) -> float:
    """Σ e^{-k²/(2σ²)} over all integers; from σ = 3 on it is σ√(2π) to double precision (Poisson summation)."""
    if sigma > 3:
        return sigma * math.sqrt(2 * math.pi)
    k = np.arange(-_reach(sigma), _reach(sigma) + 1, dtype=np.float64)
    return float(np.exp(-0.5 * (k / sigma) ** 2).sum())
