"""Release one number with noise calibrated to its sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

from sordino.core import (
    CalibrationError,
    Distance,
    Guarantee,
    ParameterError,
    PrivateDataError,
    Release,
    Secret,
    UnsupportedError,
    add_remove_row,
    checked_distance,
)
from sordino.core.parameters import choice, exact, non_negative, positive, probability
from sordino.mechanisms.noise import lln
from sordino.mechanisms.noise.cauchy import CauchyNoise
from sordino.mechanisms.noise.discrete import (
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DiscreteNoise,
    IntegerLaw,
)
from sordino.mechanisms.noise.gaussian import GaussianNoise
from sordino.mechanisms.noise.laplace import LaplaceNoise
from sordino.mechanisms.noise.lattice_law import LatticeLaw
from sordino.mechanisms.noise.lln import LLNNoise
from sordino.mechanisms.noise.noise import Noise
from sordino.mechanisms.noise.student_t import StudentTNoise
from sordino.sampling.source import is_private
from sordino.sensitivity import Profile, SmoothBound

DISCRETE: dict[str, DiscreteNoise] = {
    "discrete_laplace": DiscreteLaplaceNoise(),
    "discrete_gaussian": DiscreteGaussianNoise(),
}
# by name: the noise at (calibration, epsilon, delta, beta)
CONTINUOUS: dict[str, Callable[[str, float, float, float], Noise]] = {
    "student_t": lambda calibration, epsilon, delta, beta: StudentTNoise(calibration=calibration),
    "laplace": lambda calibration, epsilon, delta, beta: LaplaceNoise(calibration=calibration),
    "cauchy": lambda calibration, epsilon, delta, beta: CauchyNoise(calibration=calibration),
    "lln": lambda calibration, epsilon, delta, beta: LLNNoise.fitted(epsilon, delta, beta, calibration),
    "gaussian": lambda calibration, epsilon, delta, beta: GaussianNoise(calibration),
}
NAMES = (*CONTINUOUS, *DISCRETE)

# A smooth bound near underflow has lost its relative precision; the larger of a smooth bound and a constant is smooth.
_SMALLEST_BOUND = 1e-280


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that a release needs, settled before any randomness."""

    law: LatticeLaw | IntegerLaw
    guarantee: Guarantee
    mechanism: str
    value: Fraction
    sensitivity: float
    scale: Fraction
    beta: float


def add_noise(
    value: Any,
    bound: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: str | Noise = "student_t",
    step: Any,
    calibration: str = "tight",
    beta: float | None = None,
    distance: Distance | None = None,
) -> Release:
    """Release ``value`` plus noise, rounded to the nearest multiple of the public ``step``.

    ``bound`` is a global sensitivity (a number), a `SmoothBound`, or a `Profile` with one row. ``noise`` is a
    name or a Noise: student_t, cauchy (pure, any bound), laplace (pure for a constant bound, else needs
    ``delta``), lln (``delta``), gaussian (``delta``, constant bound), discrete_laplace and discrete_gaussian
    (constant bound; the value is a multiple of ``step``). ``beta`` defaults to the noise's own choice from ε
    and δ. ``distance`` is what neighbours differ by; where the bound states its own, another one is refused.

    **Guarantee**: that of the noise (its class states the theorem), for the distance of the bound.
    **Requires**: the bound holds for the value: |f(x) - f(y)| <= S(x) and S(x) <= e^β·S(y) for all
    neighbours. Step, β, ε, δ, noise and calibration must be chosen without looking at the data.
    **Source**: Nissim, Raskhodnikova, Smith 2007, and each noise's own.
    **Numerics**: value, bound and step are taken at their exact binary value, the scale S/α is rational, and
    the draw is exact in law on the lattice, so rounding to it is post-processing. α pays for the bound's
    rounding error.
    """
    plan = _plan(value, bound, epsilon, delta, noise, step, calibration, beta, distance)
    lattice = plan.law.step
    released = plan.law.draw() * lattice
    answer = int(released) if lattice.denominator == 1 else float(released)
    details = {
        "exact": float(plan.value),
        "sensitivity": plan.sensitivity,
        "noise_scale": float(plan.scale),
        "beta": plan.beta,
        "realised_error": float(released - plan.value),
    }
    return Release(answer, plan.guarantee, plan.mechanism, private=is_private(), details=Secret(details))


def noise_law(
    value: Any,
    bound: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: str | Noise = "student_t",
    step: Any,
    calibration: str = "tight",
    beta: float | None = None,
    distance: Distance | None = None,
) -> LatticeLaw | IntegerLaw:
    """The exact law of what `add_noise` with the same arguments releases, over multiples of ``step``."""
    return _plan(value, bound, epsilon, delta, noise, step, calibration, beta, distance).law


def noise_radius(
    sensitivity: float,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: str | Noise = "student_t",
    confidence: float = 0.95,
    calibration: str = "tight",
    beta: float = 0.0,
) -> float:
    """How far the noise stays from the value with this probability, for a β-smooth bound of this size.

    β = 0 means a constant bound. A pure function of its arguments; for a smooth bound the result is as
    confidential as ``sensitivity`` is.
    """
    sensitivity = positive("sensitivity", sensitivity)
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
    beta, confidence = non_negative("beta", beta), probability("confidence", confidence)
    chosen = resolve(noise, calibration, epsilon, delta, beta)
    return sensitivity * chosen.shape.radius(confidence) / chosen.alpha(epsilon, delta, beta)


