"""reveal_scale: a number with noise that follows a smooth bound, and how wide that noise is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from sordino.core import CalibrationError, Guarantee, Loss, ParameterError, PrivateDataError, Release, Secret
from sordino.core.parameters import as_written, choice, exact, number, positive, probability
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.sampling.discrete import draw_discrete_laplace
from sordino.sampling.source import is_private
from sordino.sensitivity import SmoothBound

BoundKind = Literal["local", "derivative"]
_STEPS = 1024  # of the grid of ln λ per β
_MOVED = _STEPS + 1  # grid points that ln λ moves by between neighbours at most, rounding included
_LEAST_BETA, _MOST_BETA = 1e-6, 50.0
_LARGEST_LOG = 600.0


@dataclass(frozen=True, slots=True)
class RevealPlan:
    """How a budget is split between a scale and a number, and how wide the noise is then.

    ``slack`` n = ln(1/(2δ)): the released scale is too small with probability δ. ``scale_share`` a of ε goes to the
    scale, the rest to the number; a = −nβ/2 + √((nβ)²/4 + εnβ) makes the median scale c·e^{nβ/a}/(ε − a) smallest.

    >>> import sordino as sd
    >>> plan = sd.series.plan_reveal(epsilon=1, delta=1e-6, beta=0.1)
    >>> round(plan.slack, 6), round(plan.scale_share, 6), round(plan.median_scale(1), 6)
    (13.122363, 0.664006, 21.475305)
    """

    epsilon: float
    delta: float
    beta: float
    slack: float
    scale_share: float

    def median_scale(self, bound: float) -> float:
        """The median of the released scale where the smooth bound is ``bound``."""
        return bound * math.exp(self.slack * self.beta / self.scale_share) / (self.epsilon - self.scale_share)

    def hidden_scale(self, bound: float) -> float:
        """The scale of Laplace noise that keeps its scale a secret: c/(ε − nβ), or CalibrationError."""
        left = self.epsilon - self.slack * self.beta
        if left <= 0:
            raise CalibrationError(
                f"Laplace noise with a hidden scale cannot reach delta {self.delta:g} with beta {self.beta:g} and "
                f"epsilon {self.epsilon:g}: it needs epsilon above {self.slack * self.beta:.6g}, or a smaller beta"
            )
        return bound / left


def plan_reveal(*, epsilon: Any, delta: Any, beta: Any) -> RevealPlan:
    """The best split of ε, by public parameters."""
    budget, chance = positive("epsilon", epsilon), probability("delta", delta)
    smoothness = positive("beta", beta)
    if chance >= 0.5:
        raise ParameterError(f"delta must be below 1/2, got {delta!r}")
    slack = -math.log(2 * chance)
    cost = slack * smoothness
    share = -cost / 2 + math.sqrt(cost * cost / 4 + budget * cost)
    return RevealPlan(budget, chance, smoothness, slack, share)


@dataclass(frozen=True, slots=True)
class ScaledRelease(Release):
    """A number and the public ``scale`` of the Laplace noise in it."""

    scale: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the scale."""
        return Release.to_dict(self) | {"scale": self.scale}


