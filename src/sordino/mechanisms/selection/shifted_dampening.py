"""Shifted local dampening in closed form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sordino.core import PrivateDataError
from sordino.mechanisms.selection.question import Question
from sordino.mechanisms.selection.scores import GridScores, bound_on_grid, grid_step, scores_on_grid

_CACHE_CELLS = 1 << 16


def shifted_scores(question: Question) -> GridScores:
    """u − G (direction plus) or u + G (minus), with the gap G = Σ_t (Δ − δ(t)).

    **Guarantee**: u ∓ G has sensitivity Δ: G(x) − G(y) ≤ Δ − δ(x, 0), because δ(x, t+1) ≥ δ(y, t) leaves only the first
    term of the sum, and |u(x) − u(y)| ≤ δ(x, 0).
    **Requires**: an admissible profile with a finite bound that it reaches (tables do, from their length on).
    **Source**: the limit of local dampening of u − s for s → ±∞ (LD Def. 9); the closed form and its proof are ours.
    A profile that is the same for all candidates gives the plain scores, that is, no gain.
    **Numerics**: exact integers.
    """
    step = grid_step(question.profile, question.step)
    bound = bound_on_grid(question.profile, step)
    gap = np.zeros(question.profile.rows, dtype=np.int64)
    for _, block in question.profile.blocks():
        for rows in _slices_that_fit_a_cache(block.shape):
            steps = block[rows] * (1 / step)
            # whole numbers below 2^31, at most 2^23 of them: their sum is exact in floating point too, in any order
            total = np.ceil(steps, out=steps) @ np.ones(block.shape[1])
            gap[rows] += bound * block.shape[1] - total.astype(np.int64)
        if (gap > 1 << 60).any():
            raise PrivateDataError("the gap of the profile is too long for the grid: give a larger step=")
    scores = scores_on_grid(question.scores, step)
    spread = gap[0] if question.profile.group_of is None else gap[question.profile.group_of]
    return GridScores(scores - spread if question.direction == "plus" else scores + spread, bound)


def _slices_that_fit_a_cache(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, _CACHE_CELLS // shape[1])
    return (slice(start, start + rows) for start in range(0, shape[0], rows))
