"""Laplace noise: pure for a constant bound, (ε, δ) for a smooth one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from flint import arb

from sordino.core import CalibrationError, Distance, Guarantee, Loss
from sordino.mechanisms.noise.entry import make_entry
from sordino.mechanisms.noise.noise import (
    check_calibration,
    checked,
    needs_delta,
    padded,
    shortened,
    too_large,
)
from sordino.mechanisms.noise.rounding import certainly_at_most, find_largest, lower_until
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import Laplace

_NISSIM_EPSILON, _NISSIM_DELTA = 7.5, 0.5
_LARGEST_BETA = 300.0  # e^β must be a float


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """f(x) + (S(x)/α)·Laplace.

    **Guarantee**: constant S (β = 0): ε-DP with α = ε. β-smooth S: (ε, δ)-DP, by one of three calibrations.

    *tight* (default): the exact hockey-stick divergence of the worst pair. Take neighbours' laws in units of
    the narrower scale: N = Laplace about a with scale 1, W = Laplace about 0 with scale e^λ, where 0 <= a <=
    α and 0 <= λ <= β. Suppose α <= ε and β + αe^{-β} <= ε.
    (1) N against W: ln(n/w) = λ + |x|e^{-λ} - |x - a| is largest at x = a, where it is λ + ae^{-λ}. This is
    increasing in a and convex in λ, so at most max(α, β + αe^{-β}) <= ε, and the divergence is 0.
    (2) W against N: ln(w/n) = |x - a| - |x|e^{-λ} - λ. Between 0 and a it is at most a - λ <= ε; it exceeds ε
    only where x > (ε + λ + a)/(1 - e^{-λ}) or -x > (ε + λ - a)/(1 - e^{-λ}). On a half-line that ends where w
    = e^ε n, with w falling like e^{-xe^{-λ}} and n like e^{-x}, the integral of w - e^ε n is (1 - e^{-λ})
    times that of w. So
    δ(a, λ) = ½(1 - e^{-λ})(e^{-(ε+λ-a)/(e^λ-1)} + e^{-(ε+λ+a)/(e^λ-1)}).
    It is a cosh in a, hence increasing in a. For a fixed a <= ε it increases in λ: 1 - e^{-λ} does, and the
    derivative of (ε + λ ∓ a)/(e^λ - 1) has the sign of e^λ - 1 - (ε + λ ∓ a)e^λ <= e^λ - 1 - λe^λ <= 0. So
    the worst pair is (α, β), and α = (e^β - 1)·arcosh(δ/((1 - e^{-β})e^{-(ε+β)/(e^β-1)})), capped by the two
    conditions.

    *report*: α = ε - β·max(1, ε - 1 + ln(m/δ)), m = 2, or 1 if S is monotone along some shortest path.
    *nissim*: α = ε/2 for β <= ε/(2 ln(2/δ)).

    **Requires**: S is β-smooth and bounds the sensitivity.
    **Source**: Dwork et al. 2006; Nissim, Raskhodnikova, Smith 2007 (nissim; used only for ε <= 7.5 and δ <=
    ½, since it fails from ε = 8 on, and re-verified by the exact divergence); NAPLES report Thm 3.56 with the
    factor e^ε that its corollary forgets (report); tight is derived above.
    **Numerics**: α is accepted when ball arithmetic proves the divergence at most δ for β plus the bound's
    rounding.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "laplace",
        "Laplace",
        constant="pure",
        smooth="delta",
        calibrations=("tight", "report", "nissim"),
        path="report",
    )
    calibration: str = "tight"
    monotone: bool = False

    def __post_init__(self) -> None:
        check_calibration(self.traits, self.calibration)

    @property
    def shape(self) -> Laplace:
        """The law of Z."""
        return Laplace()

    @property
    def infinitesimal(self) -> bool:
        """Only the report's theorem bounds the loss along a path."""
        return self.calibration == "report"

    def default_beta(self, epsilon: float, delta: float) -> float:
        """ε/(2 ln(2/δ)), or half of the largest β where that is less."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        if delta == 0:
            raise needs_delta(self.traits)
        if self.calibration == "nissim":
            return _nissim_beta(epsilon, delta)
        return min(_nissim_beta(epsilon, delta), self.largest_beta(epsilon, delta) / 2)

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """The supremum of the β for which some α > 0 exists."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        if delta == 0:
            return 0.0
        if self.calibration == "nissim":
            return _nissim_beta(epsilon, delta) * (1 + 1e-12)
        if self.calibration == "report":
            return epsilon / self._report_rate(epsilon, delta)
        limit = min(epsilon, _LARGEST_BETA)
        return find_largest(lambda beta: 0 < beta < limit and _log_room(epsilon, delta, beta) > 0, limit / 2)

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down."""
        epsilon, delta, beta = checked(epsilon, delta, beta)
        if beta == 0:
            return epsilon
        if delta == 0:
            raise needs_delta(self.traits)
        stretch = padded(beta)
        if self.calibration == "report":
            candidate = epsilon - stretch * self._report_rate(epsilon, delta)
            if candidate <= 0:
                raise too_large("laplace (report)", beta, epsilon, delta, self.largest_beta(epsilon, delta))
            return shortened(candidate * (1 - 2.0**-45), beta)
        if self.calibration == "nissim":
            return self._nissim_alpha(epsilon, delta, beta)
        room = _log_room(epsilon, delta, stretch) if stretch < min(epsilon, _LARGEST_BETA) else -1.0
        if room <= 0:
            raise too_large("laplace", beta, epsilon, delta, self.largest_beta(epsilon, delta))
        arcosh = room + math.log1p(math.sqrt(-math.expm1(-2 * room)))
        candidate = min(math.expm1(stretch) * arcosh, epsilon, (epsilon - stretch) * math.exp(stretch))
        found = lower_until(candidate, lambda a: _private(epsilon, delta, stretch, a), "laplace")
        return shortened(found, beta)

    def _report_rate(self, epsilon: float, delta: float) -> float:
        return max(1.0, epsilon - 1 + math.log(1 if self.monotone else 2) - math.log(delta))

    def _nissim_alpha(self, epsilon: float, delta: float, beta: float) -> float:
        if epsilon > _NISSIM_EPSILON or delta > _NISSIM_DELTA:
            raise CalibrationError(
                f"calibration 'nissim' holds for epsilon <= {_NISSIM_EPSILON} and delta <= {_NISSIM_DELTA}, "
                f"got epsilon = {epsilon:g}, delta = {delta:g}; 'tight' has no such limit"
            )
        if beta > self.largest_beta(epsilon, delta):
            raise too_large("laplace (nissim)", beta, epsilon, delta, _nissim_beta(epsilon, delta))
        found = lower_until(
            epsilon / 2, lambda a: _private(epsilon, delta, padded(beta), a), "laplace (nissim)"
        )
        return shortened(found, beta)

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """(ε, δ), where δ = 0 means that the bound is constant."""
        if delta == 0:
            return Guarantee(Loss(epsilon=epsilon), distance, "Laplace mechanism")
        theorem = {
            "tight": "smooth Laplace, exact hockey-stick divergence",
            "report": "NAPLES Thm 3.56",
            "nissim": "Nissim, Raskhodnikova, Smith 2007, Laplace, re-verified",
        }[self.calibration]
        return Guarantee(Loss(epsilon=epsilon, delta=delta), distance, theorem)


NOISE = make_entry(LaplaceNoise, LaplaceNoise.traits)


def _nissim_beta(epsilon: float, delta: float) -> float:
    return epsilon / (2 * (math.log(2) - math.log(delta)))


def _log_room(epsilon: float, delta: float, beta: float) -> float:
    """ln of δ over the divergence of a stretch without a shift."""
    return math.log(delta) - math.log(-math.expm1(-beta)) + (epsilon + beta) / math.expm1(beta)


def _private(epsilon: float, delta: float, beta: float, alpha: float) -> bool:
    """Both conditions and δ(α, β) <= δ, in ball arithmetic."""
    if alpha > epsilon or delta == 0:
        return False

    def other_way() -> arb:
        return beta + alpha * (-arb(beta)).exp()

    def divergence() -> arb:
        growth = arb(beta).expm1()
        towards, away = (arb(epsilon) + beta - alpha) / growth, (arb(epsilon) + beta + alpha) / growth
        return (1 - (-arb(beta)).exp()) * ((-towards).exp() + (-away).exp()) / 2

    return certainly_at_most(other_way, epsilon) and certainly_at_most(divergence, delta)
