"""The constants of a function with respect to a component, by trying all friends or all friendly subsets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError
from sordino.core.loss import round_up
from sordino.workflow.component import Component

Kind = Literal["A", "B", "C", "D"]
SetDistance = Literal["hausdorff", "max"]
_MOST_IN_A_CLASS = 12

Friends = Callable[[int, frozenset[int]], frozenset[int]]
Apart = Callable[[frozenset[int], frozenset[int], SetDistance], Any]


@dataclass(frozen=True, slots=True)
class Constants:
    """The least c of one kind: for all classes together, and for friends that begin in each class (local)."""

    kind: Kind
    value: float
    by_class: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {self.value:.6g}"


def find_constants(
    metric: NDArray[np.object_],
    images: NDArray[np.object_],
    rho: Component,
    friends: Friends,
    apart: Apart,
    kind: Kind,
    set_distance: SetDistance,
) -> Constants:
    """The least constants of a kind; ``images``: distances of the values of f."""
    subsets = set_distance == "max" and kind in ("C", "D")
    if subsets and max(map(len, rho)) > _MOST_IN_A_CLASS:
        raise UnsupportedError(
            f"friendly subsets of a class of {max(map(len, rho))} points are too many to try: "
            f"at most {_MOST_IN_A_CLASS}, or take set_distance='hausdorff'"
        )
    local: list[float] = []
    for own in rho:
        least = Fraction(0)
        for other in rho:
            if other is own:
                continue
            between = apart(own, other, set_distance)
            if subsets:
                least = max(least, _worst_subsets(metric, images, own, other, friends, kind, between))
                continue
            for x in own:
                for friend in friends(x, other):
                    below = metric[x, friend] if kind in ("A", "C") else between
                    least = max(least, images[x, friend] / below)
        local.append(round_up(least))
    return Constants(kind, max(local, default=0.0), tuple(local))


def _worst_subsets(
    metric: NDArray[np.object_],
    images: NDArray[np.object_],
    own: frozenset[int],
    other: frozenset[int],
    friends: Friends,
    kind: Kind,
    between: Fraction,
) -> Fraction:
    """The largest ratio over friendly subsets, by max-distance."""
    choices = {x: sorted(friends(x, other)) for x in own}
    worst = Fraction(0)
    for part in _subsets(own):
        reached = frozenset(itertools.chain.from_iterable(choices[x] for x in part))
        for met in _subsets(reached):
            chosen = frozenset(met)
            if not all(chosen.intersection(choices[x]) for x in part):
                continue
            block = np.ix_(part, met)
            below = metric[block].max() if kind == "C" else between
            worst = max(worst, images[block].max() / below)
    return worst


def _subsets(of: frozenset[int]) -> Iterator[tuple[int, ...]]:
    points = sorted(of)
    for size in range(1, len(points) + 1):
        yield from itertools.combinations(points, size)
