"""Discrete Laplace noise: pure differential privacy in whole steps, for a constant bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sordino.core import Distance, Guarantee, Loss, ParameterError
from sordino.core.parameters import positive
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.integer_law import IntegerLaw, checked_width
from sordino.mechanisms.noise.noise import in_range
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.discrete import draw_discrete_laplace


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceNoise:
    """k + K with P(K) proportional to e^{-|K|ε/Δ}, Δ in lattice steps.

    **Guarantee**: ε-DP.
    **Requires**: a constant bound; values on the lattice, or a bound of whole steps (see `add_noise`).
    **Source**: Ghosh, Roughgarden, Sundararajan 2009. **Numerics**: none, the scale Δ/ε is an exact rational.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "discrete_laplace", "discrete Laplace", constant="pure", integer=True
    )

    def width(self, sensitivity: Fraction, epsilon: float, delta: float) -> Fraction:
        """Δ/ε."""
        if sensitivity <= 0:
            raise ParameterError(f"the sensitivity must be > 0, got {sensitivity}")
        budget = in_range("epsilon", positive("epsilon", epsilon))
        return Fraction(in_range("the sensitivity in steps", sensitivity)) / Fraction(budget)

    def scale(self, width: Fraction) -> Fraction:
        """The width itself."""
        return width

    def law(self, centre: int, width: Fraction, step: Fraction) -> IntegerLaw:
        """The law of the released index."""
        rate = float(1 / checked_width(width))
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
            draw_discrete_laplace,
        )

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """Pure: δ is not used."""
        return Guarantee(Loss(epsilon=epsilon), distance, "discrete Laplace mechanism")


NOISE = NoiseEntry(DiscreteLaplaceNoise.traits, integer=DiscreteLaplaceNoise())
