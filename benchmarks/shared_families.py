"""Public families of results with several owners, and R2T on their truncated totals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sordino.units.shared_results import SharedResults, gather_results

SECOND, THIRD = 10**7, 2 * 10**7  # first codes of the second and the third entity


def draw_skewed(draw: np.random.Generator, units: int, size: int, skew: float) -> np.ndarray:
    """Units by their rank: the k-th with a chance that falls as k^(−skew)."""
    chances = np.arange(1, units + 1) ** -skew
    return draw.choice(units, size, p=chances / chances.sum())


def make_families(scale: int = 1) -> dict[str, SharedResults]:
    """Two entities, even and skewed; stars; all pairs; a self-join; a sum; three owners."""
    draw = np.random.default_rng(13)

    def two(size: int, skew: float, customers: int, suppliers: int) -> list[np.ndarray]:
        return [
            draw_skewed(draw, customers * scale, size * scale, skew),
            SECOND + draw_skewed(draw, suppliers * scale, size * scale, skew),
        ]

    people = 40 * scale
    return {
        "even": gather_results(two(6000, 0.0, 3000, 250)),
        "skewed": gather_results(two(6000, 0.8, 2000, 500)),
        "stars": gather_results([np.repeat(np.arange(people), 50), SECOND + np.arange(50 * people)]),
        "all pairs": gather_results([np.repeat(np.arange(60), 60), SECOND + np.tile(np.arange(60), 60)]),
        "self-join": gather_results([draw_skewed(draw, 1000 * scale, 5000 * scale, s) for s in (0.9, 0.5)]),
        "sum": gather_results(two(4000, 0.5, 800, 300), draw.integers(1, 50, 4000 * scale)),
        "three owners": gather_results(
            [*two(3000, 0.6, 500, 200), THIRD + draw_skewed(draw, 300 * scale, 3000 * scale, 0.6)]
        ),
    }


def race_errors(
    totals: Sequence[float], truth: float, limits: Sequence[int], epsilon: float, runs: int, *, seed: int
) -> NDArray[np.float64]:
    """R2T's errors: every limit with its share of the budget and a penalty, and the largest of them."""
    draw = np.random.default_rng(seed)
    share = np.array(limits) * len(limits) / epsilon
    noise = draw.laplace(0.0, share, (runs, len(limits)))
    shifted = np.array(totals) + noise - np.log(len(limits) / 0.1) * share
    found: NDArray[np.float64] = np.abs(np.maximum(shifted.max(axis=1), 0.0) - truth)
    return found


def middle(errors: NDArray[np.float64]) -> float:
    """The mean of the middle 60 %, as R2T is reported: a few limits far too large rule its whole mean."""
    ordered, cut = np.sort(errors), len(errors) // 5
    return float(ordered[cut : len(errors) - cut].mean())