def resolve(noise: str | Noise, calibration: str, epsilon: float, delta: float, beta: float) -> Noise:
    """The Noise behind a name."""
    if not isinstance(noise, str):
        if not isinstance(noise, Noise):
            raise ParameterError(f"noise must be a Noise or one of {', '.join(NAMES)}, got {noise!r}")
        return noise
    name = choice("noise", noise, NAMES)
    if name in DISCRETE:
        raise UnsupportedError(f"{name} noise has no continuous shape: {', '.join(CONTINUOUS)} have one")
    return CONTINUOUS[name](calibration, epsilon, delta, beta)


def default_beta(noise: str | Noise, calibration: str, epsilon: float, delta: float) -> float:
    """The β that `add_noise` uses for a smooth bound when none is given."""
    if noise == "lln":
        return lln.default_beta(epsilon, delta)
    return resolve(noise, calibration, epsilon, delta, 0.0).default_beta(epsilon, delta)


def derivative_factor(beta: float) -> float:
    """β/(e^β - 1), rounded down: what an α for bounds on differences shrinks by for a bound on the slope.

    Between neighbours, at distance 1, the slope at distance t from either is at most e^{βt} times the bound
    there, so the difference is at most (e^β - 1)/β times the smaller of the two bounds.
    """
    return beta / math.expm1(beta) * (1 - 2.0**-50) if beta > 0 else 1.0


def _plan(
    value: Any,
    bound: Any,
    epsilon: float,
    delta: float,
    noise: str | Noise,
    step: Any,
    calibration: str,
    beta: float | None,
    distance: Distance | None,
) -> _Plan:
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
    lattice = exact("step", step)
    if lattice <= 0:
        raise ParameterError(f"step must be > 0, got {step!r}")
    smooth = as_smooth_bound(bound, distance)
    if isinstance(noise, str) and choice("noise", noise, NAMES) in DISCRETE:
        return _discrete_plan(value, smooth, epsilon, delta, DISCRETE[noise], lattice, beta)
    if smooth.constant:
        if beta:
            raise ParameterError(f"a constant bound has no beta, got {beta!r}")
        beta = 0.0
    elif beta is None:
        beta = max(default_beta(noise, calibration, epsilon, delta), smooth.beta_min)
    else:
        beta = positive("beta", beta)
    if beta < smooth.beta_min:
        raise CalibrationError(
            f"this bound is smooth from beta = {smooth.beta_min:g} on, got beta = {beta:g}; "
            "give a larger beta or epsilon"
        )
    chosen = resolve(noise, calibration, epsilon, delta, beta)
    if beta == 0 and not smooth.constant:
        chosen.alpha(epsilon, delta, 1e-9)  # says why a noise that chooses β = 0 refuses a smooth bound
        raise UnsupportedError(f"{chosen.name} noise takes a constant bound; this one is smooth")
    alpha = chosen.alpha(epsilon, delta, beta)
    if smooth.kind == "derivative" and not chosen.infinitesimal:
        alpha *= derivative_factor(beta)
    centre = _exact_value(value)
    sensitivity = max(smooth.at(beta), _SMALLEST_BOUND)
    scale = Fraction(sensitivity) / Fraction(alpha)
    law = LatticeLaw(chosen.shape, centre, scale, lattice)
    spent = 0.0 if smooth.constant and chosen.name == "laplace" else delta
    guarantee = chosen.guarantee(epsilon, spent, smooth.distance)
    return _Plan(law, guarantee, f"{chosen.name} noise", centre, sensitivity, scale, beta)


def _discrete_plan(
    value: Any,
    smooth: SmoothBound,
    epsilon: float,
    delta: float,
    noise: DiscreteNoise,
    step: Fraction,
    beta: float | None,
) -> _Plan:
    if not smooth.constant:
        raise UnsupportedError(
            f"{noise.name} noise takes a constant bound (a global sensitivity); for a smooth bound use student_t, "
            "cauchy, laplace or lln noise"
        )
    if beta:
        raise ParameterError(f"{noise.name} noise has no beta, got {beta!r}")
    sensitivity = smooth.at(0.0)
    width = noise.width(Fraction(sensitivity) / step, epsilon, delta)
    centre = _exact_value(value)
    index = centre / step
    if index.denominator != 1:
        raise PrivateDataError(
            f"{noise.name} noise takes a value that is a multiple of the step {step}; the continuous noises take any"
        )
    law = noise.law(int(index), width, step)
    guarantee = noise.guarantee(epsilon, delta, smooth.distance)
    scale = width * step if noise.name == "discrete_laplace" else Fraction(math.sqrt(width)) * step
    return _Plan(law, guarantee, f"{noise.name} noise", centre, sensitivity, scale, 0.0)


def as_smooth_bound(bound: Any, distance: Distance | None) -> SmoothBound:
    """A number, a Profile or a SmoothBound, as a SmoothBound."""
    if distance is not None:
        checked_distance(distance)
    if isinstance(bound, Profile):
        return bound.smooth_bound(distance)
    if not isinstance(bound, SmoothBound):
        sensitivity = positive("bound", bound)
        if Fraction(sensitivity) < exact("bound", bound):  # a rational that no float equals: round up
            sensitivity = math.nextafter(sensitivity, math.inf)
        return SmoothBound.of_constant(sensitivity, distance=distance or add_remove_row())
    if distance is not None and distance != bound.distance:
        raise ParameterError(f"this bound is smooth for {bound.distance}, got distance {distance}")
    return bound


def _exact_value(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise ParameterError(f"value must be a number, got {type(value).__name__}")
    try:
        return exact("value", value)
    except ParameterError:
        raise PrivateDataError("value must be a finite number") from None
