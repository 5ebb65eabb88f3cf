"""Discrete Gaussian noise: (ε, δ) in whole steps, for a constant bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from sordino.core import CalibrationError, Distance, Guarantee, Loss, ParameterError
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.gaussian import divergence
from sordino.mechanisms.noise.integer_law import IntegerLaw, checked_width
from sordino.mechanisms.noise.noise import checked, in_range, needs_delta
from sordino.mechanisms.noise.rounding import certainly_at_most, find_largest
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.mechanisms.noise.zero_concentrated import largest_rho
from sordino.sampling.discrete import draw_discrete_gaussian

_MOST_TERMS = 1 << 20  # lattice points of one sum; beyond, the continuous law decides
_LARGEST_INVERSE = 1e6  # of σ: such noise is 0 but for e^{-5e11}, and a smaller σ gains nothing
_ROUNDING = 1e-10  # outward, above the error of such a sum


@dataclass(frozen=True, slots=True)
class DiscreteGaussianNoise:
    """k + K with P(K) proportional to e^{-K²/(2σ²)}.

    **Guarantee**: (ε, δ)-DP: P(K > εσ²/Δ - Δ/2) - e^ε·P(K > εσ²/Δ + Δ/2) <= δ for the integer sensitivity Δ.
    Smaller shifts cost less: the law is log-concave, so for every shift d the worst events are half-lines [t,
    ∞), and P(K >= t - d) - e^ε·P(K >= t) increases with d.
    **Requires**: a constant bound that is a whole number of steps.
    **Source**: Canonne, Kamath and Steinke 2020, Theorem 7. Laws wider than 2²⁰ lattice points are compared
    with the continuous law, see `_wide_divergence_holds`.
    **Numerics**: the sums are floats with an outward margin of 1e-10; σ is the smallest that passes, by
    bisection.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "discrete_gaussian", "discrete Gaussian", constant="delta", integer=True
    )

    def width(self, sensitivity: Fraction, epsilon: float, delta: float) -> Fraction:
        """σ²."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        if delta == 0:
            raise needs_delta(self.traits)
        if sensitivity.denominator != 1 or sensitivity <= 0:
            raise ParameterError(
                f"discrete_gaussian noise needs a sensitivity of a whole number of steps, got {sensitivity} steps"
            )
        return _smallest_variance(int(in_range("the sensitivity in steps", sensitivity)), epsilon, delta)

    def scale(self, width: Fraction) -> Fraction:
        """σ."""
        return Fraction(math.sqrt(width))

    def law(self, centre: int, width: Fraction, step: Fraction) -> IntegerLaw:
        """The law of the released index."""
        sigma = math.sqrt(float(checked_width(width)))
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
            draw_discrete_gaussian,
        )

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """(ε, δ)."""
        theorem = "Canonne, Kamath and Steinke 2020, Thm 7, discrete Gaussian"
        return Guarantee(Loss(epsilon=epsilon, delta=delta), distance, theorem)


NOISE = NoiseEntry(DiscreteGaussianNoise.traits, integer=DiscreteGaussianNoise())


@lru_cache(maxsize=1024)
def _smallest_variance(shift: int, epsilon: float, delta: float) -> Fraction:
    safe = shift / math.sqrt(2 * largest_rho(epsilon, delta))
    # 1/σ as the variable: the conditions hold below some value
    if 2 * (_reach(safe) + shift) <= _MOST_TERMS:
        inverse = find_largest(
            lambda p: p < _LARGEST_INVERSE and gaussian_divergence(1 / p, shift, epsilon) <= delta, 1 / safe
        )
    else:
        inverse = find_largest(
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
