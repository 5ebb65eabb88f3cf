"""FiniteSpace: finitely many points, their distances, and what can be said of its components."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import as_written, choice
from sordino.workflow.bound import Bound
from sordino.workflow.component import Component, class_of, meet, read_component, read_point
from sordino.workflow.component_constants import Constants, Kind, SetDistance, find_constants
from sordino.workflow.rows import as_list

# Distances that were rounded may break the triangle inequality by this share; they are shortened by it then.
_ROUNDING = Fraction(1, 10**12)
_MOST_POINTS = 300
SET_DISTANCES = ("hausdorff", "max")
KINDS = ("A", "B", "C", "D")


@dataclass(frozen=True, slots=True, init=False, eq=False)
class FiniteSpace:
    """A finite metric space; a component of it is a partition, given as lists of points (places or names).

    ``distances``: a square matrix; numbers count as they are written (0.1 is a tenth). **Requires** the axioms of a
    metric, which are checked exactly: an error names the points. Where rounded distances break the triangle
    inequality by less than 10⁻¹² of themselves, the shortest way counts.

    >>> import sordino as sd
    >>> space = sd.workflow.FiniteSpace([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]], names="abcd")
    >>> rho, sigma = ["ab", "cd"], ["ac", "bd"]
    >>> space.adjacent(rho, sigma), space.equidistant(rho)
    (True, True)
    >>> print(space.combine([0, 5, 1, 7], rho, sigma))
    7 (sum of 1 and 6: adjacent)
    """

    names: tuple[str, ...]
    _metric: NDArray[np.object_] = field(repr=False)

    def __init__(self, distances: Any, *, names: Sequence[str] | None = None) -> None:
        metric = _read_matrix(distances)
        count = len(metric)
        names_given: Iterable[Any] = () if names is None else names
        if not isinstance(names_given, Iterable):
            raise ParameterError(f"names must be a list of {count} names, got {names!r}")
        given = tuple(str(name) for name in (range(count) if names is None else names_given))
        if len(given) != count or len(set(given)) != count:
            raise ParameterError(
                f"names must be {count} different ones, one for each point, got {len(given)}"
            )
        object.__setattr__(self, "names", given)
        object.__setattr__(self, "_metric", _check_metric(metric, given))

    def __len__(self) -> int:
        return len(self.names)

    def distance(self, one: Any, other: Any) -> Fraction:
        """The distance of two points."""
        found: Fraction = self._metric[read_point(one, self.names), read_point(other, self.names)]
        return found

    def component(self, classes: Any) -> Component:
        """The classes as sets of places, each point in exactly one."""
        return read_component(classes, self.names)

    def meet(self, rho: Any, sigma: Any) -> Component:
        """ρ⊓σ: points are together where they are in both."""
        return meet(self.component(rho), self.component(sigma))

    def friends(self, x: Any, among: Iterable[Any]) -> tuple[str, ...]:
        """The names of the nearest points to x in a class; being a friend is not symmetric."""
        places = frozenset(read_point(point, self.names) for point in among)
        if not places:
            raise ParameterError("a class without points has no friends of anything")
        return tuple(self.names[place] for place in sorted(self._friends(read_point(x, self.names), places)))

    def adjacent(self, rho: Any, sigma: Any) -> bool:
        """Whether between any friends of ρ⊓σ there is a third: a friend of x in [x']_ρ and of x' in [x]_σ."""
        first, second = self.component(rho), self.component(sigma)
        return all(
            self._friends(x, class_of(friend, first)) & self._friends(friend, class_of(x, second))
            for x in range(len(self))
            for fine in meet(first, second)
            for friend in self._friends(x, fine)
        )

    def equidistant(self, rho: Any, *, set_distance: SetDistance = "hausdorff") -> bool:
        """Whether for any two classes all friends, both ways, are exactly as far apart as the classes."""
        choice("set_distance", set_distance, SET_DISTANCES)
        return all(
            self._metric[x, friend] == self._set_distance(one, other, set_distance)
            for one, other in itertools.permutations(self.component(rho), 2)
            for x in one
            for friend in self._friends(x, other)
        )

    def expanding(self, rho: Any, sigma: Any, *, set_distance: SetDistance = "hausdorff") -> bool:
        """Whether classes of ρ and of σ are never farther apart than the classes of ρ⊓σ within them."""
        choice("set_distance", set_distance, SET_DISTANCES)
        first, second = self.component(rho), self.component(sigma)
        fine = meet(first, second)
        return all(
            self._set_distance(class_of(min(one), coarse), class_of(min(other), coarse), set_distance)
            <= self._set_distance(one, other, set_distance)
            for coarse in (first, second)
            for one, other in itertools.combinations(fine, 2)
            if class_of(min(one), coarse) != class_of(min(other), coarse)
        )

    def constants(
        self,
        f: Sequence[Any],
        rho: Any,
        kind: Kind = "A",
        set_distance: SetDistance = "hausdorff",
        *,
        outputs: FiniteSpace | None = None,
    ) -> Constants:
        """The least constants with which f, one value per point, is sensitive with respect to ρ.

        With X₁, X₂ classes, x₁ in X₁ and x₂ a friend of x₁ in X₂: kind A bounds d(f x₁, f x₂) by c·d(x₁, x₂), B by
        c·d(X₁, X₂), C and D the same for friendly subsets. Values are numbers, or points of ``outputs``.

        **Guarantee**: the least c, by trying all friends; for Hausdorff distance A is C and B is D (Thm 3.12). With
        max-distance C and D try all friendly subsets, and classes above 12 points are refused.
        """
        choice("kind", kind, KINDS)
        choice("set_distance", set_distance, SET_DISTANCES)
        images = _output_distances(f, self.names, outputs)
        return find_constants(
            self._metric, images, self.component(rho), self._friends, self._set_distance, kind, set_distance
        )

    def combine(
        self,
        f: Sequence[Any],
        rho: Any,
        sigma: Any,
        kind: Kind = "A",
        set_distance: SetDistance = "hausdorff",
        *,
        outputs: FiniteSpace | None = None,
    ) -> Bound:
        """A constant of ρ⊓σ out of those of ρ and σ, where a rule holds; otherwise the direct one.

        **Guarantee**: adjacent components add up for A and C (Thm 3.13, 3.16); for B and D where both are equidistant
        or the pair is expanding (Cor. 3.14, 3.17, Thm 3.15, 3.18). **Source**: NAPLES report, 3.3.5; for
        max-distance equidistance and expansion are those of max-distance, which the print does not say, and C and D
        are computed directly (`docs/errata.md`).
        """
        first, second = self.component(rho), self.component(sigma)
        if self.adjacent(first, second):
            reason = self._reason(first, second, kind, set_distance)
            if reason is not None:
                one = self.constants(f, first, kind, set_distance, outputs=outputs)
                other = self.constants(f, second, kind, set_distance, outputs=outputs)
                total = one.value + other.value
                return Bound(total, f"sum of {one.value:.6g} and {other.value:.6g}: {reason}")
        direct = self.constants(f, meet(first, second), kind, set_distance, outputs=outputs)
        return Bound(direct.value, "directly: no rule for sums holds")

    def complement(self, rho: Any) -> Component | None:
        """The finest component that keeps friends together and with ρ names every point; None: there is none.

        **Source**: NAPLES report, Def. 3.46 and 3.47: union of all pairs of friends, valid where every class of ρ meets
        every class of it in one point at most.
        """
        classes = self.component(rho)
        group = list(range(len(self)))
        for x in range(len(self)):
            for other in classes:
                for friend in self._friends(x, other):
                    old, new = group[friend], group[x]
                    group = [new if label == old else label for label in group]
        found = tuple(
            frozenset(place for place, label in enumerate(group) if label == one)
            for one in dict.fromkeys(group)
        )
        return found if all(len(one) == 1 for one in meet(classes, found)) else None

    def _reason(self, rho: Component, sigma: Component, kind: Kind, set_distance: SetDistance) -> str | None:
        if set_distance == "max" and kind in ("C", "D"):
            return None
        if kind in ("A", "C"):
            return "adjacent"
        if self.equidistant(rho, set_distance=set_distance) and self.equidistant(
            sigma, set_distance=set_distance
        ):
            return "adjacent and equidistant"
        return "adjacent and expanding" if self.expanding(rho, sigma, set_distance=set_distance) else None

    def _friends(self, x: int, among: frozenset[int]) -> frozenset[int]:
        nearest = min(self._metric[x, place] for place in among)
        return frozenset(place for place in among if self._metric[x, place] == nearest)

    def _set_distance(
        self, one: frozenset[int], other: frozenset[int], kind: Literal["hausdorff", "max"]
    ) -> Any:
        between = self._metric[np.ix_(sorted(one), sorted(other))]
        if kind == "max":
            return between.max()
        return max(between.min(axis=1).max(), between.min(axis=0).max())


def _read_matrix(distances: Any) -> NDArray[np.object_]:
    rows = [
        as_list(f"distances[{number}]", row) for number, row in enumerate(as_list("distances", distances))
    ]
    if not rows or any(len(row) != len(rows) for row in rows):
        raise ParameterError(
            f"distances must be a square matrix, got {len(rows)} rows of lengths {[len(row) for row in rows][:5]}"
        )
    if len(rows) > _MOST_POINTS:
        raise ParameterError(f"at most {_MOST_POINTS} points are tried exhaustively, got {len(rows)}")
    metric = np.empty((len(rows), len(rows)), dtype=object)
    for one, row in enumerate(rows):
        for other, value in enumerate(row):
            metric[one, other] = as_written(f"the distance of points {one} and {other}", value)
    return metric


def _check_metric(metric: NDArray[np.object_], names: tuple[str, ...]) -> NDArray[np.object_]:
    for one, other in itertools.product(range(len(names)), repeat=2):
        told = f"points {names[one]} and {names[other]}"
        if metric[one, other] != metric[other, one]:
            raise ParameterError(
                f"distances must be symmetric: {told} are {float(metric[one, other]):g} apart, "
                f"and {float(metric[other, one]):g} the other way"
            )
        if one == other and metric[one, other] != 0:
            raise ParameterError(
                f"the distance of point {names[one]} to itself must be 0, got {float(metric[one, other]):g}"
            )
        if one != other and metric[one, other] <= 0:
            raise ParameterError(
                f"{told} must be > 0 apart, since they are different; got {float(metric[one, other]):g}"
            )
    shortest = metric.copy()
    for middle in range(len(names)):
        by_way = shortest[:, middle, None] + shortest[None, middle, :]
        shortest = np.minimum(shortest, by_way)
    if (shortest * (1 + _ROUNDING) < metric).any():
        raise ParameterError(_offending_triple(metric, names))
    return shortest


def _offending_triple(metric: NDArray[np.object_], names: tuple[str, ...]) -> str:
    one, middle, other = min(
        itertools.product(range(len(names)), repeat=3),
        key=lambda way: metric[way[0], way[1]] + metric[way[1], way[2]] - metric[way[0], way[2]],
    )
    direct, by_way = metric[one, other], metric[one, middle] + metric[middle, other]
    return (
        f"the triangle inequality fails: {names[one]} and {names[other]} are {float(direct):g} apart, "
        f"and {float(by_way):g} by way of {names[middle]}"
    )


def _output_distances(
    f: Sequence[Any], names: tuple[str, ...], outputs: FiniteSpace | None
) -> NDArray[np.object_]:
    values = as_list("f", f)
    if len(values) != len(names):
        raise ParameterError(f"f must have a value for each of the {len(names)} points, got {len(values)}")
    images = np.empty((len(names), len(names)), dtype=object)
    if outputs is not None:
        places = [read_point(value, outputs.names) for value in values]
        for one, other in itertools.product(range(len(names)), repeat=2):
            images[one, other] = outputs._metric[places[one], places[other]]
        return images
    numbers = [as_written(f"f of point {name}", value) for name, value in zip(names, values, strict=True)]
    for one, other in itertools.product(range(len(names)), repeat=2):
        images[one, other] = abs(numbers[one] - numbers[other])
    return images
