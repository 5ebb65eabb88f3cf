"""Scores on a public grid: what every score-based mechanism draws from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.core.parameters import positive
from sordino.sensitivity import Profile
from sordino.sensitivity.grid import bound_in_steps, in_steps, power_below

# The grid is this many halvings below the bound, so rounding costs a relative 2^-30 of it at most.
_RESOLUTION_BITS = 30
_LARGEST = 2.0**60
_LARGEST_SENSITIVITY = 2.0**40
_SMALLEST_STEP = 1e-300


@dataclass(frozen=True, slots=True)
class GridScores:
    """Integer scores, and the most that one change can move any of them, in units of the grid.

    **Numerics**: a score u becomes ⌊u/h⌋ and a sensitivity δ becomes ⌈δ/h⌉ for a public power of two h. Rounding down
    commutes with adding whole steps, so |u(x) − u(y)| ≤ δ gives |⌊u(x)/h⌋ − ⌊u(y)/h⌋| ≤ ⌈δ/h⌉: rounding is paid for.
    """

    values: NDArray[np.int64]
    sensitivity: int

    def rate(self, epsilon: Fraction, *, monotone: bool) -> Fraction:
        """The exponent per grid step: ε/Δ where all scores move the same way, ε/(2Δ) otherwise."""
        return epsilon / (self.sensitivity if monotone else 2 * self.sensitivity)


def grid_step(profile: Profile, step: float | None) -> float:
    """The public grid: the power of two at or below ``step``, or 2⁻³⁰ of the bound."""
    if step is not None:
        grid = power_below(positive("step", step))
        if grid < _SMALLEST_STEP:
            raise ParameterError(f"step must be at least {_SMALLEST_STEP:g}, got {step!r}")
        if math.isfinite(profile.bound) and profile.bound > grid * 2.0**31:
            raise ParameterError(f"step must be at least 2^-31 of the bound {profile.bound:g}, got {step!r}")
        return grid
    if math.isinf(profile.bound):
        raise ParameterError("a profile without a finite bound needs step=, the public grid of the scores")
    return math.ldexp(power_below(profile.bound), -_RESOLUTION_BITS)


def scores_on_grid(scores: NDArray[np.float64], step: float) -> NDArray[np.int64]:
    """⌊u/h⌋ exactly: h is a power of two, so the division does not round.

    (Where it leaves the range of doubles, a score u in (−2⁻¹⁰⁷⁵h, 0) becomes 0 in place of −1. No double lies as near
    below a whole number of steps, so such a score and another differ by no more than is paid for.)
    """
    with np.errstate(over="ignore", under="ignore"):
        scaled = scores * (1 / step)
    if max(scaled.max(), -scaled.min()) > _LARGEST:
        raise PrivateDataError(
            "the scores are more than 2^30 times the bound, or than 2^60 times the step: give the bound and the step "
            "in the scores' units"
        )
    np.floor(scaled, out=scaled)
    grid = scaled.view(
        np.int64
    )  # converted in place: touching fresh memory would cost more than all the rest
    grid[:] = scaled
    return grid


def sensitivity_on_grid(values: NDArray[np.float64], step: float) -> NDArray[np.int64]:
    """⌈δ/h⌉ exactly."""
    steps = in_steps(values, step)
    if steps.max(initial=0.0) > _LARGEST_SENSITIVITY:
        raise PrivateDataError("the profile is more than 2^40 steps of the scores' grid: give a larger step")
    return steps.astype(np.int64)


def bound_on_grid(profile: Profile, step: float) -> int:
    """⌈Δ/h⌉; the bound must be finite."""
    if math.isinf(profile.bound):
        raise UnsupportedError(
            "this mechanism needs a finite bound (global sensitivity); without one, use local_dampening"
        )
    return bound_in_steps(profile.bound, step)
