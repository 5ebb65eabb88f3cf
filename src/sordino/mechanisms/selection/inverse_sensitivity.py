"""Inverse sensitivity: a candidate scores minus the number of changes that would make it the winner.

The winner itself scores the number of changes that it certainly survives: the count is signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.selection.mechanism import ScoreMechanism
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.samplers import SAMPLER_NAMES, SAMPLERS
from sordino.mechanisms.selection.scores import (
    GridScores,
    bound_on_grid,
    grid_step,
    scores_on_grid,
    sensitivity_on_grid,
)
from sordino.mechanisms.selection.traits import MechanismTraits

_Blocks = Iterable[tuple[int, NDArray[np.int64]]]

# Partial sums of a profile up to so many cells are kept; of a larger one they are summed anew for every part.
_KEPT_CELLS = 1 << 26
_NOBODY = np.iinfo(np.int64).min
_CHUNK_CELLS = 1 << 20
_LARGE_CHUNK_CELLS = 1 << 23


def inverse_scores(question: SelectionQuestion) -> GridScores:
    """Minus the signed number of changes, given by the caller or bounded from below by the profile.

    With ``changes`` the caller counts exactly (for the winner: minus the changes it survives). Otherwise, with b the
    partial sums of the profile, the lead u_s − u_r of a rival takes N = min{t : b_r(t) + b_s(t) ≥ |u_s − u_r|} changes
    to close; candidate r is behind s by N, or ahead of it by N − 1, and its count is the largest over all rivals.

    **Guarantee**: the count has sensitivity 1. If N changes close a lead at y then N + 1 do at its neighbour x, because
    b(x, t+1) ≥ δ(x, 0) + b(y, t) and δ_s(x, 0) + δ_r(x, 0) bounds how far the lead moves; and where the lead changes
    its sign, both |leads| are at most that sum, so that N is at most 1 on either side.
    **Requires**: an admissible profile with a finite bound, or counts that change by at most 1 between neighbours.
    **Source**: Asi and Duchi 2020 for exact counts; the sign, the bound from profiles and their proof are ours.
    **Numerics**: exact integers.
    """
    if question.changes is not None:
        return GridScores(-question.changes, 1)
    step = grid_step(question.profile, question.step)
    bound = bound_on_grid(question.profile, step)
    scores = scores_on_grid(question.scores, step)
    if len(scores) == 1:
        return GridScores(np.zeros(1, dtype=np.int64), 1)
    group = question.profile.group_of
    groups = np.zeros(len(scores), dtype=np.intp) if group is None else group
    sums = _partial_sums(question, step)
    first, leader = _leaders(scores, groups)
    present = groups[leader]
    cells = _CHUNK_CELLS if isinstance(sums, list) else _LARGE_CHUNK_CELLS
    chunk = max(1, cells // len(present))
    changes = np.empty(len(scores), dtype=np.int64)
    for start in range(0, len(scores), chunk):
        rows = np.arange(start, min(start + chunk, len(scores)))
        # the strongest rival of every group: its leader, or for the leader itself whoever comes next
        rivals = np.where(rows[:, None] == leader[None, :], first[1][None, :], first[0][None, :])
        lead = np.where(rivals == _NOBODY, 0, rivals - scores[rows, None])
        steps = _steps_to_close(np.abs(lead), sums, groups[rows], present, bound)
        signed = np.where(lead > 0, steps, -np.maximum(steps - 1, 0))
        changes[rows] = np.where(rivals == _NOBODY, _NOBODY, signed).max(axis=1)
    return GridScores(-changes, 1)


def _leaders(
    scores: NDArray[np.int64], groups: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The two best scores of every group (``_NOBODY`` if there is no second), and the position of the best."""
    order = np.lexsort((-scores, groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    best = np.full((2, len(starts)), _NOBODY)
    best[0] = scores[order[starts]]
    pairs = sizes > 1
    best[1, pairs] = scores[order[starts[pairs] + 1]]
    return best, order[starts]


@dataclass(frozen=True, slots=True)
class _SummedAnew:
    """The partial sums of a profile that is too large to keep, block by block, as often as asked."""

    question: SelectionQuestion
    step: float

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        reached = np.zeros(self.question.profile.rows, dtype=np.int64)
        for start, block in self.question.profile.blocks():
            sums = reached[:, None] + np.cumsum(sensitivity_on_grid(block, self.step), axis=1)
            yield start, sums
            reached = sums[:, -1]


def _partial_sums(question: SelectionQuestion, step: float) -> _Blocks:
    """(t, b(t+1), b(t+2), …) for every row, in blocks: as a list where it is short enough."""
    anew = _SummedAnew(question, step)
    kept, cells = [], 0
    for start, sums in anew:
        cells += sums.size
        if cells > _KEPT_CELLS:
            return anew
        kept.append((start, sums))
    return kept


def _steps_to_close(
    lead: NDArray[np.int64], blocks: _Blocks, rows: NDArray[np.intp], rivals: NDArray[np.intp], bound: int
) -> NDArray[np.int64]:
    """min{t : b_r(t) + b_s(t) ≥ lead} for every candidate (axis 0) against every rival group (axis 1)."""
    steps = np.zeros(lead.size, dtype=np.int64)
    goal = lead.ravel()
    mine, theirs = np.repeat(rows, len(rivals)), np.tile(rivals, len(rows))
    pending = np.flatnonzero(goal)
    passed, reached = 0, np.zeros(lead.size, dtype=np.int64)
    for start, sums in blocks:
        if not len(pending):
            break
        reached[pending] = sums[mine[pending], -1] + sums[theirs[pending], -1]
        inside = reached[pending] >= goal[pending]
        here = pending[inside]
        steps[here] = start + 1 + _first_enough(sums, mine[here], theirs[here], goal[here])
        pending, passed = pending[~inside], start + sums.shape[1]
    steps[pending] = passed - (reached[pending] - goal[pending]) // (2 * bound)
    return steps.reshape(lead.shape)


def _first_enough(
    sums: NDArray[np.int64], mine: NDArray[np.intp], theirs: NDArray[np.intp], goal: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The first column where two rows together reach the goal, which the last one does."""
    low = np.zeros(len(goal), dtype=np.int64)
    high = np.full(len(goal), sums.shape[1] - 1, dtype=np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        enough = sums[mine, middle] + sums[theirs, middle] >= goal
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return low


MECHANISM = ScoreMechanism(
    MechanismTraits(
        "inverse_sensitivity",
        "inverse sensitivity",
        reads="kept",
        counts_changes=True,
        options={"sampler": SAMPLER_NAMES},
        variants=({"sampler": "permute_and_flip"},),
    ),
    inverse_scores,
    SAMPLERS,
)
