"""The number of triangles on every edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.graph import Graph
from sordino.mechanisms.compiled import compiled


def count_triangles_per_edge(graph: Graph) -> NDArray[np.int64]:
    """For every edge (u, v) of ``edge_list()`` the number of common neighbours of u and v; confidential.

    Time: Σ over edges of the smaller degree of its two ends.
    """
    counts = np.zeros(len(graph.neighbours), np.int64)
    _count(graph.offsets, graph.neighbours, np.full(graph.nodes, -1, np.int32), counts)
    origins = np.repeat(np.arange(graph.nodes), graph.degrees)
    ends = graph.neighbours.astype(np.int64)
    # each edge was counted in one of its two arcs: by ends, the two arcs of an edge are at the same place
    forward, backward = origins < ends, origins > ends
    mirrored = np.lexsort((origins[backward], ends[backward]))
    result: NDArray[np.int64] = counts[forward] + counts[backward][mirrored]
    return result


@compiled
def _count(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    seen: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """Fill in, at the arc from the end of larger degree, the number of triangles; ``seen`` holds -1."""
    for u in range(len(offsets) - 1):
        degree = offsets[u + 1] - offsets[u]
        for arc in range(offsets[u], offsets[u + 1]):
            seen[neighbours[arc]] = u
        for arc in range(offsets[u], offsets[u + 1]):
            v = neighbours[arc]
            other = offsets[v + 1] - offsets[v]
            if other < degree or (other == degree and v < u):
                for further in range(offsets[v], offsets[v + 1]):
                    if seen[neighbours[further]] == u:
                        counts[arc] += 1
