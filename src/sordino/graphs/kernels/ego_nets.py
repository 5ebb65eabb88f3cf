"""Wedges inside ego nets, never all pairs of a hub's neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.kernels.rows import Offsets, Positions
from sordino.mechanisms.compiled import compiled

_ADJACENT = -(2**30)


@compiled
def compute_ego_values(
    first: int,
    last: int,
    offsets: Offsets,
    higher: Offsets,
    neighbours: Positions,
    position: Positions,
    lows: Positions,
    highs: Positions,
    local: Positions,
    values: NDArray[np.float64],
) -> None:
    """Ego betweenness of the ranks first … last − 1.

    ``position`` holds −1 for every node; ``lows`` and ``highs`` have room for the triangles at any of these nodes and
    ``local`` for twice as many. Inside the ego net of c its neighbours are numbered 0 … d − 1.
    """
    most = 0
    for c in range(first, last):
        most = max(most, offsets[c + 1] - offsets[c])
    start = np.zeros(most + 2, np.int64)
    count = np.zeros(most, np.int32)
    touched = np.empty(most, np.int32)
    pairs_with = np.zeros(most + 1, np.int64)  # pairs_with[k]: non-adjacent pairs with k common neighbours
    for c in range(first, last):
        row = offsets[c]
        d = offsets[c + 1] - row
        for i in range(d):
            position[neighbours[row + i]] = i
        # Each edge of the ego net once, from its end of lower rank; start[i + 2] counts the ends at i.
        start[: d + 2] = 0
        edges = 0
        for i in range(d):
            w = neighbours[row + i]
            for arc in range(higher[w], offsets[w + 1]):
                j = position[neighbours[arc]]
                if j >= 0:
                    lows[edges] = i
                    highs[edges] = j
                    edges += 1
                    start[i + 2] += 1
                    start[j + 2] += 1
        for i in range(d):
            position[neighbours[row + i]] = -1
        for i in range(d):
            start[i + 2] += start[i + 1]
        # Filling moves start[i + 1] from the begin of row i to its end; edges come in an order that sorts the rows.
        for edge in range(edges):
            i, j = lows[edge], highs[edge]
            local[start[i + 1]] = j
            start[i + 1] += 1
            local[start[j + 1]] = i
            start[j + 1] += 1
        reached = 0
        largest = 0
        for u in range(d):
            for p in range(start[u], start[u + 1]):
                v = local[p]
                if v >= u:
                    break
                count[v] = _ADJACENT
            new = 0
            for p in range(start[u], start[u + 1]):
                w = local[p]
                for q in range(start[w], start[w + 1]):
                    v = local[q]
                    if v >= u:
                        break
                    common = count[v]
                    if common == 0:
                        touched[new] = v
                        new += 1
                    count[v] = common + 1
            for t in range(new):
                common = count[touched[t]]
                count[touched[t]] = 0
                pairs_with[common] += 1
                largest = max(largest, common)
            reached += new
            for p in range(start[u], start[u + 1]):
                v = local[p]
                if v >= u:
                    break
                count[v] = 0
        value = 0.0
        for common in range(largest, 0, -1):  # small terms first
            value += pairs_with[common] / (1.0 + common)
            pairs_with[common] = 0
        values[c] = value + (d * (d - 1) // 2 - edges - reached)
