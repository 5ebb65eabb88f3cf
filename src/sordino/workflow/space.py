"""Space: a set of distances and, where it is finite, points with their distances; products, sums and lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sordino.core import ParameterError
from sordino.workflow.distances import Distances, ListOf, SumOf, TupleOf

Metric = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Space:
    """A generalised metric space (Def. 3.29). ``points``: finitely many, or None; then the metric is taken on trust.

    **Requires**, for points and a metric: distance 0 exactly for equal points, symmetry, triangle inequality; checked,
    unless ``follows``: they follow from those of other spaces.
    """

    distances: Distances
    points: tuple[Any, ...] | None = None
    metric: Metric | None = None
    follows: bool = False

    def __post_init__(self) -> None:
        if self.points is None or self.metric is None or self.follows:
            return
        zero, add, leq = self.distances.zero, self.distances.add, self.distances.leq
        for x, y in itertools.product(self.points, repeat=2):
            if (self.metric(x, y) == zero) != (x == y):
                raise ParameterError(
                    f"the distance of {x!r} and {y!r} must be 0 exactly where they are equal"
                )
            if self.metric(x, y) != self.metric(y, x):
                raise ParameterError(f"the distance of {x!r} and {y!r} is another one the other way")
        for x, y, z in itertools.product(self.points, repeat=3):
            if not leq(self.metric(x, z), add(self.metric(x, y), self.metric(y, z))):
                raise ParameterError(f"the triangle inequality fails: from {x!r} to {z!r} by way of {y!r}")

    @classmethod
    def by_table(cls, distances: Distances, points: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Space:
        """Points and the table of their distances."""
        found = {(x, y): rows[i][j] for i, x in enumerate(points) for j, y in enumerate(points)}
        return cls(distances, tuple(points), lambda x, y: found[x, y])


def product_space(*spaces: Space) -> Space:
    """Tuples of points with tuples of distances (Prop. 3.33)."""
    distances = TupleOf(tuple(space.distances for space in spaces))
    metrics = [space.metric for space in spaces]
    if any(space.points is None or space.metric is None for space in spaces):
        return Space(distances)
    points = tuple(itertools.product(*(space.points or () for space in spaces)))

    def metric(x: Any, y: Any) -> Any:
        return tuple(each(a, b) for each, a, b in zip(metrics, x, y, strict=True) if each is not None)

    return Space(distances, points, metric, follows=True)


def sum_space(left: Space, right: Space) -> Space:
    """Disjoint union, ∞ apart (Prop. 3.37); points are (side, point)."""
    distances = SumOf((left.distances, right.distances))
    if left.points is None or right.points is None or left.metric is None or right.metric is None:
        return Space(distances)
    sides = (left, right)
    points = tuple((side, point) for side, space in enumerate(sides) for point in space.points or ())

    def metric(x: Any, y: Any) -> Any:
        if x[0] != y[0]:
            return math.inf
        space = sides[x[0]]
        found = space.metric(x[1], y[1]) if space.metric is not None else math.inf
        return 0 if found == space.distances.zero else (x[0], found)

    return Space(distances, points, metric, follows=True)


def list_space(of: Space, longest: int) -> Space:
    """Lists of up to so many points; different lengths are ∞ apart."""
    distances = ListOf(of.distances)
    inner = of.metric
    if of.points is None or inner is None:
        return Space(distances)
    points = tuple(
        entry for length in range(longest + 1) for entry in itertools.product(of.points, repeat=length)
    )

    def metric(x: Any, y: Any) -> Any:
        return (
            math.inf if len(x) != len(y) else distances.make(inner(a, b) for a, b in zip(x, y, strict=True))
        )

    return Space(distances, points, metric, follows=True)
