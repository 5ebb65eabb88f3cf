"""Running totals from the definition: blocks, what noise does to totals, and the cheapest shift that hides a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog


def list_released_blocks(horizon: int, base: int) -> list[tuple[int, int]]:
    """Aligned blocks of length base^k that end by the horizon and are not the last child of their parent."""
    found = []
    length = 1
    while length <= horizon:
        for index in range(1, horizon // length + 1):
            if index % base:
                found.append((length * (index - 1) + 1, length * index))
        length *= base
    return found


def count_memberships(horizon: int, base: int) -> list[int]:
    """In how many released blocks the change of each time is."""
    blocks = list_released_blocks(horizon, base)
    return [sum(first <= time <= last for first, last in blocks) for time in range(1, horizon + 1)]


class PlantedNoise:
    """Stands where a series draws: hands out zeros but for one planted 1, and counts what was drawn."""

    def __init__(self, planted: int | None = None) -> None:
        self.planted = planted
        self.drawn = 0

    def draw(self, size: int) -> np.ndarray:
        """The next ``size`` draws."""
        values = np.zeros(size, dtype=np.int64)
        if self.planted is not None and self.drawn <= self.planted < self.drawn + size:
            values[self.planted - self.drawn] = 1
        self.drawn += size
        return values


Observe = Callable[[Sequence[int], PlantedNoise], Sequence[float]]


def read_noise_matrix(observe: Observe, stream: Sequence[int]) -> np.ndarray:
    """What each draw adds to each thing that is seen, read off the code that runs: one column per draw."""
    silent = PlantedNoise()
    plain = np.array(observe(stream, silent), dtype=np.float64)
    columns = [
        np.array(observe(stream, PlantedNoise(draw)), dtype=np.float64) - plain
        for draw in range(silent.drawn)
    ]
    return np.array(columns).T.reshape(len(plain), silent.drawn)


def find_cheapest_shift(matrix: np.ndarray, moved: Sequence[float]) -> float:
    """The least Σ|v| with matrix·v = moved: what a change costs in units of one draw's rate; ∞ if no noise hides it.

    If what is seen is a bijection of the draws there is one such v and the cost is exact; else it is an upper bound.
    """
    draws = matrix.shape[1]
    if not draws:
        return 0.0 if not np.any(moved) else float("inf")
    found: Any = linprog(
        np.ones(2 * draws),
        A_eq=np.hstack([matrix, -matrix]),
        b_eq=np.asarray(moved, dtype=np.float64),
        bounds=(0, None),
    )
    return float(found.fun) if found.status == 0 else float("inf")
