"""Ball: several numbers named together, within a radius of the true ones in a norm: ``l2(x, y) within 5``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.risk.regions import Region, Within

Floats = NDArray[np.float64]

_STRIPS = 128  # that a ball is cut into, along its first column
_ROUNDED = 1e-14  # of a radius, relatively


@dataclass(frozen=True, slots=True)
class Ball:
    """H = all points within ``radius`` of the target in the norm of ``order`` 1, 2 or infinity; Q a box around it.

    A box reaches as far as a ball in every column and weighs more, so it is the better region. What a ball weighs under
    independent priors is bounded from both sides by strips: within one the radius that is left for the other columns
    lies between that at its far end and that at its near end.
    """

    parts: tuple[Within, ...]
    order: float
    radius: float

    def __post_init__(self) -> None:
        if len(self.parts) != 2 and not math.isinf(self.order):
            raise ParameterError(
                f"l{self.order:g}(…) within {self.radius:g} is about two columns, got {len(self.parts)}: take linf(…)"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """As they are written."""
        return tuple(part.column for part in self.parts)

    def cells(self, most: int) -> list[tuple[Floats, Floats]]:
        """Those of each column."""
        return [cell for part in self.parts for cell in part.cells(most)]

    def weigh(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """See `Leaf`: the least weight of a ball around a target of the cell, and the largest."""
        if math.isinf(self.order):
            each = [part.weigh(low[:, i : i + 1], high[:, i : i + 1]) for i, part in enumerate(self.parts)]
            return np.prod([one[0] for one in each], axis=0), np.prod([one[1] for one in each], axis=0)
        (strip, last), share = self.parts, np.linspace(0.0, 1.0, _STRIPS + 1)
        first, end = low[:, :1], high[:, :1]
        edges = first - self.radius + share * (end - first + 2 * self.radius)
        left, right = edges[:, :-1], edges[:, 1:]
        weight = strip.prior.weight(left, right)
        near = np.maximum(np.maximum(left - end, first - right), 0.0)
        far = np.maximum(right - first, end - left)
        inner, outer = (self.radius**self.order - moved**self.order for moved in (far, near))
        radii = [np.maximum(rest, 0.0) ** (1 / self.order) for rest in (inner, outer)]
        least, most = last.weigh_within(
            low[:, 1:], high[:, 1:], radii[0] * (1 - _ROUNDED), radii[1] * (1 + _ROUNDED)
        )
        return (
            (weight * least * (inner > 0)).sum(axis=1) * (1 - _ROUNDED),
            np.minimum((weight * most * (outer >= 0)).sum(axis=1) * (1 + _ROUNDED) + _ROUNDED, 1.0),
        )

    def surround(self, low: Floats, high: Floats, extent: Floats) -> Region:
        """See `Leaf`."""
        each = [
            part.surround(low[:, i : i + 1], high[:, i : i + 1], extent) for i, part in enumerate(self.parts)
        ]
        weight = np.prod([one.weight for one in each], axis=0)
        return Region(weight, tuple(move for one in each for move in one.moves))

    def reach(self) -> tuple[float, ...]:
        """The widths of the ranges."""
        return tuple(width for part in self.parts for width in part.reach())

    def find_place(self, values: Sequence[Any]) -> tuple[float, ...]:
        """See `Leaf`."""
        return tuple(part.find_place([value])[0] for part, value in zip(self.parts, values, strict=True))

    def describe(self, place: Sequence[float]) -> tuple[Any, ...]:
        """See `Leaf`."""
        return tuple(place)

    def describe_region(self, place: Sequence[float], extent: float) -> tuple[Any, ...]:
        """See `Leaf`."""
        return tuple(
            part.describe_region([at], extent)[0] for part, at in zip(self.parts, place, strict=True)
        )
