"""Triangles, and common neighbours of all pairs of nodes by walking wedges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.kernels.rows import Offsets, Positions
from sordino.mechanisms.compiled import compiled

Counts = NDArray[np.int64]


@compiled
def add_triangles(
    first: int,
    last: int,
    offsets: Offsets,
    higher: Offsets,
    neighbours: Positions,
    seen: Positions,
    triangles: Counts,
) -> None:
    """Add to ``triangles`` those whose lowest rank is first … last − 1; ``seen`` holds −1 or other ranks."""
    for u in range(first, last):
        for arc in range(higher[u], offsets[u + 1]):
            seen[neighbours[arc]] = u
        for arc in range(higher[u], offsets[u + 1]):
            v = neighbours[arc]
            found = 0
            for further in range(higher[v], offsets[v + 1]):
                w = neighbours[further]
                if seen[w] == u:
                    triangles[w] += 1
                    found += 1
            triangles[u] += found
            triangles[v] += found


@compiled
def walk_pairs(
    first: int,
    last: int,
    offsets: Offsets,
    neighbours: Positions,
    count: Positions,
    touched: Positions,
    seen: Positions,
    most: Counts,
    widest: Counts,
) -> None:
    """Every pair (v, x) with x of lower rank than v, for v in first … last − 1.

    ``most[v]`` becomes the largest number a of common neighbours of v with another node, and ``widest[a]`` the
    largest number b of nodes adjacent to exactly one of two nodes with a common neighbours (−1: no such pair).
    ``count`` holds zeros, ``seen`` −1 or other ranks.
    """
    for v in range(first, last):
        new = 0
        for arc in range(offsets[v], offsets[v + 1]):
            w = neighbours[arc]
            seen[w] = v
            for further in range(offsets[w], offsets[w + 1]):
                x = neighbours[further]
                if x >= v:
                    break
                if count[x] == 0:
                    touched[new] = x
                    new += 1
                count[x] += 1
        degree = offsets[v + 1] - offsets[v]
        # The best pair without common neighbours: ranks below v in order of decreasing degree.
        x = v - 1
        while x >= 0:
            ends = degree + offsets[x + 1] - offsets[x]
            if ends <= widest[0]:
                break
            if count[x] == 0:
                widest[0] = max(widest[0], ends - 2 if seen[x] == v else ends)
            x -= 1
        for t in range(new):
            x = touched[t]
            a = count[x]
            count[x] = 0
            most[v] = max(most[v], a)
            most[x] = max(most[x], a)
            b = degree + offsets[x + 1] - offsets[x] - 2 * a
            if seen[x] == v:
                b -= 2
            widest[a] = max(widest[a], b)
