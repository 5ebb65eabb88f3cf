"""The element sensitivity of impurity criteria, at every distance, from one pass over the cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError, add_remove_row
from sordino.learn.criteria.criterion import Table
from sordino.mechanisms.compiled import compiled
from sordino.sensitivity import Profile

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Curve:
    """What one row can do to a value with x rows of other classes and none of its own: f(x), increasing from f(0) = 0.

    ``grid``: the public grid of the scores; ``jumps``: f(0), …, f(N − 1) for at most N rows; ``ceilings``: partial sums
    of ⌈f/h⌉; ``bound``: the global sensitivity in steps of the grid; ``gini``: which of its two formulas it goes with.
    """

    grid: float
    jumps: Floats
    ceilings: Wholes
    bound: int
    gini: bool


def make_curve(jumps: Floats, grid: float, *, gini: bool) -> Curve:
    """The tables of a curve given at 0, 1, …"""
    steps = np.ceil(jumps / grid).astype(np.int64)
    return Curve(grid, jumps, np.concatenate([[0], np.cumsum(steps)]), int(steps[-1]), gini)


def make_element_profile(tables: Sequence[Table], curve: Curve) -> Profile:
    """⌈LS/h⌉ + 1 + t steps of the grid for every attribute, at most the bound.

    **Guarantee**: with a = τ_j rows of a value and b = τ_jc of them in a cell, LS is the maximum over all public cells
    of `_raise_head`, which for one value falls with b, so that its rarest class is enough. t rows go to other classes
    but for i rows that are taken from the cell, i = min(b−1, t) if a+t ≥ 2b and none otherwise. From
    t = max(b−1, 2b−a) on that is f(t + m) with m = a−2b+1 (m = a where b = 0), so past the *head* of a profile only
    the largest m counts, and sums over its tail are differences of partial sums.
    **Numerics**: one step pays for scores that are rounded to the grid; t steps keep δ(x, t+1) ≥ δ(y, t) where rounding
    would turn it around.
    """
    cells = np.concatenate([table.min(axis=1) for table in tables])
    totals = np.concatenate([table.sum(axis=1) for table in tables])
    starts = np.cumsum([0, *(len(table) for table in tables)])
    settled = np.where(cells > 0, np.maximum(cells - 1, 2 * cells - totals), 0)
    lengths = np.maximum.reduceat(settled, starts[:-1])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    heads = np.empty(int(offsets[-1]), dtype=np.int64)
    shifts = np.empty(len(tables), dtype=np.int64)
    _fill_heads(
        cells,
        totals,
        settled,
        starts,
        offsets,
        curve.jumps,
        1 / curve.grid,
        curve.bound,
        curve.gini,
        heads,
        shifts,
    )

    def values(start: int, stop: int) -> Floats:
        steps = np.empty((len(tables), stop - start), dtype=np.int64)
        for attribute in range(len(tables)):
            head = heads[offsets[attribute] + start : min(offsets[attribute] + stop, offsets[attribute + 1])]
            steps[attribute, : len(head)] = head
            t = np.arange(start + len(head), stop)
            place = np.minimum(t + shifts[attribute], len(curve.jumps) - 1)
            tail = curve.ceilings[place + 1] - curve.ceilings[place] + 1 + t
            steps[attribute, len(head) :] = np.minimum(curve.bound, tail)
        return np.asarray(steps * curve.grid, dtype=np.float64)

    def gap(step: float) -> Wholes:
        if step > curve.grid:
            raise UnsupportedError(f"the grid of these scores is {curve.grid:g}: leave step= out")
        gaps = np.empty(len(tables), dtype=np.int64)
        _sum_gaps(heads, offsets, shifts, curve.ceilings, curve.bound, gaps)
        return gaps * int(curve.grid / step)

    return Profile(
        rows=len(tables),
        bound=curve.bound * curve.grid,
        length=None,  # read in growing blocks: dampening rarely goes far
        values=values,
        group_of=np.arange(len(tables)),
        distance=add_remove_row(),
        closed_gap=gap,
    )


@compiled
def _jump(jumps: Floats, x: int) -> float:
    """f(x) of information gain, also past the table: to cap it there would break admissibility."""
    if x < len(jumps):
        return float(jumps[x])
    return math.log2(x + 1.0) + x * math.log1p(1.0 / x) / math.log(2.0)


@compiled
def _raise_head(largest: Floats, jumps: Floats, gini: bool, a: int, b: int) -> None:
    """Put what one row can do to a cell (b > 0), t = 0, 1, … rows away and before it has settled, where it is larger.

    While a + t < 2b no row is taken from the cell (i = 0), afterwards all are (i = t).
    """
    turn = min(len(largest), max(0, 2 * b - a))
    for t in range(turn):
        if gini:
            value = 2.0 * (a - b + t) * (a - b + t) / ((a + t) * max(1.0, a + t - 1.0))
        else:
            value = _jump(jumps, a + t - 1) - jumps[b - 1]
        largest[t] = max(largest[t], value)
    for t in range(turn, len(largest)):
        if gini:
            value = 2.0 * (a - b) * (a - b) / ((a - t) * max(1.0, a - t - 1.0))
        else:
            value = jumps[a - t - 1] - jumps[b - t - 1]
        largest[t] = max(largest[t], value)


@compiled
def _fill_heads(
    cells: Wholes,
    totals: Wholes,
    settled: Wholes,
    starts: Wholes,
    offsets: Wholes,
    jumps: Floats,
    per_unit: float,
    bound: int,
    gini: bool,
    heads: Wholes,
    shifts: Wholes,
) -> None:
    """The head of every attribute's profile, and the largest m of its tail."""
    for attribute in range(len(shifts)):
        length = offsets[attribute + 1] - offsets[attribute]
        largest = np.zeros(length)
        arriving = np.full(length + 1, -1 << 62)
        for cell in range(starts[attribute], starts[attribute + 1]):
            a, b, end = totals[cell], cells[cell], settled[cell]
            _raise_head(largest[:end], jumps, gini, a, b)
            arriving[end] = max(arriving[end], a if b == 0 else a - 2 * b + 1)
        shift = -1 << 62
        for t in range(length):
            shift = max(shift, arriving[t])
            if shift + t > 0:
                largest[t] = max(largest[t], jumps[min(shift + t, len(jumps) - 1)])
            heads[offsets[attribute] + t] = min(bound, math.ceil(largest[t] * per_unit) + 1 + t)
        shifts[attribute] = max(shift, arriving[length])


@compiled
def _sum_gaps(
    heads: Wholes, offsets: Wholes, shifts: Wholes, ceilings: Wholes, bound: int, gaps: Wholes
) -> None:
    """Σ over t of bound − profile: the head term by term, the tail by partial sums."""
    for attribute in range(len(gaps)):
        total = 0
        for place in range(offsets[attribute], offsets[attribute + 1]):
            total += bound - heads[place]
        first, shift = offsets[attribute + 1] - offsets[attribute], shifts[attribute]
        low, high = first, max(first, len(ceilings) - 1 - shift)
        while low < high:  # the first t at which the tail reaches the bound
            middle = (low + high) // 2
            if ceilings[middle + shift + 1] - ceilings[middle + shift] + 1 + middle >= bound:
                high = middle
            else:
                low = middle + 1
        count = low - first
        if count > 0:
            total += count * (bound - 1) - (ceilings[low + shift] - ceilings[first + shift])
            total -= (first + low - 1) * count // 2
        gaps[attribute] = total
