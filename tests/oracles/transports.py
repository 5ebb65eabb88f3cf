"""Transport of small whole weights by trying every way to pair single grains."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any


def grains(weights: Sequence[int]) -> list[int]:
    """Weights as single grains: (2, 0, 1) is [0, 0, 2]."""
    return [place for place, count in enumerate(weights) for _ in range(count)]


def pairings(p: Sequence[int], q: Sequence[int]) -> list[list[tuple[int, int]]]:
    """All couplings in whole grains, which have all vertices of the couplings among them."""
    first = grains(p)
    return [list(zip(first, order, strict=True)) for order in set(itertools.permutations(grains(q)))]


def mean_cost(p: Sequence[int], q: Sequence[int], costs: Any) -> float:
    return min(sum(costs[x][y] for x, y in one) for one in pairings(p, q)) / sum(p)


def largest_cost(p: Sequence[int], q: Sequence[int], costs: Any) -> float:
    return min(max(costs[x][y] for x, y in one) for one in pairings(p, q))


def reached(p: Sequence[int], q: Sequence[int], several: Sequence[Any]) -> set[tuple[float, ...]]:
    """What each pairing costs by each of several costs."""
    return {tuple(sum(costs[x][y] for x, y in one) / sum(p) for costs in several) for one in pairings(p, q)}


def privacy_loss(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest |ln| of a ratio of two laws."""
    return max(
        math.inf if (a == 0) != (b == 0) else abs(math.log(a / b))
        for a, b in zip(one, other, strict=True)
        if a or b
    )
