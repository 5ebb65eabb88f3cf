"""Distances: sets of distances, which need not be numbers: something to add, something to compare."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sordino.core import ParameterError


class Distances(Protocol):
    """A commutative monoid with a partial order in which 0 is least and addition is monotone (Def. 3.28)."""

    @property
    def zero(self) -> Any:
        """The distance of a point to itself."""

    def add(self, one: Any, other: Any) -> Any:
        """The distance by way of a third point, at most."""

    def leq(self, one: Any, other: Any) -> bool:
        """Whether one distance is at most the other; neither may be."""


@dataclass(frozen=True, slots=True)
class Reals:
    """Numbers of at least 0, and ∞."""

    @property
    def zero(self) -> int:
        """0."""
        return 0

    def add(self, one: Any, other: Any) -> Any:
        """The sum."""
        return one + other

    def leq(self, one: Any, other: Any) -> bool:
        """≤ of numbers."""
        return bool(one <= other)


@dataclass(frozen=True, slots=True)
class TupleOf:
    """Several distances side by side, added and compared one by one."""

    parts: tuple[Distances, ...]

    @property
    def zero(self) -> tuple[Any, ...]:
        """0 everywhere."""
        return tuple(part.zero for part in self.parts)

    def add(self, one: Any, other: Any) -> tuple[Any, ...]:
        """Each with each."""
        return tuple(part.add(a, b) for part, a, b in zip(self.parts, one, other, strict=True))

    def leq(self, one: Any, other: Any) -> bool:
        """At most everywhere."""
        return all(part.leq(a, b) for part, a, b in zip(self.parts, one, other, strict=True))


@dataclass(frozen=True, slots=True)
class SumOf:
    """Distances of two disjoint spaces: 0, ∞, or (side, distance) with side 0 or 1; across it is ∞ (Prop. 3.37)."""

    parts: tuple[Distances, Distances]

    @property
    def zero(self) -> int:
        """The common 0."""
        return 0

    def add(self, one: Any, other: Any) -> Any:
        """Within a side as there, across ∞."""
        if one == 0 or other == 0:
            return other if one == 0 else one
        if math.inf in (one, other) or one[0] != other[0]:
            return math.inf
        return (one[0], self.parts[one[0]].add(one[1], other[1]))

    def leq(self, one: Any, other: Any) -> bool:
        """0 below all, ∞ above all, sides not comparable."""
        if one == 0 or other == math.inf:
            return True
        if other == 0 or one == math.inf:
            return False
        return bool(one[0] == other[0] and self.parts[one[0]].leq(one[1], other[1]))


@dataclass(frozen=True, slots=True)
class ListOf:
    """Distances of lists: one per place where lengths agree, ∞ where not; 0 is the zero of every length."""

    of: Distances

    @property
    def zero(self) -> int:
        """The common 0."""
        return 0

    def add(self, one: Any, other: Any) -> Any:
        """Place by place; ∞ where lengths differ."""
        if one == 0 or other == 0:
            return other if one == 0 else one
        if math.inf in (one, other) or len(one) != len(other):
            return math.inf
        return self.make(self.of.add(a, b) for a, b in zip(one, other, strict=True))

    def leq(self, one: Any, other: Any) -> bool:
        """Place by place."""
        if one == 0 or other == math.inf:
            return True
        if other == 0 or one == math.inf or len(one) != len(other):
            return False
        return all(self.of.leq(a, b) for a, b in zip(one, other, strict=True))

    def make(self, parts: Iterable[Any]) -> Any:
        """A distance from those of each place."""
        found = tuple(parts)
        return 0 if all(part == self.of.zero for part in found) else found


@dataclass(frozen=True, slots=True, init=False)
class FiniteDistances:
    """Finitely many distances by tables, all axioms checked.

    ``order``: chains from below, as in [("0", "A", "B")]; what follows from them holds too. ``add``: sums of pairs of
    different or equal distances other than the zero, in either order.
    """

    names: tuple[Any, ...]
    zero: Any
    _sums: Mapping[tuple[Any, Any], Any]
    _below: frozenset[tuple[Any, Any]]

    def __init__(
        self, names: Sequence[Any], *, zero: Any, order: Iterable[Sequence[Any]], add: Mapping[Any, Any]
    ) -> None:
        found = tuple(names)
        if zero not in found or len(set(found)) < len(found):
            raise ParameterError(f"the zero {zero!r} must be one of the distances, which are different")
        sums = {
            (one, other): add.get((one, other), add.get((other, one))) for one in found for other in found
        }
        for name in found:
            sums[name, zero] = sums[zero, name] = name
        for (one, other), total in sums.items():
            if total not in found:
                raise ParameterError(f"{one!r} + {other!r} must be one of the distances, got {total!r}")
        object.__setattr__(self, "names", found)
        object.__setattr__(self, "zero", zero)
        object.__setattr__(self, "_sums", sums)
        object.__setattr__(self, "_below", _close(found, order))
        self._check(add)

    def add(self, one: Any, other: Any) -> Any:
        """By the table."""
        return self._sums[one, other]

    def leq(self, one: Any, other: Any) -> bool:
        """By the chains."""
        return (one, other) in self._below

    def _check(self, add: Mapping[Any, Any]) -> None:
        for one, other in itertools.product(self.names, repeat=2):
            if (one, other) in add and (other, one) in add and add[one, other] != add[other, one]:
                raise ParameterError(
                    f"addition must commute: {one!r} + {other!r} and {other!r} + {one!r} differ"
                )
            if one != other and self.leq(one, other) and self.leq(other, one):
                raise ParameterError(
                    f"{one!r} and {other!r} are each below the other: they must be one distance"
                )
            if not self.leq(self.zero, one):
                raise ParameterError(f"the zero must be below {one!r}")
        for one, other, third in itertools.product(self.names, repeat=3):
            if self.add(self.add(one, other), third) != self.add(one, self.add(other, third)):
                raise ParameterError(f"addition is not associative: {one!r}, {other!r}, {third!r}")
            if self.leq(one, other) and not self.leq(self.add(one, third), self.add(other, third)):
                raise ParameterError(f"{one!r} is below {other!r}, but not with {third!r} added to both")


def _close(names: tuple[Any, ...], order: Iterable[Sequence[Any]]) -> frozenset[tuple[Any, Any]]:
    below = {(name, name) for name in names}
    for chain in order:
        for one, other in itertools.pairwise(chain):
            for name in (one, other):
                if name not in names:
                    raise ParameterError(f"the order names {name!r}, which is no distance")
            below.add((one, other))
    for middle, one, other in itertools.product(names, repeat=3):
        if (one, middle) in below and (middle, other) in below:
            below.add((one, other))
    return frozenset(below)
