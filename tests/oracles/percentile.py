"""The percentile as a selection of individuals and as a value: everything by walking the universe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from tests.oracles.local_sensitivity import (
    changes_of_value,
    changes_to_value,
    element_local_sensitivity,
    local_sensitivity,
)
from tests.oracles.universe import Universe, labelled_values


def rank(percent: int | Fraction, n: int) -> int:
    """k = ceil(p (n+1) / 100), clipped to 1..n; exact, so `percent` is no float."""
    if isinstance(percent, float):
        raise TypeError("percent must be exact: an int or a Fraction")
    return min(max(-(-percent * (n + 1) // 100), 1), n)


def order_statistic(values: Sequence[int], k: int) -> int:
    """The k-th smallest value, k from 1."""
    return sorted(values)[k - 1]


def percentile_utility(values: Sequence[int], k: int) -> list[int]:
    """u(x, r) = -|x_(k) - x_r| for every individual r."""
    middle = order_statistic(values, k)
    return [-abs(middle - v) for v in values]


def percentile_sensitivity(n: int, top: int, k: int) -> tuple[Universe, np.ndarray, np.ndarray]:
    """All databases, u as [database, r] and LS as [database, t, r], values 0..top, one value replaced.

    The grid loses nothing against real values in [0, top]: |u(y) - u(z)| is convex and piecewise linear on each
    ordering of the changed values, so its maximum sits where every changed value is 0, top or a value of x.
    """
    universe = labelled_values(n, top)
    utility = universe.table(lambda x: percentile_utility(x, k))
    return universe, utility, element_local_sensitivity(universe, utility)


def order_statistics(universe: Universe, rank_of: Callable[[int], int]) -> np.ndarray:
    """x_(k(n)) of every database, n its own size."""
    return universe.table(lambda x: order_statistic(x, rank_of(len(x))))


def order_statistic_local_sensitivity(universe: Universe, rank_of: Callable[[int], int]) -> np.ndarray:
    """[database, t]: LS of the number x_(k(n)) at distance t."""
    return local_sensitivity(universe, order_statistics(universe, rank_of))


def changes_to_move(universe: Universe, rank_of: Callable[[int], int]) -> np.ndarray:
    """q(x): fewest changes until x_(k(n)) is another value. In a universe cut at max_n, trust it far from the cut."""
    return changes_of_value(universe, order_statistics(universe, rank_of))


def changes_to_make(universe: Universe, rank_of: Callable[[int], int], targets: Sequence[int]) -> np.ndarray:
    """[database, target]: fewest changes until x_(k(n)) is the target."""
    return changes_to_value(universe, order_statistics(universe, rank_of), targets)
