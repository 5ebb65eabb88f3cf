"""Noise: a shape with its theorem, that is how much of it a smooth bound needs."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from sordino.core import CalibrationError, Distance, Guarantee, ParameterError
from sordino.core.parameters import non_negative, positive, probability
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import Shape
from sordino.sensitivity.smooth_bound import RELATIVE_ERROR

# ln((1 + η)/(1 - η)) < 4η: two neighbours' bounds may be off by η in opposite directions
_EXTRA_BETA = 4 * RELATIVE_ERROR
# and the one that the shift is measured with may be too small by η
_SMALLER_SHIFT = 1 - 2 * RELATIVE_ERROR
_SMALLEST, _LARGEST = 1e-100, 1e100  # of a budget or a sensitivity: their squares and ratios are floats


@runtime_checkable
class Noise(Protocol):
    """f(x) + (S(x)/α)·Z is private, for S a β-smooth bound on the sensitivity of f.

    A bound of kind ``local`` satisfies |f(x) - f(y)| <= min(S(x), S(y)) for neighbours, one of kind
    ``derivative`` bounds the slope along the path between them; `infinitesimal` says that α is proved for
    both as it stands.
    """

    @property
    def traits(self) -> NoiseTraits:
        """What it is: its name, and which bounds it takes."""

    @property
    def shape(self) -> Shape:
        """The law of Z."""

    @property
    def infinitesimal(self) -> bool:
        """Whether the loss is bounded by its rate along a path, so that derivative bounds cost nothing extra."""

    def default_beta(self, epsilon: float, delta: float) -> float:
        """The smoothing parameter that is used when none is given; from public parameters only."""

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """The supremum of the β for which some α > 0 exists."""

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down; β = 0 means a constant (public) bound."""

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """What a release with α(ε, δ, β) guarantees."""


def checked(epsilon: Any, delta: Any, beta: Any) -> tuple[float, float, float]:
    """The public parameters of a calibration as floats, or an error; far beyond all use, floats would overflow."""
    return (
        in_range("epsilon", positive("epsilon", epsilon)),
        probability("delta", delta, zero=True),
        non_negative("beta", beta),
    )


def in_range(name: str, value: Any) -> Any:
    """A public number > 0 that calibrations can compute with, or an error."""
    if not _SMALLEST <= value <= _LARGEST:
        shown = f"{value:g}" if isinstance(value, float) else "a number outside"
        raise ParameterError(f"{name} must be between {_SMALLEST:g} and {_LARGEST:g} for noise, got {shown}")
    return value


def padded(beta: float) -> float:
    """β plus what the relative rounding error of a smooth bound may add; a constant bound has no such error."""
    return beta + _EXTRA_BETA if beta > 0 else 0.0


def shortened(alpha: float, beta: float) -> float:
    """α less what the rounding error of a smooth bound may take from it."""
    return alpha * _SMALLER_SHIFT if beta > 0 else alpha


def too_large(name: str, beta: float, epsilon: float, delta: float, largest: float) -> CalibrationError:
    """The error for a β that this noise cannot pay for."""
    budget = f"epsilon = {epsilon:g}" + (f", delta = {delta:g}" if delta else "")
    if largest <= 0:
        return CalibrationError(f"{name} noise has no calibration at {budget} for any beta > 0")
    return CalibrationError(
        f"beta = {beta:g} is too large for {name} noise at {budget}: beta < {largest:.6g} is accepted"
    )


def check_calibration(traits: NoiseTraits, given: str) -> None:
    """Refuse a calibration that this noise does not have."""
    if given not in traits.calibrations:
        raise ParameterError(
            f"calibration of {traits.name} must be one of {', '.join(traits.calibrations)}, got {given!r}"
        )


def needs_delta(traits: NoiseTraits) -> CalibrationError:
    """The error for δ = 0 where this noise spends some."""
    bound = "" if traits.constant == "delta" else " with a smooth (not constant) bound"
    return CalibrationError(
        f"{traits.name} noise{bound} needs delta > 0; `sordino.advise(epsilon)` lists the noises that do without"
    )