def reveal_scale(
    value: Any,
    bound: SmoothBound | float,
    *,
    epsilon: Any,
    delta: Any,
    beta: Any,
    step: Any,
    kind: BoundKind | None = None,
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
) -> ScaledRelease:
    """``value`` with Laplace noise of a scale λ that follows a smooth bound, and λ itself: both are released.

    **Guarantee**: (ε, δ). ln λ has Laplace noise for a of ε, since the logarithm of a β-smooth bound moves by at most
    β, and is lifted so far that λ < M with probability at most δ; else the number costs at most b = ε − a. M = c/b
    for a local bound. A derivative bound c allows a step of c·(e^β − 1)/β between neighbours, so there M = (c/b)(e^β
    − 1)/β; without that factor δ fails at large β (it is in the zoo).
    **Requires**: ``bound`` is a `SmoothBound`, or its value at ``beta`` with its ``kind``; ``step``, the lattice of the
    answer, is public. **Source**: the mechanism that reveals its noise level of the NAPLES report, with the factor.
    **Numerics**: ln λ lies on a public grid of β/1024 and its noise is exact; the number is rounded down to the
    lattice, for which one step is added to c; λ is a double rounded up.

    >>> import sordino as sd
    >>> release = sd.series.reveal_scale(812.0, 3.0, kind="local", epsilon=1, delta=1e-6, beta=0.01, step=1)
    >>> release.scale > 3, release.guarantee.delta
    (True, 1e-06)
    """
    plan = plan_reveal(epsilon=epsilon, delta=delta, beta=beta)
    if not _LEAST_BETA <= plan.beta <= _MOST_BETA:
        raise ParameterError(f"beta must be in [{_LEAST_BETA:g}, {_MOST_BETA:g}], got {beta!r}")
    positive("step", step)
    lattice = as_written("step", step)
    smooth = _as_bound(bound, kind)
    sensitivity = smooth.at(plan.beta) if isinstance(bound, SmoothBound) else smooth.function(plan.beta)
    centre = math.floor(_exact_value(value) / lattice)
    share = Fraction(plan.scale_share)
    rest = as_written("epsilon", epsilon) - share
    if rest <= 0:
        raise CalibrationError(
            f"epsilon {epsilon!r} is too small to be split at beta {beta!r} and delta {delta!r}"
        )
    rate = share / _MOVED
    lifted = find_lift(float(rate), plan.delta) - 1
    place = _find_place(sensitivity, smooth.kind, plan, lattice, rest)
    index = place + lifted + draw_discrete_laplace(1 / rate)
    scale = _scale_at(index, plan.beta)
    noisy = centre + draw_discrete_laplace(Fraction(scale) / lattice)
    number_out = noisy * lattice
    guarantee = Guarantee(
        Loss(epsilon=float(as_written("epsilon", epsilon)), delta=plan.delta),
        smooth.distance,
        f"revealed scale of a {smooth.kind} bound: ln λ with its own Laplace noise, then Laplace noise of scale λ",
    )
    release = ScaledRelease(
        int(number_out) if lattice.denominator == 1 else float(number_out),
        guarantee,
        "Laplace noise with a revealed scale",
        error=scale * math.log(20),
        private=is_private(),
        details=Secret({"exact": value, "sensitivity": sensitivity}),
        scale=scale,
    )
    return replace(release, guarantee=pay_for(release, ledger, account).guarantee)


def find_lift(rate: float, delta: float) -> int:
    """The least m with P(J ≤ −m) ≤ δ for discrete Laplace J of this rate: e^{−rate·m}/(1 + e^{−rate}), rounded up."""
    exponent = -math.log(delta) - math.log1p(math.exp(-rate))
    return max(1, math.ceil(exponent / rate * (1 + 1e-12)))


def _find_place(sensitivity: float, kind: str, plan: RevealPlan, lattice: Fraction, rest: Fraction) -> int:
    """The grid point of ln M, upwards. Errors of floats are far below one point, which `_MOVED` pays for."""
    stretch = math.expm1(plan.beta) / plan.beta if kind == "derivative" else 1.0
    moved = sensitivity * stretch + float(lattice)
    logarithm = math.log(moved) - math.log(float(rest))
    return math.ceil((logarithm + 1e-11 * (1 + abs(logarithm))) / plan.beta * _STEPS)


def _scale_at(index: int, beta: float) -> float:
    """e^{index·β/1024} rounded up, within the numbers that noise is drawn with: the same for all databases."""
    logarithm = max(-_LARGEST_LOG, min(_LARGEST_LOG, index * beta / _STEPS))
    return math.exp(logarithm) * (1 + 1e-10)


def _as_bound(bound: SmoothBound | float, kind: str | None) -> SmoothBound:
    if isinstance(bound, SmoothBound):
        if kind is not None and kind != bound.kind:
            raise ParameterError(f"the bound is of kind {bound.kind!r}, and kind says {kind!r}")
        return bound
    if kind is None:
        raise ParameterError(
            "kind must be 'local' or 'derivative' where the bound is a number: they cost differently"
        )
    choice("kind", kind, ("local", "derivative"))
    size = positive("bound", bound)
    return SmoothBound(lambda beta: size, kind="derivative" if kind == "derivative" else "local")


def _exact_value(value: Any) -> Fraction:
    try:
        number("value", value)
        return exact("value", value)
    except ParameterError:
        raise PrivateDataError("value must be a finite number") from None
