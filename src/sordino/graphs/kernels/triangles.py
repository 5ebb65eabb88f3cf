"""Triangles, each listed once from its node of lowest rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.kernels.rows import Offsets, Positions
from sordino.mechanisms.compiled import compiled


@compiled
def add_triangles(
    first: int,
    last: int,
    offsets: Offsets,
    higher: Offsets,
    neighbours: Positions,
    marks: NDArray[np.uint8],
    triangles: NDArray[np.int64],
) -> None:
    """Add to ``triangles`` those whose lowest rank is first … last − 1; ``marks`` holds zeros.

    A mark is added, not asked for: whether one is there cannot be foreseen, and a wrong guess costs more.
    """
    for u in range(first, last):
        for arc in range(higher[u], offsets[u + 1]):
            marks[neighbours[arc]] = 1
        for arc in range(higher[u], offsets[u + 1]):
            v = neighbours[arc]
            found = 0
            for further in range(higher[v], offsets[v + 1]):
                w = neighbours[further]
                mark = marks[w]
                found += mark
                triangles[w] += mark
            triangles[u] += found
            triangles[v] += found
        for arc in range(higher[u], offsets[u + 1]):
            marks[neighbours[arc]] = 0
