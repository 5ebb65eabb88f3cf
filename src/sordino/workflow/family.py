"""Family: a finite family of finite sets of distances; what is lost is the least over sets of the most over members."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow.distances import Distances, Reals, TupleOf

_MOST = 10_000
Antichain = frozenset[Any]


@dataclass(frozen=True, slots=True, init=False)
class Family:
    """Sets of distances, each kept by its largest members, and of the sets those that no other is below.

    A set stands for all couplings that reach no farther than its members; the family for a choice among them. Members
    are numbers, or tuples of numbers of one length.

    >>> from sordino.workflow import Family
    >>> family = Family([[(1, 0), (0, 1)], [(3, 0)], [(3, 0), (0, 2)]])
    >>> len(family.sets), family.value(sum)
    (2, 1)
    """

    sets: frozenset[Antichain]
    distances: Distances

    def __init__(self, sets: Iterable[Iterable[Any]], *, distances: Distances | None = None) -> None:
        given = [list(one) for one in sets]
        if not given or not all(given):
            raise ParameterError("a family must have sets, and each set members")
        if distances is None:
            distances = _guess(given[0][0])
        pruned = {_largest(one, distances) for one in given}
        kept = frozenset(
            one
            for one in pruned
            if not any(other != one and below(other, one, distances) for other in pruned)
        )
        if len(kept) > _MOST:
            raise UnsupportedError(f"the family has {len(kept)} sets: at most {_MOST} are kept")
        object.__setattr__(self, "sets", kept)
        object.__setattr__(self, "distances", distances)

    def value(self, loss: Callable[[Any], Any] = lambda member: member) -> Any:
        """The least over sets of the largest loss of a member."""
        return min(max(loss(member) for member in one) for one in self.sets)

    def join(self, other: Family) -> Family:
        """The least family above both: one set of each, together."""
        self._check_size(len(self.sets) * len(other.sets))
        return Family((a | b for a in self.sets for b in other.sets), distances=self.distances)

    def add(self, other: Family) -> Family:
        """By way of a third distribution: every sum of members of one set of each."""
        self._check_size(len(self.sets) * len(other.sets))
        return Family(
            ({self.distances.add(u, v) for u in a for v in b} for a in self.sets for b in other.sets),
            distances=self.distances,
        )

    def map(self, sensitivity: Callable[[Any], Any], *, distances: Distances | None = None) -> Family:
        """What a map with this sensitivity, which must be monotone, makes of it (Prop. 3.47)."""
        images = [{sensitivity(member) for member in one} for one in self.sets]
        return Family(images, distances=distances or _guess(next(iter(images[0]))))

    @staticmethod
    def multiply(outer: Sequence[Sequence[Family]]) -> Family:
        """A family of sets of families as one: of each set, one inner set per member, together (Prop. 3.48).

        max over members of min over their sets = min over choices of max over what was chosen.
        """
        if not outer or not all(outer):
            raise ParameterError("a family must have sets, and each set members")
        distances = outer[0][0].distances
        found: list[Antichain] = []
        for one in outer:
            chosen: frozenset[Antichain] = frozenset({frozenset()})
            for family in one:
                family._check_size(len(chosen) * len(family.sets))
                unions = {_largest(a | b, distances) for a, b in itertools.product(chosen, family.sets)}
                chosen = frozenset(unions)
            found += chosen
        return Family(found, distances=distances)

    def _check_size(self, count: int) -> None:
        if count > _MOST * 10:
            raise UnsupportedError(f"{count} sets would have to be tried: at most {_MOST * 10}")


def below(one: Iterable[Any], other: Iterable[Any], distances: Distances) -> bool:
    """Whether every member of one set is at most some member of the other."""
    members = list(other)
    return all(any(distances.leq(u, v) for v in members) for u in one)


def _largest(members: Iterable[Any], distances: Distances) -> Antichain:
    several = list(dict.fromkeys(members))
    return frozenset(u for u in several if not any(u != v and distances.leq(u, v) for v in several))


def _guess(member: Any) -> Distances:
    return TupleOf((Reals(),) * len(member)) if isinstance(member, tuple) else Reals()
