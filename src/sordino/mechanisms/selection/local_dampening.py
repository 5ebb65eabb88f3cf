"""Local dampening: how many steps of the profile a score is worth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.selection.question import Question
from sordino.mechanisms.selection.scores import (
    GridScores,
    bound_on_grid,
    grid_step,
    scores_on_grid,
    sensitivity_on_grid,
)

# Dampened scores are counted in 2^-20 of a step.
_UNIT = 1 << 20


def dampened_scores(question: Question) -> GridScores:
    """D(u): the place of u among the partial sums b(i) = δ(0) + … + δ(i−1), interpolated; odd, and 0 at u = 0.

    **Guarantee**: D has sensitivity 1, whatever the data, so every mechanism for scores of sensitivity 1 may follow.
    **Requires**: an admissible profile; its bound may be ∞ (then ``step`` is needed).
    **Source**: LD Def. 8 and Lemma 2; D = 0 at u = 0 where leading zeros of δ leave the print's index open.
    **Numerics**: exact integers throughout; D is rounded down to 2⁻²⁰, which costs nothing (see `GridScores`).
    """
    step = grid_step(question.profile, question.step)
    scores = scores_on_grid(question.scores, step)
    whole, part, size = _located(np.abs(scores), question, step)
    up = whole * _UNIT + (part * _UNIT) // size
    down = -(whole * _UNIT + -((-part * _UNIT) // size))
    return GridScores(np.where(scores >= 0, up, down), _UNIT)


def _located(
    magnitudes: NDArray[np.int64], question: Question, step: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For every w = |u|: i with b(i) ≤ w < b(i+1), the rest w − b(i), and δ(i)."""
    profile = question.profile
    group = np.zeros(len(magnitudes), dtype=np.intp) if profile.group_of is None else profile.group_of
    index = np.zeros(len(magnitudes), dtype=np.int64)
    rest = np.zeros_like(index)
    size = np.ones_like(index)
    pending = np.flatnonzero(magnitudes)
    reached = np.zeros(profile.rows, dtype=np.int64)
    steps = 0
    for start, block in profile.blocks():
        if not len(pending):
            break
        deltas = sensitivity_on_grid(block, step)
        sums = reached[:, None] + np.cumsum(deltas, axis=1)
        inside = magnitudes[pending] < sums[group[pending], -1]
        here = pending[inside]
        rows = group[here]
        column = _first_above(sums, rows, magnitudes[here])
        size[here] = deltas[rows, column]
        rest[here] = magnitudes[here] - (sums[rows, column] - size[here])
        index[here] = start + column
        pending = pending[~inside]
        reached = sums[:, -1]
        steps = start + block.shape[1]
    if len(pending):
        over = magnitudes[pending] - reached[group[pending]]
        if math.isinf(profile.bound):
            index[pending] = steps
        else:
            bound = bound_on_grid(profile, step)
            index[pending] = steps + over // bound
            rest[pending] = over % bound
            size[pending] = bound
    return index, rest, size


def _first_above(
    sums: NDArray[np.int64], rows: NDArray[np.intp], targets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The first column of each row whose partial sum exceeds the target, by bisection of all rows at once."""
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), sums.shape[1] - 1, dtype=np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        above = sums[rows, middle] > targets
        high = np.where(above, middle, high)
        low = np.where(above, low, middle + 1)
    return low
