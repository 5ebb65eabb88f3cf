"""Regions: which values count as a success, and which nested regions around them bound what an attacker learns.

A *cell* is a box of targets. For every target x in it a leaf of a goal bounds the prior weight p(x) of the successes H
from both sides; and, for every extent t from 0 (the successes alone) to 1 (all values), the weight q(x) of the region Q
from below, and how far a success and a value of the region can be apart, from above. On a cell that is one point these
are the numbers themselves, but for roundings: ends are rounded outwards or inwards, whichever is the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import number, positive
from sordino.risk.priors import NumberPrior, SetPrior

Floats = NDArray[np.float64]

_WEIGHT_ERROR = 1e-15  # of a prior's weight of an interval


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Of every cell: the least weight of Q, and per column the largest move between a success and a value of Q."""

    weight: Floats
    moves: tuple[Floats, ...]


class Leaf(Protocol):
    """Success in one column, or in several that are guessed together. Cells have one column each."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""

    def cells(self, most: int) -> list[tuple[Floats, Floats]]:
        """For each column the boxes to begin with, at most so many: lower and upper ends that cover all targets."""

    def weigh(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The least and the largest p of targets between ``low`` and ``high``."""

    def surround(self, low: Floats, high: Floats, extent: Floats) -> Region:
        """The region of that extent."""

    def reach(self) -> tuple[float, ...]:
        """The largest move between any two values of each column."""

    def find_place(self, values: Sequence[Any]) -> tuple[float, ...]:
        """The target with these values, as a cell of one point."""

    def describe(self, place: Sequence[float]) -> tuple[Any, ...]:
        """The values of a target."""

    def describe_region(self, place: Sequence[float], extent: float) -> tuple[Any, ...]:
        """The values of Q, per column: two ends, or None for all values."""


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
                f"within {self.radius:g} of {self.column!r} some values are always guessed right: their prior makes "
                f"the guess certain, being only {self.prior.high - self.prior.low:g} wide; take a smaller radius"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The one."""
        return (self.column,)

    def cells(self, most: int) -> list[tuple[Floats, Floats]]:
        """The range, in pieces of about the radius."""
        width = self.prior.high - self.prior.low
        pieces = int(min(np.ceil(width / self.radius), most))
        edges = np.linspace(self.prior.low, self.prior.high, pieces + 1)
        return [(edges[:-1], edges[1:])]

    def weigh(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """See `Leaf`."""
        return self.weigh_within(low[:, 0], high[:, 0], np.float64(self.radius), np.float64(self.radius))

    def weigh_within(self, low: Floats, high: Floats, inner: Any, outer: Any) -> tuple[Floats, Floats]:
        """The least weight within ``inner`` of a target of the cell, and the largest within ``outer``."""
        least = self.prior.weight(_up(high - inner), _down(low + inner)) - _WEIGHT_ERROR
        most = self.prior.weight(_down(low - outer), _up(high + outer)) + _WEIGHT_ERROR
        return np.maximum(least, 0.0), np.minimum(most, 1.0)

    def surround(self, low: Floats, high: Floats, extent: Floats) -> Region:
        """See `Leaf`."""
        low, high = low[:, 0], high[:, 0]
        first, last, r = self.prior.low, self.prior.high, self.radius
        wide = r + extent * (last - first)
        weight = self.prior.weight(_up(high - wide), _down(low + wide)) - _WEIGHT_ERROR
        move = np.maximum(
            np.minimum(last, _up(high + wide)) - np.maximum(first, _down(low - r)),
            np.minimum(last, _up(high + r)) - np.maximum(first, _down(low - wide)),
        )
        return Region(weight, (_up(move),))

    def find_place(self, values: Sequence[Any]) -> tuple[float, ...]:
        """See `Leaf`; what is outside the range counts as its nearest end."""
        return (min(max(number(self.column, values[0]), self.prior.low), self.prior.high),)

    def describe(self, place: Sequence[float]) -> tuple[Any, ...]:
        """See `Leaf`."""
        return (place[0],)

    def describe_region(self, place: Sequence[float], extent: float) -> tuple[Any, ...]:
        """See `Leaf`."""
        wide = self.radius + extent * self.reach()[0]
        return ((max(self.prior.low, place[0] - wide), min(self.prior.high, place[0] + wide)),)

    def reach(self) -> tuple[float, ...]:
        """The width of the range."""
        return (float(np.nextafter(self.prior.high - self.prior.low, np.inf)),)


@dataclass(frozen=True, slots=True)
class Named:
    """A category named. A cell is the place of a value; all are one move apart, so Q is all of them."""

    column: str
    prior: SetPrior

    @property
    def columns(self) -> tuple[str, ...]:
        """The one."""
        return (self.column,)

    def cells(self, most: int) -> list[tuple[Floats, Floats]]:
        """One point per weight: values of one weight are alike."""
        _, first = np.unique(self.prior.weights, return_index=True)
        places = np.sort(first).astype(np.float64)
        return [(places, places)]

    def weigh(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """See `Leaf`."""
        p = np.asarray(self.prior.weights)[low[:, 0].astype(np.int64)]
        return p, p

    def surround(self, low: Floats, high: Floats, extent: Floats) -> Region:
        """See `Leaf`."""
        ones = np.ones(len(low))
        return Region(ones, (ones,))

    def reach(self) -> tuple[float, ...]:
        """One move."""
        return (1.0,)

    def find_place(self, values: Sequence[Any]) -> tuple[float, ...]:
        """See `Leaf`."""
        if values[0] not in self.prior.values:
            raise ParameterError(f"{values[0]!r} is no value of {self.column!r} in its prior")
        return (float(self.prior.values.index(values[0])),)

    def describe(self, place: Sequence[float]) -> tuple[Any, ...]:
        """See `Leaf`."""
        return (self.prior.values[int(place[0])],)

    def describe_region(self, place: Sequence[float], extent: float) -> tuple[Any, ...]:
        """All of them."""
        return (None,)


def _up(values: Floats) -> Floats:
    return np.asarray(np.nextafter(values, np.inf), dtype=np.float64)


def _down(values: Floats) -> Floats:
    return np.asarray(np.nextafter(values, -np.inf), dtype=np.float64)
