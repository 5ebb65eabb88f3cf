"""Pairs of nodes with many common neighbours or many others, skipping those that a pair found before dominates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.kernels.rows import Offsets, Positions
from sordino.mechanisms.compiled import compiled

Counts = NDArray[np.int64]


@compiled
def find_slot(row: Positions, first: int, last: int, rank: int) -> int:
    """Where in row[first:last], which increases, the ranks from ``rank`` on begin."""
    while first < last:
        middle = (first + last) // 2
        if row[middle] < rank:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def _set_limits(widest: Counts, limits: Counts) -> int:
    """Let limits[d] be the least of W(a) + 2a over a ≤ d, with W(a) the largest b of a pair known to share at least a.

    Returns the place after the largest known a (there W is −1), from which on limits are the same.
    """
    top = len(widest) - 1
    while top > 0 and widest[top - 1] < 0:
        top -= 1
    wide = -1
    for a in range(top, -1, -1):
        wide = max(wide, widest[a])
        limits[a] = wide + 2 * a
    for a in range(1, top + 1):
        limits[a] = min(limits[a], limits[a - 1])
    return top


@compiled
def walk_wide_pairs(
    first: int,
    last: int,
    lowest: int,
    offsets: Offsets,
    neighbours: Positions,
    count: Positions,
    touched: Positions,
    seen: Positions,
    widest: Counts,
    limits: Counts,
) -> None:
    """Every pair (v, x) with lowest ≤ x < v that no known pair dominates, for v in first … last − 1.

    ``widest[a]`` becomes the largest number b of nodes adjacent to exactly one of two nodes with a common neighbours
    (−1: no such pair); only what is on the frontier, or happened to be found, is there. Its last place stays −1.
    ``count`` holds zeros, ``seen`` −1 or other ranks, ``limits`` has the length of ``widest``.

    A pair of degrees d ≤ e that shares a has b ≤ d + e − 2a and a ≤ d; where d + e ≤ W(a) + 2a for all of these a,
    a known pair has as many of both. Degrees grow with the rank and limits fall, so what is left for v is all ranks
    from some place on; and it is no more for a lower v.
    """
    top = _set_limits(widest, limits)
    for v in range(last - 1, first - 1, -1):
        degree = offsets[v + 1] - offsets[v]
        least, beyond = lowest, v
        while least < beyond:
            x = (least + beyond) // 2
            other = offsets[x + 1] - offsets[x]
            if degree + other > limits[min(other, top)]:
                beyond = x
            else:
                least = x + 1
        if least >= v:
            return
        new = 0
        for arc in range(offsets[v], offsets[v + 1]):
            w = neighbours[arc]
            seen[w] = v
            for further in range(find_slot(neighbours, offsets[w], offsets[w + 1], least), offsets[w + 1]):
                x = neighbours[further]
                if x >= v:
                    break
                if count[x] == 0:
                    touched[new] = x
                    new += 1
                count[x] += 1
        changed = False
        # The best pair without common neighbours: ranks below v in order of decreasing degree.
        x = v - 1
        while x >= least:
            ends = degree + offsets[x + 1] - offsets[x]
            if ends <= widest[0]:
                break
            if count[x] == 0:
                b = ends - 2 if seen[x] == v else ends
                if b > widest[0]:
                    widest[0] = b
                    changed = True
            x -= 1
        for t in range(new):
            x = touched[t]
            a = count[x]
            count[x] = 0
            b = degree + offsets[x + 1] - offsets[x] - 2 * a
            if seen[x] == v:
                b -= 2
            if b > widest[a]:
                widest[a] = b
                changed = True
        if changed:
            top = _set_limits(widest, limits)
