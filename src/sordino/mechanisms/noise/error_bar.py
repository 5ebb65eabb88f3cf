"""An error bar that may be published: a private upper bound on a scale that follows the data."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sordino.core.parameters import as_written, positive, probability
from sordino.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
from sordino.mechanisms.noise.integer_law import IntegerLaw
from sordino.mechanisms.noise.noise import in_range, padded
from sordino.sampling.shapes import Shape

_BINS = 1 << 12
_PARTS = 8  # lattice points of ln(scale) per unit of its sensitivity
_LOGARITHM = 2.0**-39  # the logarithm of a double is off by far less than half of it
_LARGEST = sys.float_info.max
_LARGEST_SCALE = Fraction(10) ** 300


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """Releases K = ⌈ln(scale)/τ⌉ + discrete Laplace noise, and reads a radius off it.

    **Guarantee**: ε-DP per unit of distance for ``epsilon``. ln of a scale that grows by at most e^β per unit of
    distance has global sensitivity β; τ = β/m makes that m lattice points, and ⌈a + m⌉ = ⌈a⌉ + m, so rounding up
    costs nothing. A change of weight G moves ⌈·⌉ by at most ⌈Gm⌉, which is Gm because m is a multiple of the
    denominators of all weights. Beside the noisy answer, which costs ε' of its own, the two together cost ε' + ε
    (sequential composition: both are drawn from one snapshot with independent randomness).
    **Holds**: the radius R(K) is at least the distance between the released and the exact answer with probability
    >= ``confidence``. The answer is off by at most scale·|Z| and half a step of rounding, and scale <= e^{τ(K − N)} for
    the Laplace noise N of K; both laws are known, so R(K) = r·e^{τK} with the least r for which
    P(|Z| > r·e^{τN}) <= 1 − confidence.
    **Requires**: ``beta`` is a public bound on the change of ln(scale) per unit of distance
    (`BetaGrid.largest_beta`).
    **Source**: NAPLES report, section 3.3.12 (ln of a β-smooth bound has sensitivity β); the lattice is added here.
    **Numerics**: τ includes the rounding of the scale and of its logarithm; the division by τ is exact.
    """

    epsilon: Fraction
    parts: int
    spacing: Fraction
    confidence: float

    @classmethod
    def of(
        cls, *, epsilon: Fraction, beta: float, weights: Iterable[Fraction] = (), confidence: float = 0.95
    ) -> ErrorBar:
        """From public parameters: what it may cost, and how much ln(scale) changes per unit of distance."""
        in_range("epsilon", positive("epsilon", epsilon)), in_range("beta", positive("beta", beta))
        probability("confidence", confidence)
        given = [Fraction(1), *weights]
        parts = _PARTS * math.lcm(*(weight.denominator for weight in given))
        rounding = Fraction(padded(1.0) - 1.0) + Fraction(_LOGARITHM)
        reach = Fraction(beta) + rounding / min(given)  # a light change has less β to hide its rounding in
        return cls(as_written("epsilon", epsilon), parts, reach / parts, confidence)

    @property
    def width(self) -> Fraction:
        """The scale of the discrete Laplace noise, in lattice points."""
        return self.parts / self.epsilon

    def centre(self, scale: Fraction) -> int:
        """⌈ln(scale)/τ⌉: confidential."""
        # as a quotient of integers, which have logarithms however large they are
        logarithm = (
            math.log(scale.numerator) - math.log(scale.denominator) if _is_extreme(scale) else math.log(scale)
        )
        return math.ceil(Fraction(logarithm) / self.spacing)

    def law(self, scale: Fraction) -> IntegerLaw:
        """The law of K."""
        return DiscreteLaplaceNoise().law(self.centre(scale), self.width, Fraction(1))

    def reach(self, shape: Shape) -> float:
        """The least r with P(|Z| > r·e^{τN}) <= 1 - confidence, rounded up."""
        found: float = _reach(float(1 / self.width), float(self.spacing), self.confidence, shape)  # type: ignore[arg-type]
        return found

    def radius(self, released: int, shape: Shape, *, step: Fraction) -> float:
        """R(K): what may be published, for an answer on the lattice of ``step`` whose exact value lies on it too."""
        exponent = float(released * self.spacing)
        reach = self.reach(shape) * math.exp(exponent) if exponent < 600 else _LARGEST
        steps = reach / float(step) + 0.5
        return min(_LARGEST, math.floor(steps) * float(step)) if steps < 2.0**52 else min(_LARGEST, reach)


def _is_extreme(scale: Fraction) -> bool:
    return not 1 / _LARGEST_SCALE < scale < _LARGEST_SCALE


@lru_cache(maxsize=256)
def _reach(rate: float, spacing: float, confidence: float, shape: Shape) -> float:
    """By bisection; N, with P(N <= -n) = e^{-n·rate}/(1 + e^{-rate}), is taken at the lower ends of `_BINS` bins."""
    furthest = math.ceil(40 / rate)
    edges = np.unique(np.linspace(-furthest, furthest, _BINS + 1).round())
    outside = np.exp(-rate * np.where(edges < 0, -edges, edges + 1)) / (1 + math.exp(-rate))
    below = np.where(edges < 0, outside, 1 - outside)
    # At most e_0 (it fails), then (e_i, e_{i+1}] with e_i + 1 as its lower end, then all beyond the last edge.
    masses = np.diff(np.append(below, 1.0))
    lower = np.exp(spacing * (edges + 1))

    def fails(r: float) -> float:
        tails = 2 * np.exp(shape.log_tail(r * lower))
        return float(below[0] + masses @ np.minimum(1.0, tails))

    allowed = (1 - confidence) * (1 - 1e-6)
    low, high = 0.0, 1.0
    while fails(high) > allowed:
        low, high = high, 2 * high
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fails(middle) > allowed else (low, middle)
    return high * (1 + 1e-9)
