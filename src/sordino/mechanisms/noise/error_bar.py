"""An error bar that may be published: a private upper bound on a scale that follows the data."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sordino.core.parameters import as_written, positive, probability
from sordino.mechanisms.noise.discrete import DiscreteLaplaceNoise, IntegerLaw
from sordino.mechanisms.noise.noise import padded
from sordino.sampling.shapes import Shape

_PARTS = 8  # lattice points of ln(scale) per unit of its sensitivity
_LOGARITHM = 2.0**-39  # the logarithm of a double is off by far less than half of it
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """Releases K = ⌈ln(scale)/τ⌉ + discrete Laplace noise, and reads a radius off it.

    **Guarantee**: ε-DP per unit of distance for ``epsilon``. ln of a scale that grows by at most e^β per unit of
    distance has global sensitivity β; τ = β/m makes that m lattice points, and ⌈a + m⌉ = ⌈a⌉ + m, so rounding up
    costs nothing. A change of weight G moves ⌈·⌉ by at most ⌈Gm⌉, which is Gm because m is a multiple of the
    denominators of all weights. Beside the noisy answer, which costs ε' of its own, the two together cost ε' + ε
    (sequential composition: both are drawn from one snapshot with independent randomness).
    **Holds**: the radius R(K) is at least the distance between the released and the exact answer with probability
    >= ``confidence``. Half of what may fail is for K (U = e^{τ(K + q)} >= scale unless the Laplace noise is below
    -q) and half for the noise (|Z| <= r), and then the answer is off by at most rU and half a step of rounding.
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
        positive("epsilon", epsilon), positive("beta", beta), probability("confidence", confidence)
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
        return math.ceil(Fraction(math.log(scale)) / self.spacing)

    def law(self, scale: Fraction) -> IntegerLaw:
        """The law of K."""
        return DiscreteLaplaceNoise().law(self.centre(scale), self.width, Fraction(1))

    @property
    def margin(self) -> int:
        """The least q with P(noise < -q) <= half of what may fail."""
        rate = float(1 / self.width)
        # P(noise <= -n) = e^{-n·rate}/(1 + e^{-rate})
        least = -(math.log((1 - self.confidence) / 2) + math.log1p(math.exp(-rate))) / rate
        return max(0, math.ceil(least * (1 + 1e-9)))

    def upper_scale(self, released: int) -> float:
        """U: at least the scale, unless the noise of K fell too low."""
        exponent = float((released + self.margin) * self.spacing)
        return math.exp(exponent) * (1 + 1e-12) if exponent < 700 else _LARGEST

    def radius(self, released: int, shape: Shape, *, step: Fraction) -> float:
        """R(K): what may be published, for an answer on the lattice of ``step`` whose exact value lies on it too."""
        reach = shape.radius((1 + self.confidence) / 2) * (1 + 1e-9) * self.upper_scale(released)
        steps = reach / float(step) + 0.5
        return min(_LARGEST, math.floor(steps) * float(step)) if steps < 2.0**52 else min(_LARGEST, reach)
