"""Laplace-log-normal noise: concentrated differential privacy with a smooth bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from flint import arb

from sordino.core import Distance, Guarantee, Loss
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.noise import (
    check_calibration,
    checked,
    needs_delta,
    padded,
    shortened,
    too_large,
)
from sordino.mechanisms.noise.rounding import certainly_at_most, lower_until
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.mechanisms.noise.zero_concentrated import largest_rho
from sordino.sampling.shapes import LaplaceLogNormal

_TYPICAL_SIGMA = 0.4
_SIGMAS = (0.01, 4.0)


@dataclass(frozen=True, slots=True)
class LLNNoise:
    """f(x) + (S(x)/α)·L·e^{σN}, with L Laplace and N normal.

    **Guarantee**: ρ-zCDP with ρ = ½(β/σ + e^{1.5σ²}α)², converted to (ε, δ).
    **Requires**: S is β-smooth and bounds the local sensitivity; δ > 0.
    **Source**: Bun and Steinke 2019 (not pure and not (ε, δ) as such, which SNM claims); the conversion is
    the optimal one of one Rényi order, see `largest_rho`.
    **Numerics**: α is lowered until ball arithmetic proves ρ within the budget, for β plus the bound's
    rounding.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "lln", "Laplace-log-normal", constant="delta", smooth="delta", one_shape=False
    )
    sigma: float

    def __post_init__(self) -> None:
        LaplaceLogNormal(self.sigma)

    @classmethod
    def fitted(cls, epsilon: float, delta: float, beta: float, calibration: str = "tight") -> LLNNoise:
        """The σ that leaves the largest α at these public parameters."""
        check_calibration(cls.traits, calibration)
        epsilon, delta, beta = checked(epsilon, delta, beta)
        if beta == 0:
            return cls(_SIGMAS[0])
        rate = _rate(epsilon, delta)
        # maximise ln(rate - β/σ) - 1.5σ², concave where it is defined
        low, high = max(padded(beta) / rate, _SIGMAS[0]), _SIGMAS[1]
        if low >= high:
            raise too_large("lln", beta, epsilon, delta, rate * high)
        for _ in range(200):
            sigma = 0.5 * (low + high)
            left = rate - padded(beta) / sigma
            if left <= 0 or padded(beta) / (sigma**2 * left) > 3 * sigma:
                low = sigma
            else:
                high = sigma
        return cls(0.5 * (low + high))

    @property
    def shape(self) -> LaplaceLogNormal:
        """The law of Z."""
        return LaplaceLogNormal(self.sigma)

    @property
    def infinitesimal(self) -> bool:
        """The theorem speaks of one shift and one stretch."""
        return False

    def default_beta(self, epsilon: float, delta: float) -> float:
        """The β that takes half of √(2ρ)."""
        return self.sigma * _rate(*checked(epsilon, delta, 0.0)[:2]) / 2

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """The supremum of the β for which some α > 0 exists."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        return self.sigma * _rate(epsilon, delta)

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down."""
        epsilon, delta, beta = checked(epsilon, delta, beta)
        stretch, rate = padded(beta), _rate(epsilon, delta)
        candidate = math.exp(-1.5 * self.sigma**2) * (rate - stretch / self.sigma)
        if candidate <= 0:
            raise too_large(
                f"lln (sigma = {self.sigma:.3g})", beta, epsilon, delta, self.largest_beta(epsilon, delta)
            )

        def spent(alpha: float) -> arb:
            sigma = arb(self.sigma)
            return stretch / sigma + (1.5 * sigma * sigma).exp() * alpha

        found = lower_until(candidate, lambda a: certainly_at_most(lambda: spent(a), rate), "lln")
        return shortened(found, beta)

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """(ε, δ) by conversion."""
        theorem = "Bun and Steinke 2019, Laplace-log-normal noise (zCDP); zCDP to (ε, δ)"
        return Guarantee(Loss(epsilon=epsilon, delta=delta), distance, theorem)


def _fitted(calibration: str, epsilon: float, delta: float, beta: float) -> LLNNoise:
    return LLNNoise.fitted(epsilon, delta, beta, calibration)


def _typical(calibration: str) -> LLNNoise:
    """The σ whose default β is taken where none is given, before σ is fitted to that β."""
    check_calibration(LLNNoise.traits, calibration)
    return LLNNoise(_TYPICAL_SIGMA)


NOISE = NoiseEntry(LLNNoise.traits, _fitted, _typical)


def _rate(epsilon: float, delta: float) -> float:
    """√(2ρ), rounded down."""
    if delta == 0:
        raise needs_delta(LLNNoise.traits)
    return math.nextafter(math.sqrt(2 * largest_rho(epsilon, delta)) * (1 - 2.0**-50), 0.0)
