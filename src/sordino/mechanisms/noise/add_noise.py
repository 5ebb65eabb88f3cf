"""Release one number with noise calibrated to its sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Literal

from sordino.core import (
    CalibrationError,
    Distance,
    Guarantee,
    ParameterError,
    PrivateDataError,
    Release,
    Secret,
    add_remove_row,
    check_distance,
)
from sordino.core.parameters import as_written, exact, non_negative, positive, probability
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms.names import NoiseName
from sordino.mechanisms.noise.beta_grid import BetaGrid, best_grid_noise
from sordino.mechanisms.noise.integer_law import IntegerLaw, IntegerNoise
from sordino.mechanisms.noise.noise import Noise
from sordino.mechanisms.noise.registry import (
    AUTO,
    AUTO_CALIBRATION,
    NOISES,
    best_noise,
    check_serves,
    default_beta,
    find_noise,
    fit_noise,
    noise_names,
    traits_of,
)
from sordino.mechanisms.noise.rounded_law import RoundedLaw
from sordino.mechanisms.noise.traits import NOT_SPENT
from sordino.sampling.source import is_private
from sordino.sensitivity import Profile, SmoothBound

NoiseChoice = Literal["auto"] | NoiseName | Noise

# A smooth bound near underflow has lost its relative precision; the larger of a smooth bound and a constant is smooth.
_SMALLEST_BOUND = 1e-280


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that a release needs, settled before any randomness."""

    law: RoundedLaw | IntegerLaw
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
    noise: NoiseChoice = "auto",
    step: Any,
    calibration: str = "tight",
    beta: float | None = None,
    distance: Distance | None = None,
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
) -> Release:
    """Release ``value`` plus noise, rounded to the nearest multiple of the public ``step``.

    ``bound`` is a global sensitivity (a number), a `SmoothBound`, or a `Profile` with one row. ``noise`` is a
    name or a Noise: flared_laplace, student_t, cauchy (pure, any bound), laplace (pure for a constant bound, else needs
    ``delta``), lln (``delta``), gaussian (``delta``, constant bound), discrete_laplace and discrete_gaussian
    (constant bound; in whole steps). ``auto`` is the best pure noise by public parameters: for a constant bound
    Laplace noise (discrete where the bound is a whole number of steps), for a smooth one the noise with the
    smallest 95 % radius at ε, with the best β of a public grid; it never spends ``delta``. ``beta`` of a named noise
    defaults to its own choice from ε and δ. ``distance`` is what neighbours differ by; where the bound states its own,
    another one is refused. With ``ledger`` and ``account`` (data set, analyst) the release is paid for.

    **Guarantee**: that of the noise (its class states the theorem), for the distance of the bound. ``auto`` looks at
    ε, β, the step and which kind of bound was given (and its size if it is constant), all of them public, so that
    neighbours get the same noise.
    **Requires**: the bound holds for the value: |f(x) - f(y)| <= S(x) and S(x) <= e^β·S(y) for all
    neighbours. Step, β, ε, δ, noise and calibration must be chosen without looking at the data.
    **Source**: Nissim, Raskhodnikova, Smith 2007, and each noise's own.
    **Numerics**: value, bound and step are taken at their exact binary value, the scale S/α is rational, and
    the draw is exact in law on the lattice, so rounding to it is post-processing. α pays for the bound's
    rounding error. Noise in whole steps takes the value rounded to the nearest multiple of the step: if the bound is m
    whole steps, ⌊v/step + ½⌋ moves by at most m as v moves by at most m steps, so that this costs nothing.

    >>> import sordino as sd
    >>> release = sd.add_noise(1042, 1, epsilon=0.5, step=1)
    >>> release.mechanism, str(release.guarantee.loss)
    ('discrete_laplace noise', 'ε = 0.5')
    >>> profile = sd.Profile.from_table([2, 3, 5], bound=100)  # how far one further change moves this number
    >>> sd.add_noise(17.5, profile, epsilon=1.0, step=0.25).mechanism
    'flared_laplace noise'
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
    notes = (NOT_SPENT,) if delta > 0 and plan.guarantee.loss.delta == 0 else ()
    release = Release(
        answer, plan.guarantee, plan.mechanism, private=is_private(), details=Secret(details), notes=notes
    )
    return pay_for(release, ledger, account)


def noise_law(
    value: Any,
    bound: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: NoiseChoice = "auto",
    step: Any,
    calibration: str = "tight",
    beta: float | None = None,
    distance: Distance | None = None,
) -> RoundedLaw | IntegerLaw:
    """The exact law of what `add_noise` with the same arguments releases, over multiples of ``step``.

    >>> import sordino as sd
    >>> law = sd.noise_law(10, 1, epsilon=1.0, noise="discrete_laplace", step=1)
    >>> round(float(law.log_mass(10) - law.log_mass(11)), 6)
    1.0
    """
    return _plan(value, bound, epsilon, delta, noise, step, calibration, beta, distance).law


def noise_radius(
    sensitivity: float,
    *,
    epsilon: float,
    delta: float = 0.0,
    noise: NoiseChoice = "auto",
    confidence: float = 0.95,
    calibration: str = "tight",
    beta: float = 0.0,
) -> float:
    """How far the noise stays from the value with this probability, for a β-smooth bound of this size.

    β = 0 means a constant bound. A pure function of its arguments; for a smooth bound the result is as
    confidential as ``sensitivity`` is.

    >>> import sordino as sd
    >>> round(sd.noise_radius(1, epsilon=0.1, noise="laplace"), 2)
    29.96
    """
    sensitivity = positive("sensitivity", sensitivity)
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
    beta, confidence = non_negative("beta", beta), probability("confidence", confidence)
    named: str | Noise = best_noise(epsilon, beta) if noise == AUTO else noise
    check_serves(traits_of(named), constant=beta == 0, delta=delta)
    chosen = fit_noise(named, calibration, epsilon, delta, beta)
    return sensitivity * chosen.shape.radius(confidence) / chosen.alpha(epsilon, delta, beta)


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
    noise: NoiseChoice,
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
    integer = _integer_noise(noise, smooth, lattice)
    if integer is not None:
        return _integer_plan(value, smooth, epsilon, delta, integer, lattice, beta)
    if noise == AUTO and beta is None and calibration == AUTO_CALIBRATION and not smooth.constant:
        grid = _best_grid(smooth, epsilon)
        if smooth.beta_min <= grid.largest_beta:
            return _grid_plan(value, smooth, grid, lattice)
    named: str | Noise = noise
    if named == AUTO:
        named = best_noise(epsilon, 0.0 if smooth.constant else beta or smooth.beta_min or None)
    check_serves(traits_of(named), constant=smooth.constant, delta=delta)
    if smooth.constant:
        if beta:
            raise ParameterError(f"a constant bound has no beta, got {beta!r}")
        beta = 0.0
    elif beta is None:
        beta = max(default_beta(named, calibration, epsilon, delta), smooth.beta_min)
    else:
        beta = positive("beta", beta)
    if beta < smooth.beta_min:
        raise CalibrationError(
            f"this bound is smooth from beta = {smooth.beta_min:g} on, got beta = {beta:g}; "
            "give a larger beta or epsilon"
        )
    chosen = fit_noise(named, calibration, epsilon, delta, beta)
    alpha = chosen.alpha(epsilon, delta, beta)
    if smooth.kind == "derivative" and not chosen.infinitesimal:
        alpha *= derivative_factor(beta)
    centre = _exact_value(value)
    sensitivity = max(smooth.at(beta), _SMALLEST_BOUND)
    scale = Fraction(sensitivity) / Fraction(alpha)
    law = RoundedLaw(chosen.shape, centre, scale, lattice)
    spent = chosen.traits.delta_spent(delta, constant=smooth.constant)
    guarantee = chosen.guarantee(epsilon, spent, smooth.distance)
    return _Plan(law, guarantee, f"{chosen.traits.name} noise", centre, sensitivity, scale, beta)


def _best_grid(smooth: SmoothBound, epsilon: float) -> BetaGrid:
    weights = [as_written("weight", weight) for _, weight in smooth.distance.weights]
    name = best_grid_noise(epsilon)
    return BetaGrid.of(name, epsilon=epsilon, weights=weights, slopes=smooth.kind == "derivative")


def _grid_plan(value: Any, smooth: SmoothBound, grid: BetaGrid, step: Fraction) -> _Plan:
    """The best β of a public grid, as if it had been known beforehand."""
    centre = _exact_value(value)
    scale, point = grid.best(smooth, step)
    law = RoundedLaw(grid.noise.shape, centre, scale, step)
    mechanism = f"{grid.noise.traits.name} noise"
    guarantee = grid.guarantee(smooth.distance)
    return _Plan(law, guarantee, mechanism, centre, smooth.at(point.beta), scale, point.beta)


def _integer_noise(noise: NoiseChoice, smooth: SmoothBound, step: Fraction) -> IntegerNoise | None:
    """The noise in whole steps that is asked for by name, or that ``auto`` means; None where it is a continuous one."""
    if not isinstance(noise, str):
        return None
    if noise != AUTO:
        return find_noise(noise).integer
    if not smooth.constant or (Fraction(smooth.at(0.0)) / step).denominator != 1:
        return None
    names = noise_names(constant=True, pure=True, integer=True)
    return NOISES[names[0]].integer if names else None


def _integer_plan(
    value: Any,
    smooth: SmoothBound,
    epsilon: float,
    delta: float,
    noise: IntegerNoise,
    step: Fraction,
    beta: float | None,
) -> _Plan:
    name = noise.traits.name
    check_serves(noise.traits, constant=smooth.constant, delta=delta)
    if beta:
        raise ParameterError(f"a constant bound has no beta, got {beta!r}")
    sensitivity = smooth.at(0.0)
    steps = Fraction(sensitivity) / step
    width = noise.width(steps, epsilon, delta)
    centre = _exact_value(value)
    index = centre / step
    if index.denominator != 1 and steps.denominator != 1:
        raise PrivateDataError(
            f"{name} noise with a bound that is no whole number of steps takes multiples of the step {step} only; "
            "the continuous noises take any value"
        )
    law = noise.law(math.floor(index + Fraction(1, 2)), width, step)
    guarantee = noise.guarantee(epsilon, delta, smooth.distance)
    return _Plan(law, guarantee, f"{name} noise", centre, sensitivity, noise.scale(width) * step, 0.0)


def as_smooth_bound(bound: Any, distance: Distance | None) -> SmoothBound:
    """A number, a Profile or a SmoothBound, as a SmoothBound."""
    if distance is not None:
        check_distance(distance)
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
