"""The coequaliser of two arrows between finite spaces: what must be made equal so that they agree."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sordino.core import ParameterError
from sordino.workflow.arrow import Arrow
from sordino.workflow.distances import FiniteDistances


@dataclass(frozen=True, slots=True)
class Coequaliser:
    """Classes of points and of distances. ``separates``: different classes of points have distances other than 0.

    **Source**: NAPLES report, Prop. 3.39, which holds with two corrections (`docs/errata.md`): where a distance is made
    equal to 0 the result is a pseudometric only; and it is universal among arrows whose sensitivity keeps sums.
    """

    points: tuple[frozenset[Any], ...]
    distances: tuple[frozenset[Any], ...]
    separates: bool


def coequalise(one: Arrow, other: Arrow) -> Coequaliser:
    """The finest points and distances of the codomain under which two arrows are one.

    Points by union-find over (f₁ x, f₂ x). Distances: the least congruence that has (c₁ u, c₂ u) and distances of
    points made equal; closed under adding the same, and under cycles of ≤ and equality, until nothing changes.
    """
    domain, codomain = one.domain, one.codomain
    before, after = domain.distances, codomain.distances
    if (
        not isinstance(before, FiniteDistances)
        or not isinstance(after, FiniteDistances)
        or domain.points is None
        or codomain.points is None
        or codomain.metric is None
        or one.map is None
        or other.map is None
    ):
        raise ParameterError("a coequaliser is worked out for finite spaces with finite distances only")
    metric = codomain.metric
    points = _Classes(codomain.points)
    for x in domain.points:
        points.join(one.map(x), other.map(x))
    classes = _Classes(after.names)
    for u in before.names:
        classes.join(one.sensitivity(u), other.sensitivity(u))
    for group, second in itertools.product(points.all(), repeat=2):
        classes.join_all(metric(x, y) for x in group for y in second)
    _close_congruence(classes, after)
    zero = classes.of(after.zero)
    separates = not any(
        metric(min(group, key=repr), min(second, key=repr)) in zero
        for group, second in itertools.combinations(points.all(), 2)
    )
    return Coequaliser(points.all(), classes.all(), separates)


def _close_congruence(classes: _Classes, distances: FiniteDistances) -> None:
    changed = True
    while changed:
        size = len(classes.all())
        for group in classes.all():
            for one, other in itertools.combinations(group, 2):
                for third in distances.names:
                    classes.join(distances.add(one, third), distances.add(other, third))
        # a cycle of ≤ and equality is one class: classes that reach each other
        groups = classes.all()
        reach = {
            (a, b): any(distances.leq(one, other) for one in groups[a] for other in groups[b])
            for a, b in itertools.product(range(len(groups)), repeat=2)
        }
        for middle, a, b in itertools.product(range(len(groups)), repeat=3):
            reach[a, b] = reach[a, b] or (reach[a, middle] and reach[middle, b])
        for a, b in itertools.combinations(range(len(groups)), 2):
            if reach[a, b] and reach[b, a]:
                classes.join(next(iter(groups[a])), next(iter(groups[b])))
        changed = len(classes.all()) < size


class _Classes:
    """Equivalence classes that only grow."""

    def __init__(self, members: Iterable[Any]) -> None:
        self._class = {member: {member} for member in members}

    def join(self, one: Any, other: Any) -> None:
        if self._class[one] is not self._class[other]:
            joined = self._class[one] | self._class[other]
            for member in joined:
                self._class[member] = joined

    def join_all(self, members: Iterable[Any]) -> None:
        several = list(members)
        for member in several[1:]:
            self.join(several[0], member)

    def of(self, member: Any) -> set[Any]:
        return self._class[member]

    def all(self) -> tuple[frozenset[Any], ...]:
        seen: dict[frozenset[Any], None] = {}
        for group in self._class.values():
            seen[frozenset(group)] = None
        return tuple(seen)
