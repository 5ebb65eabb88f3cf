"""Gaussian noise for a constant bound: the analytic calibration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from flint import arb

from sordino.core import Distance, Guarantee, Loss, UnsupportedError
from sordino.mechanisms.noise.entry import make_entry
from sordino.mechanisms.noise.noise import check_calibration, checked, needs_delta
from sordino.mechanisms.noise.rounding import certainly_at_most, find_largest
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import Normal


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """f(x) + (Δ/α)·N, with N standard normal and Δ a global sensitivity.

    **Guarantee**: (ε, δ)-DP, exactly: Φ(α/2 - ε/α) - e^ε·Φ(-α/2 - ε/α) <= δ.
    **Requires**: a constant bound. Two Gaussians of different width have a privacy loss that grows like the
    square of the output, so a smooth bound is refused.
    **Source**: Balle and Wang 2018, Theorem 8.
    **Numerics**: α is the largest float for which ball arithmetic proves the inequality.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits("gaussian", "Gaussian", constant="delta")
    calibration: str = "tight"

    def __post_init__(self) -> None:
        check_calibration(self.traits, self.calibration)

    @property
    def shape(self) -> Normal:
        """The law of Z."""
        return Normal()

    @property
    def infinitesimal(self) -> bool:
        """A constant bound on the slope bounds the difference."""
        return True

    def default_beta(self, epsilon: float, delta: float) -> float:
        """0: the bound must be constant."""
        return 0.0

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """0: the bound must be constant."""
        return 0.0

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down."""
        epsilon, delta, beta = checked(epsilon, delta, beta)
        if beta > 0:
            raise UnsupportedError(
                "gaussian noise takes a constant bound (a global sensitivity); `sordino.advise(epsilon, delta, "
                "beta=…)` lists the noises for a smooth one"
            )
        if delta == 0:
            raise needs_delta(self.traits)
        return _largest_alpha(epsilon, delta)

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """(ε, δ)."""
        return Guarantee(
            Loss(epsilon=epsilon, delta=delta), distance, "Balle and Wang 2018, analytic Gaussian"
        )


NOISE = make_entry(GaussianNoise, GaussianNoise.traits)


@lru_cache(maxsize=1024)
def _largest_alpha(epsilon: float, delta: float) -> float:
    return find_largest(lambda alpha: certainly_at_most(lambda: divergence(epsilon, alpha), delta), 1.0)


def divergence(epsilon: float, alpha: float) -> arb:
    """The hockey-stick divergence of two normal laws whose means are α standard deviations apart."""
    root, loss, shift = arb(2).sqrt(), arb(epsilon), arb(alpha)
    inner = ((loss / shift - shift / 2) / root).erfc()
    outer = ((loss / shift + shift / 2) / root).erfc()
    return (inner - loss.exp() * outer) / 2
