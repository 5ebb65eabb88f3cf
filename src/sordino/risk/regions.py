"""Regions: which values count as a success, and which nested regions around them bound what an attacker learns.

A *cell* is a box of targets. For every target x in it, and for every extent t from 0 (the successes alone) to 1 (all
values), a leaf of a goal bounds the prior weight p(x) of the successes H from both sides, the weight q(x) of the region
Q from below, and how far a success and a value of the region can be apart, from above. On a cell that is one point
these are the numbers themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import number, positive
from sordino.risk.priors import NumberPrior, SetPrior

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Of every cell: least and largest p, least q, and the largest move between a success and the region."""

    least: Floats
    most: Floats
    region: Floats
    move: Floats


class Leaf(Protocol):
    """Success in one column."""

    @property
    def column(self) -> str:
        """Its name."""

    def cells(self) -> tuple[Floats, Floats]:
        """The boxes to begin with: arrays of lower and upper ends that cover all targets."""

    def bound(self, low: Floats, high: Floats, extent: Floats) -> Bounds:
        """For targets between ``low`` and ``high``, and the region of that extent."""

    def reach(self) -> float:
        """The largest move between any two values."""

    def find_place(self, value: Any) -> float:
        """The target with a value, as a cell of one point."""

    def describe(self, place: float) -> Any:
        """The value of a target."""


@dataclass(frozen=True, slots=True)
class Within:
    """A number named within ``radius`` of the true one.

    H = [x - r, x + r], Q = [x - R, x + R] with R = r + t·(width of the range), both within the range.
    """

    column: str
    prior: NumberPrior
    radius: float

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        if 2 * self.radius >= self.prior.high - self.prior.low:
            raise ParameterError(
                f"within {self.radius:g} of {self.column!r} some values are always guessed right: the range is only "
                f"{self.prior.high - self.prior.low:g} wide; take a smaller radius"
            )

    def cells(self) -> tuple[Floats, Floats]:
        """The range, in pieces of about the radius."""
        width = self.prior.high - self.prior.low
        edges = np.linspace(self.prior.low, self.prior.high, int(min(np.ceil(width / self.radius), 256)) + 1)
        return edges[:-1], edges[1:]

    def bound(self, low: Floats, high: Floats, extent: Floats) -> Bounds:
        """See `Leaf`."""
        first, last, r = self.prior.low, self.prior.high, self.radius
        wide = r + extent * self.reach()
        return Bounds(
            self.prior.weight(high - r, low + r),
            self.prior.weight(low - r, high + r),
            self.prior.weight(high - wide, low + wide),
            np.maximum(
                np.minimum(last, high + wide) - np.maximum(first, low - r),
                np.minimum(last, high + r) - np.maximum(first, low - wide),
            ),
        )

    def find_place(self, value: Any) -> float:
        """See `Leaf`; what is outside the range counts as its nearest end."""
        return min(max(number(self.column, value), self.prior.low), self.prior.high)

    def describe(self, place: float) -> Any:
        """See `Leaf`."""
        return place

    def reach(self) -> float:
        """The width of the range."""
        return self.prior.high - self.prior.low


@dataclass(frozen=True, slots=True)
class Named:
    """A category named, or ``denied``. A cell is the place of a value; all are one move apart, so Q is all of them."""

    column: str
    prior: SetPrior
    denied: bool = False

    def cells(self) -> tuple[Floats, Floats]:
        """One point per value."""
        places = np.arange(len(self.prior.values), dtype=np.float64)
        return places, places

    def bound(self, low: Floats, high: Floats, extent: Floats) -> Bounds:
        """See `Leaf`."""
        p = np.asarray(self.prior.weights)[low.astype(np.int64)]
        p = 1 - p if self.denied else p
        return Bounds(p, p, np.ones_like(p), np.ones_like(p))

    def reach(self) -> float:
        """One move."""
        return 1.0

    def find_place(self, value: Any) -> float:
        """See `Leaf`."""
        if value not in self.prior.values:
            raise ParameterError(f"{value!r} is no value of {self.column!r} in its prior")
        return float(self.prior.values.index(value))

    def describe(self, place: float) -> Any:
        """See `Leaf`."""
        return self.prior.values[int(place)]
