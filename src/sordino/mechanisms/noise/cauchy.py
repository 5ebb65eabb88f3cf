"""Generalised Cauchy noise: pure differential privacy with a smooth bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from flint import arb

from sordino.core import Distance, Guarantee, Loss
from sordino.mechanisms.noise.entry import make_entry
from sordino.mechanisms.noise.noise import check_calibration, checked, padded, shortened, too_large
from sordino.mechanisms.noise.rounding import certainly_at_most, find_largest, lower_until
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import GeneralisedCauchy


@dataclass(frozen=True, slots=True)
class CauchyNoise:
    """f(x) + (S(x)/α)·C, with C of density proportional to 1/(1 + |z|^γ).

    **Guarantee**: ε-DP, by one of three calibrations (loose to tight):
    *report*: α = ε/(γ+1) - β;
    *split*: α = (ε - β·max(1, γ-1))/(γ-1)^{(γ-1)/γ};
    *tight* (default): ε = sup over z >= 0 of αγz^{γ-1}/(1+z^γ) + β|γz^γ/(1+z^γ) - 1|, the rate of the log
    density along a straight path of (centre, ln scale). With w = z^γ/(1+z^γ) in [0, 1] the two terms are
    αγ·w^{1-1/γ}(1-w)^{1/γ}, which is concave in w, and β times the larger of ±(γw - 1), which are linear: two
    concave functions, so a tangent at any point bounds each from above everywhere.

    **Requires**: S is β-smooth and bounds the sensitivity, local or derivative.
    **Source**: NAPLES report Thm 3.53 (report); the exact rate is derived.
    **Numerics**: the maximiser is found in floating point, then the tangent there is evaluated in ball
    arithmetic: a rigorous upper bound on the supremum, which α is lowered to meet, for β plus the bound's
    rounding.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "cauchy",
        "generalised Cauchy",
        constant="pure",
        smooth="pure",
        calibrations=("tight", "split", "report"),
        path="tight",
    )
    gamma: float = 4.0
    calibration: str = "tight"

    def __post_init__(self) -> None:
        GeneralisedCauchy(self.gamma)
        check_calibration(self.traits, self.calibration)

    @property
    def shape(self) -> GeneralisedCauchy:
        """The law of Z."""
        return GeneralisedCauchy(self.gamma)

    @property
    def infinitesimal(self) -> bool:
        """The loss is bounded by its rate along a path."""
        return True

    def default_beta(self, epsilon: float, delta: float) -> float:
        """Half of the largest β of the report's calibration: ε/(2(γ+1))."""
        epsilon, _, _ = checked(epsilon, delta, 0.0)
        return epsilon / (2 * (self.gamma + 1))

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """The supremum of the β for which some α > 0 exists."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        return epsilon / (self.gamma + 1 if self.calibration == "report" else max(1.0, self.gamma - 1))

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down."""
        epsilon, delta, beta = checked(epsilon, delta, beta)
        stretch, gamma = padded(beta), self.gamma
        peak = (gamma - 1) ** ((gamma - 1) / gamma)
        split = (epsilon - stretch * max(1.0, gamma - 1)) / peak
        if self.calibration == "report":
            candidate = epsilon / (gamma + 1) - stretch
        elif self.calibration == "split" or split <= 0:
            candidate = split
        else:
            candidate = _largest_alpha(gamma, epsilon, stretch, split)
        if candidate <= 0:
            raise too_large(
                f"cauchy (gamma = {gamma:g})", beta, epsilon, delta, self.largest_beta(epsilon, delta)
            )
        found = lower_until(candidate, lambda a: _certified(gamma, a, stretch, epsilon), "cauchy")
        return shortened(found, beta)

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """Pure: δ is not used."""
        return Guarantee(
            Loss(epsilon=epsilon),
            distance,
            f"generalised Cauchy noise with a smooth bound, {self.calibration}",
        )


NOISE = make_entry(lambda calibration: CauchyNoise(calibration=calibration), CauchyNoise.traits)


@lru_cache(maxsize=1024)
def _largest_alpha(gamma: float, epsilon: float, beta: float, start: float) -> float:
    """The α whose loss is ε, in floating point."""
    return find_largest(lambda alpha: _float_loss(gamma, alpha, beta) <= epsilon, start)


def _maximiser(gamma: float, alpha: float, slope: float) -> float:
    """The w in (0, 1) where αγ·w^p(1-w)^q + slope·γw is find_largest, p = 1 - 1/γ and q = 1/γ: its derivative falls."""
    p, q = 1 - 1 / gamma, 1 / gamma
    low, high = 1e-300, 1 - 2.0**-53
    for _ in range(120):
        middle = 0.5 * (low + high) if low > 1e-3 else math.sqrt(low * high)
        rate = alpha * middle**p * (1 - middle) ** q * (p / middle - q / (1 - middle)) + slope
        if rate > 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _float_loss(gamma: float, alpha: float, beta: float) -> float:
    losses = []
    for sign in (1.0, -1.0):
        w = _maximiser(gamma, alpha, sign * beta)
        power = math.pow(w, 1 - 1 / gamma) * math.pow(1 - w, 1 / gamma)
        losses.append(alpha * gamma * power + sign * beta * (gamma * w - 1))
    return max(losses)


@lru_cache(maxsize=4096)
def _certified(gamma: float, alpha: float, beta: float, epsilon: float) -> bool:
    """Both tangents, at their largest over [0, 1], lie at or below ε."""
    for sign in (1.0, -1.0):
        w = _maximiser(gamma, alpha, sign * beta)

        def tangent(w: float = w, sign: float = sign) -> arb:
            point, order = arb(w), arb(gamma)
            q = 1 / order
            p = 1 - q
            power = point**p * (1 - point) ** q
            value = alpha * order * power + sign * beta * (order * point - 1)
            slope = alpha * order * power * (p / point - q / (1 - point)) + sign * beta * order
            # the tangent line is largest at w = 0 or at w = 1
            return value.max(value - slope * point).max(value + slope * (1 - point))

        if not certainly_at_most(tangent, epsilon):
            return False
    return True
