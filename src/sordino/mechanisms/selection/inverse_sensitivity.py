"""Inverse sensitivity: a candidate scores minus the number of changes that would make it the winner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError
from sordino.mechanisms.selection.question import Question
from sordino.mechanisms.selection.scores import (
    GridScores,
    bound_on_grid,
    grid_step,
    scores_on_grid,
    sensitivity_on_grid,
)

_MOST_CELLS = 1 << 26
_CHUNK_CELLS = 1 << 20


def inverse_scores(question: Question) -> GridScores:
    """Minus the number of changes, given by the caller or bounded from below by the profile.

    With ``changes`` the caller counts exactly. Otherwise candidate r needs at least t changes as long as some rival s
    stays ahead whatever they do: t_r = max_s min{t : b_r(t) + b_s(t) ≥ u_s − u_r}, b the partial sums of the profile.

    **Guarantee**: t_r has sensitivity 1: if t changes suffice at y then t + 1 do at its neighbour x, because
    b(x, t+1) ≥ δ(x, 0) + b(y, t) and δ_s(x, 0) + δ_r(x, 0) bounds how far u_s − u_r moves.
    **Requires**: an admissible profile with a finite bound, or counts that change by at most 1 between neighbours.
    **Source**: Asi and Duchi 2020 for exact counts; the bound from profiles and its proof are ours.
    **Numerics**: exact integers.
    """
    if question.changes is not None:
        return GridScores(-question.changes, 1)
    step = grid_step(question.profile, question.step)
    bound = bound_on_grid(question.profile, step)
    scores = scores_on_grid(question.scores, step)
    group = question.profile.group_of
    groups = np.zeros(len(scores), dtype=np.intp) if group is None else group
    sums = _partial_sums(question, step)
    leaders = np.full(question.profile.rows, np.iinfo(np.int64).min)
    np.maximum.at(leaders, groups, scores)
    present = np.flatnonzero(leaders > np.iinfo(np.int64).min)
    changes = np.empty(len(scores), dtype=np.int64)
    chunk = max(1, _CHUNK_CELLS // len(present))
    for start in range(0, len(scores), chunk):
        part = slice(start, start + chunk)
        lead = leaders[present][None, :] - scores[part, None]
        changes[part] = _steps_to_close(lead, sums, groups[part], present, bound).max(axis=1)
    return GridScores(-changes, 1)


def _partial_sums(question: Question, step: float) -> NDArray[np.int64]:
    """b(0), b(1), …, b(T) for every row."""
    blocks, cells = [np.zeros((question.profile.rows, 1), dtype=np.int64)], 0
    for _, block in question.profile.blocks():
        cells += block.size
        if cells > _MOST_CELLS:
            raise UnsupportedError(
                f"inverse_sensitivity holds the whole profile in memory, at most {_MOST_CELLS} cells: shorten it with "
                ".until(horizon), or count the changes yourself and give changes="
            )
        blocks.append(sensitivity_on_grid(block, step))
    return np.cumsum(np.concatenate(blocks, axis=1), axis=1)


def _steps_to_close(
    lead: NDArray[np.int64],
    sums: NDArray[np.int64],
    rows: NDArray[np.intp],
    rivals: NDArray[np.intp],
    bound: int,
) -> NDArray[np.int64]:
    """min{t : b_r(t) + b_s(t) ≥ lead} for every candidate (axis 0) against every rival group (axis 1)."""
    last = sums.shape[1] - 1
    low = np.zeros(lead.shape, dtype=np.int64)
    high = np.full(lead.shape, last, dtype=np.int64)
    mine, theirs = np.broadcast_to(rows[:, None], lead.shape), np.broadcast_to(rivals[None, :], lead.shape)
    while (low < high).any():
        middle = (low + high) // 2
        enough = sums[mine, middle] + sums[theirs, middle] >= lead
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    short = lead - sums[mine, low] - sums[theirs, low]
    steps: NDArray[np.int64] = low + np.maximum(0, -(-short // (2 * bound)))
    return steps
