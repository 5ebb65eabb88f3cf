"""Sensitivities in whole steps of a public grid whose step is a power of two."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def in_steps(values: Floats, step: float) -> Floats:
    """⌈δ/h⌉ as doubles, exactly: h is a power of two, so the division does not round; ∞ where it leaves the range."""
    with np.errstate(over="ignore", under="ignore"):
        steps = values * (1 / step)
    np.ceil(steps, out=steps)
    if step > 1:  # only there can a quotient vanish, and ⌈δ/h⌉ of a δ > 0 is at least 1
        np.maximum(steps, values > 0, out=steps)
    return steps


def bound_in_steps(bound: float, step: float) -> int:
    """⌈Δ/h⌉ of a finite bound, at least 1."""
    return math.ceil(Fraction(bound) / Fraction(step))


def power_below(value: float) -> float:
    """The largest power of two that is at most a positive finite number."""
    return math.ldexp(0.5, math.frexp(value)[1])
