"""Norms in which a column stands several times, as in l2(l1(x, y), 2*y).

Let M be the same norm with a column of its own for every occurrence, and E the map that copies a column to all of its
occurrences, so that N(x) = M(Ex). Then

    N*(g) = min { M*(ĝ) : the entries of ĝ at the occurrences of a column add up to its entry of g }

by duality, and *every* split ĝ of g gives an upper bound: g·x = ĝ·Ex ≤ M*(ĝ)·N(x). Lemma 3.66 of the NAPLES report,
which takes columns to be apart, has all of g at every occurrence: no split, but above one, so too large a dual and not
too small a one. What must not be forgotten is an occurrence: a split that loses a part, or a ratio of norms that reads
the weight of one occurrence only, is too small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce, singledispatch
from typing import Any

import numpy as np

from sordino.sensitivity.norms.combination import CombinedNorm
from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.part import NormPart
from sordino.sensitivity.norms.scaled import ScaledNorm

# Each step of a search looks at so many places of an interval, and leaves the two beside the least of them.
_PLACES = np.linspace(0.0, 1.0, 9)
_STEPS, _SWEEPS = 18, 12
# So many parts of splits are chosen together; more are chosen one after the other.
_TOGETHER = 2

# The share of every occurrence in the entry of its column.
Split = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SeparatedNorm:
    """``root``: M. ``occurrences``: of every column, their names in M."""

    root: NormPart
    occurrences: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, root: NormPart) -> SeparatedNorm:
        """Number the occurrences."""
        names: dict[str, list[str]] = {}
        apart = _separate(root, names)
        return cls(apart, {column: tuple(found) for column, found in names.items()})

    def dual(self, slopes: Mapping[str, Any], split: Split) -> Any:
        """M* at a split: at least N*. For a fixed split it grows with the slopes, and is homogeneous."""
        return self.root.dual(
            {
                name: np.abs(np.asarray(slopes[column], dtype=float)) * split[name]
                for column, names in self.occurrences.items()
                if column in slopes
                for name in names
            }
        )

    def even_split(self) -> dict[str, Any]:
        """In proportion to the unit rates of the occurrences: at the unit rates, M* is then 1. A jump has no rate, and
        jumps are added up, so theirs are in proportion to their factors."""
        rates = {leaf.column: float(factor) for leaf, factor in self.root.leaves() if leaf.kind == "is"}
        rates |= dict(self.root.unit_rates(1.0))
        return {
            name: rates[name] / sum(rates[other] for other in names)
            for names in self.occurrences.values()
            for name in names
        }

    def best_split(self, slopes: Mapping[str, Any]) -> dict[str, Any]:
        """The split of least M*, by ever smaller intervals: M* is convex in it. With more than two parts to choose they
        are chosen in turns, which may end above the least."""
        split = {name: np.asarray(share) for name, share in self.even_split().items()}
        free = [
            (name, names[-1])
            for column, names in self.occurrences.items()
            if column in slopes
            for name in names[:-1]
        ]
        if len(free) <= _TOGETHER:
            return self._choose(slopes, split, free)
        for _ in range(_SWEEPS):
            for one in free:
                split = self._choose(slopes, split, [one])
        return split

    def _choose(
        self, slopes: Mapping[str, Any], split: dict[str, Any], free: Sequence[tuple[str, str]]
    ) -> dict[str, Any]:
        """The best shares of some occurrences, each at the cost of the last occurrence of its column."""
        if not free:
            return split
        (name, last), *others = free
        whole = split[name] + split[last]

        def at(part: Any) -> tuple[Any, dict[str, Any]]:
            chosen = self._choose(slopes, split | {name: part, last: whole - part}, others)
            return self.dual(slopes, chosen), chosen

        shape = np.broadcast_shapes(whole.shape, *(np.shape(slope) for slope in slopes.values()))
        low, high = np.zeros(shape), np.broadcast_to(whole, shape)
        places = _PLACES.reshape(-1, *(1 for _ in shape))
        for _ in range(_STEPS):
            parts = low + (high - low) * places
            least = np.argmin(at(parts)[0], axis=0)[np.newaxis]
            low = np.take_along_axis(parts, np.maximum(least - 1, 0), axis=0)[0]
            high = np.take_along_axis(parts, np.minimum(least + 1, len(places) - 1), axis=0)[0]
        best, kept = at((low + high) / 2)
        for part in (np.zeros(shape), np.broadcast_to(whole, shape)):
            value, chosen = at(part)
            kept = {key: np.where(value < best, chosen[key], kept[key]) for key in chosen}
            best = np.minimum(value, best)
        return kept


def has_shared(root: NormPart) -> bool:
    """Whether a column stands in a norm twice."""
    return max(Counter(leaf.column for leaf, _ in root.leaves()).values()) > 1


def bound_shared_dual(root: NormPart, slopes: Mapping[str, Any]) -> Any:
    """N* from above, by the best split that is found for these slopes."""
    apart = separate(root)
    return apart.dual(slopes, apart.best_split(slopes))


def bound_shared_slopes(root: NormPart, slopes: Mapping[str, Any]) -> Any:
    """N* from above by the best of some splits that do not depend on the slopes.

    Each grows with the slopes and is homogeneous, so their minimum is too: what is β-smooth in the slopes stays so,
    which a split that is searched for every row does not promise.
    """
    apart = separate(root)
    return reduce(np.minimum, [apart.dual(slopes, split) for split in _list_splits(root)])


@lru_cache(maxsize=256)
def separate(root: NormPart) -> SeparatedNorm:
    """The norm with its occurrences apart; of a norm that is asked often, once."""
    return SeparatedNorm.of(root)


@lru_cache(maxsize=256)
def _list_splits(root: NormPart) -> tuple[Split, ...]:
    """Public ones: even, and the best for the unit rates and for every column by itself."""
    apart = separate(root)
    rates: dict[str, float] = {}
    for column, rate in root.unit_rates(1.0):
        rates[column] = rates.get(column, 0.0) + rate
    alone: dict[str, Any] = {}
    for column, names in apart.occurrences.items():
        best = apart.best_split({column: 1.0})
        alone |= {name: best[name] for name in names}
    return apart.even_split(), apart.best_split(rates), alone


@singledispatch
def _separate(part: NormPart, names: dict[str, list[str]]) -> NormPart:
    raise TypeError(f"no occurrences of a {type(part).__name__}")


@_separate.register
def _(part: NormLeaf, names: dict[str, list[str]]) -> NormPart:
    found = names.setdefault(part.column, [])
    found.append(f"{part.column} {len(found)}")
    return NormLeaf(found[-1], part.kind)


@_separate.register
def _(part: ScaledNorm, names: dict[str, list[str]]) -> NormPart:
    return ScaledNorm(part.factor, _separate(part.inner, names))


@_separate.register
def _(part: CombinedNorm, names: dict[str, list[str]]) -> NormPart:
    return CombinedNorm(part.exponent, tuple(_separate(child, names) for child in part.children))
