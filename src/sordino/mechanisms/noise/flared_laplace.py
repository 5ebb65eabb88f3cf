"""Flared Laplace noise: pure differential privacy with a smooth bound, with hardly more noise than a constant needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from flint import arb

from sordino.core import Distance, Guarantee, Loss
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.noise import check_calibration, checked, padded, shortened, too_large
from sordino.mechanisms.noise.rounding import certainly_at_most, lower_until
from sordino.mechanisms.noise.tail_loss import largest_beyond, tail_loss
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import FlaredLaplace

# The core at which a stretch costs as much at its edge as at the centre, so that a larger one would cost α.
_CORE = 2.0
# Beyond, e^{-c} would be lost among floats; there is nothing left to win at such an ε.
_LARGEST_CORE = 40.0
_STEEP = 100.0
# How far the power lies above the core at ε = 1, so that β may be up to ε/5. The smaller ε is, the more rows away the
# bound is looked at, and the more it grows on the way: lighter tails would pay for β that is needed then. Chosen by
# hand: bounds of joins alone would want about 2 at ε = 0.1, graph counts 4 (docs/decisions/mechanisms.md).
_FLARE = 4.0
_FLARE_PER_DECADE = 1.0
_FLARES = (1.5, 5.0)


@dataclass(frozen=True, slots=True)
class FlaredLaplaceNoise:
    """f(x) + (S(x)/α)·Z, with Z of density proportional to e^{-κ(|z|)}.

    κ(z) = z for z ≤ c, the core, and c + a·ln(1 + (z - c)/a) beyond, a the power. So κ' = 1 in the core and
    a/(z + a - c) beyond: κ' never grows and zκ'(z), which tends to a, never falls.

    **Guarantee**: ε-DP, by one of two calibrations, for c ≥ 2, a > c and (a - 1)β ≤ ε.

    *tight* (default), for bounds on differences. In units of the narrower scale let the laws be N about 0 with scale 1
    and W about s with scale e^λ, 0 ≤ s ≤ α and 0 ≤ λ ≤ β; suppose α ≤ c.
    (1) N against W at distance u from N's centre: λ + κ((u + s)e^{-λ}) - κ(u) at most. Its slope in u is
    κ'(y)e^{-λ} - κ'(u) with y = (u + s)e^{-λ}; if y ≥ u it is ≤ 0 since κ' does not grow, and if y < u it is
    yκ'(y)/(u + s) - κ'(u) ≤ uκ'(u)/(u + s) - κ'(u) ≤ 0. So the worst is u = 0: λ + se^{-λ}, which is convex in λ:
    at most max(α, β + αe^{-β}).
    (2) W against N at distance w (in W's scale) from W's centre: -λ + κ(we^λ + s) - κ(w) at most. Its slope in w is
    e^λκ'(we^λ + s) - κ'(w): ≥ 0 while both arguments are in the core; with one beyond it, positive up to w* = a -
    (s + a - c)e^{-λ} and negative after; with both beyond it, of the sign of (a - c)(e^λ - 1) - s, which is positive
    just if w* > c. So the supremum is (a - 1)λ, at infinity, if (a - c)(e^λ - 1) ≥ s, and else
    (a - 1)λ - (a - c)(1 - e^{-λ}) + se^{-λ}, at w*. Both grow with s. The second is convex in λ: at most its values
    at 0, which is s, and at β; the first is at most (a - 1)β. At β it is never below what (1) gives there:
    (a - 2)β ≥ (a - c)(1 - e^{-β}). Hence the largest α is the smallest of ε, c and
    e^β(ε - (a - 1)β) + (a - c)(e^β - 1).

    *path*, for bounds on slopes and for changes of any weight: along a straight path of (centre, ln scale) the log
    density changes at most at the rate ακ'(z) + β|zκ'(z) - 1|, which is at most α + β(c - 1) in the core and lies
    between that and (a - 1)β beyond it. Hence α = ε - (c - 1)β.

    A change of weight G that is a whole number is G steps of a path in each of which the bound holds: Gε.

    **Requires**: S is β-smooth and bounds the sensitivity.
    **Source**: derived here. Polynomial noise (1 + |z|)^{-a} is the case without a core; its α is lower, and its
    tails carry more of its mass.
    **Numerics**: α is lowered until ball arithmetic proves the loss at most ε, for β plus the bound's rounding.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "flared_laplace",
        "flared Laplace",
        constant="pure",
        smooth="pure",
        calibrations=("tight", "path"),
        path="path",
    )
    core: float = _CORE
    power: float = _CORE + _FLARE
    calibration: str = "tight"

    def __post_init__(self) -> None:
        FlaredLaplace(self.core, self.power)
        check_calibration(self.traits, self.calibration)

    @property
    def shape(self) -> FlaredLaplace:
        """The law of Z."""
        return FlaredLaplace(self.core, self.power)

    @property
    def infinitesimal(self) -> bool:
        """Only along a path."""
        return self.calibration == "path"

    def default_beta(self, epsilon: float, delta: float) -> float:
        """Three quarters of the largest β."""
        return 0.75 * self.largest_beta(epsilon, delta)

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """The supremum of the β for which some α > 0 exists."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        return epsilon / (self.power - 1)

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down."""
        epsilon, delta, beta = checked(epsilon, delta, beta)
        stretch = padded(beta)
        if (self.power - 1) * stretch > epsilon:
            raise too_large("flared_laplace", beta, epsilon, delta, self.largest_beta(epsilon, delta))
        candidate = self._candidate(epsilon, stretch)
        loss = self._path_loss if self.infinitesimal else self._pair_loss
        found = lower_until(
            candidate, lambda a: certainly_at_most(lambda: loss(a, stretch), epsilon), "flared_laplace"
        )
        return shortened(found, beta)

    def _candidate(self, epsilon: float, beta: float) -> float:
        if self.infinitesimal:
            return min(epsilon - max(1.0, self.core - 1) * beta, self.core)
        if beta > _STEEP:  # e^β alone is more than the core
            return min(epsilon, self.core)
        spare = math.exp(beta) * (epsilon - (self.power - 1) * beta)
        bent = spare + (self.power - self.core) * math.expm1(beta)
        return min(epsilon, self.core, bent, math.exp(beta) * (epsilon - beta))

    def _pair_loss(self, alpha: float, beta: float) -> arb:
        """The supremum over all pairs, as a ball."""
        size, stretch, power = arb(alpha), arb(beta), arb(self.power)
        centre = size.max(stretch + size * (-stretch).exp())
        spread = (power - arb(self.core)) * (1 - (-stretch).exp())
        bend = (power - 1) * stretch + (size * (-stretch).exp() - spread).max(arb(0))
        return centre.max(bend)

    def _path_loss(self, alpha: float, beta: float) -> arb:
        """The supremum of the rate, as a ball."""
        core = arb(alpha) + arb(beta) * max(1.0, self.core - 1)
        return core.max((arb(self.power) - 1) * beta)

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """Pure: δ is not used."""
        return Guarantee(
            Loss(epsilon=epsilon), distance, f"flared Laplace noise with a smooth bound, {self.calibration}"
        )


