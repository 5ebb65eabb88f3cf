"""IntegerNoise and IntegerLaw: noise in whole steps of the lattice, and the exact law of what it releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import Distance, Guarantee, ParameterError, UnsupportedError
from sordino.mechanisms.noise.traits import NoiseTraits

FloatArray = NDArray[np.float64]

_LARGEST_WIDTH = Fraction(10) ** 250
_LOG_ERROR = 1e-13


class IntegerNoise(Protocol):
    """Integer noise added to k = value/step, for a constant bound that is ``sensitivity`` lattice steps."""

    @property
    def traits(self) -> NoiseTraits:
        """What it is."""

    def width(self, sensitivity: Fraction, epsilon: float, delta: float) -> Fraction:
        """The parameter of the integer law: its scale, or its σ²."""

    def scale(self, width: Fraction) -> Fraction:
        """How wide that law is, in steps."""

    def law(self, centre: int, width: Fraction, step: Fraction) -> IntegerLaw:
        """The law of the released index."""

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """What it guarantees."""


@dataclass(frozen=True, slots=True)
class IntegerLaw:
    """The law of centre + K for an integer K, as `sordino.audit.prove` reads it.

    ``log_mass`` gives ln P(K = k) within 1e-13·(1 + |ln P|), ``reach`` an n with P(|K| > n) <= 1e-15, ``outside``
    an upper bound on P(|K| > n), and ``loss_rate`` the log ratio per step of shift far out (∞ where it grows).
    """

    centre: int
    width: Fraction
    step: Fraction
    log_mass: Callable[[FloatArray], FloatArray]
    reach: int
    outside: Callable[[int], float]
    loss_rate: float
    sample: Callable[[Fraction], int]

    def __repr__(self) -> str:
        return f"IntegerLaw(<secret>, width={self.width}, step={self.step})"

    @property
    def log_error(self) -> float:
        """How far each number of `log_masses` may be off, relative to 1 + its size; `prove` adds it to the losses."""
        return _LOG_ERROR

    def window(self) -> tuple[int, int]:
        """Indices (first, last), both included, outside which at most 1e-15 of the mass lies."""
        return self.centre - self.reach, self.centre + self.reach

    def log_masses(self, first: int, last: int) -> FloatArray:
        """ln P(k) for k = first, …, last."""
        return self.log_mass(np.arange(first - self.centre, last - self.centre + 1, dtype=np.float64))

    def tail_mass(self, first: int, last: int) -> float:
        """An upper bound on the mass outside first, …, last."""
        nearest = min(self.centre - first, last - self.centre)
        return 1.0 if nearest < 0 else min(1.0, self.outside(nearest))

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """An upper bound on |ln(P(k)/P_other(k))| outside first, …, last."""
        if not isinstance(other, IntegerLaw) or (other.width, other.step) != (self.width, self.step):
            raise UnsupportedError("tail_loss compares two laws of one width and step")
        shift = abs(other.centre - self.centre)
        return shift * self.loss_rate * (1 + 1e-12) if shift else 0.0

    def draw(self) -> int:
        """One index with this law, exactly."""
        return self.centre + self.sample(self.width)


def checked_width(width: Fraction) -> Fraction:
    """The public width of an integer law, refused where floats could not speak of it."""
    if not 1 / _LARGEST_WIDTH < width < _LARGEST_WIDTH:
        raise ParameterError(
            "the width of integer noise must be between 1e-250 and 1e250, got a number outside"
        )
    return width
