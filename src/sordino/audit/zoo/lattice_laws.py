"""Closed-form lattice laws for the specimens, apart from the mechanisms that Sordino ships."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """P(k) ∝ e^{−|k − centre|/scale} on the integers; scale 0 is no noise at all."""

    centre: int
    scale: float
    step: Fraction = Fraction(1)

    def window(self) -> tuple[int, int]:
        """See `LatticeLaw`."""
        reach = math.ceil(30 * self.scale)
        return self.centre - reach, self.centre + reach

    def log_masses(self, first: int, last: int) -> Floats:
        """See `LatticeLaw`."""
        distance = np.abs(np.arange(first, last + 1) - self.centre)
        if self.scale == 0:
            return np.where(distance == 0, 0.0, -np.inf)
        masses: Floats = math.log(math.tanh(0.5 / self.scale)) - distance / self.scale
        return masses

    def tail_mass(self, first: int, last: int) -> float:
        """See `LatticeLaw`."""
        if self.scale == 0:
            return 0.0
        nearest = min(last + 1 - self.centre, self.centre - first + 1)
        return 2 * math.exp(-nearest / self.scale) / (1 + math.exp(-1 / self.scale))

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """See `LatticeLaw`."""
        if self.scale != other.scale:
            return math.inf
        return abs(self.centre - other.centre) / self.scale if self.scale else 0.0


@dataclass(frozen=True, slots=True)
class RoundedLaplace:
    """Laplace noise, the sum rounded to the nearest multiple of the step."""

    centre: float
    scale: float
    step: Fraction

    def window(self) -> tuple[int, int]:
        """See `LatticeLaw`."""
        reach = 40 * self.scale
        width = float(self.step)
        return math.floor((self.centre - reach) / width), math.ceil((self.centre + reach) / width)

    def log_masses(self, first: int, last: int) -> Floats:
        """See `LatticeLaw`."""
        width = float(self.step)
        low = ((np.arange(first, last + 1) - 0.5) * width - self.centre) / self.scale
        high = low + width / self.scale
        # a bin on one side of the centre by its near edge, the bin around the centre by both of its halves
        near = np.where(low > 0, low, -high)
        outer = np.log(0.5 * -np.expm1(-width / self.scale)) - np.maximum(near, 0.0)
        around = np.log(
            np.maximum(-0.5 * (np.expm1(np.minimum(low, 0.0)) + np.expm1(-np.maximum(high, 0.0))), 1e-300)
        )
        masses: Floats = np.where((low < 0) & (high > 0), around, outer)
        return masses

    def tail_mass(self, first: int, last: int) -> float:
        """See `LatticeLaw`."""
        width = float(self.step)
        nearest = min((last + 0.5) * width - self.centre, self.centre - (first - 0.5) * width)
        return math.exp(-nearest / self.scale)

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """See `LatticeLaw`."""
        return abs(self.centre - other.centre) / self.scale if self.scale == other.scale else math.inf


@dataclass(frozen=True, slots=True)
class RoundedStudent:
    """Student-t noise with ν = 3, the sum rounded to the nearest multiple of the step."""

    centre: float
    scale: float
    step: Fraction

    def window(self) -> tuple[int, int]:
        """See `LatticeLaw`."""
        reach = 2000 * self.scale
        width = float(self.step)
        return math.floor((self.centre - reach) / width), math.ceil((self.centre + reach) / width)

    def log_masses(self, first: int, last: int) -> Floats:
        """See `LatticeLaw`."""
        width = float(self.step) / self.scale
        middle = (np.arange(first, last + 1) * float(self.step) - self.centre) / self.scale
        # The density is analytic within √3 of the real line, so 24 nodes per bin give all digits for bins up to 2 wide;
        # differences of the distribution function would lose them far out.
        nodes = middle[:, None] + width / 2 * _NODES
        density = -2 * np.log1p(nodes**2 / 3)
        top = density.max(axis=1)
        logarithms: Floats = (
            np.log(width / (math.pi * math.sqrt(3)) * (np.exp(density - top[:, None]) @ _WEIGHTS)) + top
        )
        return logarithms

    def tail_mass(self, first: int, last: int) -> float:
        """See `LatticeLaw`."""
        width = float(self.step)
        below = ((first - 0.5) * width - self.centre) / self.scale
        above = ((last + 0.5) * width - self.centre) / self.scale
        return float(stdtr(3, below) + stdtr(3, -above))

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """See `LatticeLaw`: ν|ln of the scales' ratio| in the limit, plus what is missing to the limit.

        The density is s³/(3s² + (z − c)²)² up to a constant; outside |z| ≥ L, ln(3s² + (z − c)²) − 2 ln|z| lies
        within [2 ln(1 − |c|/L), 2 ln(1 + |c|/L) + ln(1 + 3s²/(L − |c|)²)].
        """
        width = float(self.step)
        reach = min(-(first - 0.5) * width, (last + 0.5) * width)
        if reach <= max(abs(self.centre), abs(other.centre)):
            return math.inf
        missing = 0.0
        for law in (self, other):
            c = abs(law.centre)
            least = 2 * math.log1p(-c / reach)
            most = 2 * math.log1p(c / reach) + math.log1p(3 * (law.scale / (reach - c)) ** 2)
            missing = max(missing, most, -least)
        return 3 * abs(math.log(self.scale / other.scale)) + 4 * missing


def tabulate_discrete_laplace(scale: float, centre: int, low: int, high: int) -> Floats:
    """Discrete Laplace noise clamped to low, …, high: what falls outside goes to the two ends."""
    values = np.arange(low, high + 1)
    masses: Floats = math.tanh(0.5 / scale) * np.exp(-np.abs(values - centre) / scale)
    shrink = math.exp(-1 / scale)
    for end, distance in ((0, centre - low), (-1, high - centre)):
        # mass at and beyond an end that lies `distance` away from the centre
        beyond = shrink ** abs(distance) / (1 + shrink)
        masses[end] = beyond if distance >= 0 else 1 - shrink * beyond
    return masses