@tail_loss.register
def _(shape: FlaredLaplace, shift: float, ratio: float, edge: float) -> float:
    """Exact: the log ratio is monotone between the edges of both cores and the points where both slopes agree.

    With one law in its core and the other beyond it these are where a/(z + a - c) of the outer one, in the units of
    the inner one, is 1; with both beyond it there is none. At infinity it is (1 - a)·ln(ratio).
    """
    core, power = shape.core, shape.power

    def bend(z: float) -> float:
        size = abs(z)
        return size if size <= core else core + power * math.log1p((size - core) / power)

    def loss(x: float) -> float:
        return math.log(ratio) + bend((x - shift) / ratio) - bend(x)

    agree = ratio * power - (power - core), power / ratio - (power - core)
    points = [0.0, shift, core, -core, agree[0], -agree[0]]
    points += [shift + sign * ratio * z for z in (core, agree[1]) for sign in (1, -1)]
    return largest_beyond(loss, points, edge, (1 - power) * math.log(ratio))


def _fit(calibration: str, epsilon: float, delta: float, beta: float) -> FlaredLaplaceNoise:
    """A core that holds α: all of an ε that is in use fits into it."""
    core = min(max(_CORE, epsilon), _LARGEST_CORE)
    least, most = _FLARES
    flare = min(max(_FLARE + _FLARE_PER_DECADE * math.log10(epsilon), least), most)
    return FlaredLaplaceNoise(core, core + flare, calibration)


NOISE = NoiseEntry(FlaredLaplaceNoise.traits, _fit)
