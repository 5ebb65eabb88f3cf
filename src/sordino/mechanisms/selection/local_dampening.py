"""Local dampening: how many steps of the profile a score is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator

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

# Dampened scores are counted in 2^-20 of a step of the profile.
_UNIT = 1 << 20
# How many steps below the best a dampened score is told apart from what is lower still: 2^62 units.
_FARTHEST = 1 << 42
# More steps than this, in either direction, and the best score is taken off first.
_NEAR = 1 << 41
# A profile has at most 2^40 grid steps (`sensitivity_on_grid`), so that so many of them stay below 2^62.
_COLUMNS = 1 << 22
_BEYOND = 1 << 61


def dampened_scores(question: SelectionQuestion) -> GridScores:
    """D(u): the place of u among the partial sums b(i) = δ(0) + … + δ(i−1), interpolated; odd, and 0 at u = 0.

    **Guarantee**: D has sensitivity 1, whatever the data, so every mechanism for scores of sensitivity 1 may follow.
    **Requires**: an admissible profile; its bound may be ∞ (then ``step`` is needed).
    **Source**: LD Def. 8 and Lemma 2; D = 0 at u = 0 where leading zeros of δ leave the print's index open.
    **Numerics**: exact integers throughout; D is rounded down to 2⁻²⁰, which costs nothing (see `GridScores`). What is
    returned is max(D_r, max_s D_s − 2⁴²), of sensitivity 1 as a maximum of such; where D itself could leave 64 bits,
    the largest is subtracted from all of them, which changes no law.
    """
    step = grid_step(question.profile, question.step)
    scores = scores_on_grid(question.scores, step)
    whole, part, size = _located(np.abs(scores), question, step)
    up = part * _UNIT // size
    down = (-part * _UNIT) // size
    if int(whole.max()) < _NEAR:
        return GridScores(np.where(scores >= 0, whole * _UNIT + up, down - whole * _UNIT), _UNIT)
    return GridScores(
        _below_best(np.where(scores >= 0, whole, -whole), np.where(scores >= 0, up, down)), _UNIT
    )


def _below_best(whole: NDArray[np.int64], units: NDArray[np.int64]) -> NDArray[np.int64]:
    """D less the largest D, in units and not below −2⁶², for D of ``whole`` steps plus ``units``."""
    carried = units // _UNIT
    whole, units = whole + carried, units - carried * _UNIT
    top = whole.max()
    behind = np.minimum(top - whole, _FARTHEST + 1) * _UNIT - units + units[whole == top].max()
    below: NDArray[np.int64] = -np.minimum(behind, _FARTHEST * _UNIT)
    return below


def _located(
    magnitudes: NDArray[np.int64], question: SelectionQuestion, step: float
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
    for start, block in _narrow(profile.blocks()):
        if not len(pending):
            break
        deltas = sensitivity_on_grid(block, step)
        sums = np.minimum(reached, _BEYOND)[:, None] + np.cumsum(deltas, axis=1)
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


def _narrow(
    blocks: Iterator[tuple[int, NDArray[np.float64]]],
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Blocks of at most 2²² steps, whose sums fit 64 bits."""
    for start, block in blocks:
        for first in range(0, block.shape[1], _COLUMNS):
            yield start + first, block[:, first : first + _COLUMNS]


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


MECHANISM = ScoreMechanism(
    MechanismTraits(
        "local_dampening",
        "local dampening",
        reads="steps",
        unbounded=True,
        options={"sampler": SAMPLER_NAMES},
        variants=tuple({"sampler": name} for name in SAMPLER_NAMES),
    ),
    dampened_scores,
    SAMPLERS,
)
