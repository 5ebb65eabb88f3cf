"""The number of triangles on every edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.graph import Graph
from sordino.graphs.kernels.threads import Run, run_in_threads
from sordino.mechanisms.compiled import compiled


def count_triangles_per_edge(graph: Graph) -> NDArray[np.int64]:
    """For every edge (u, v) of ``edge_list()`` the number of common neighbours of u and v; confidential.

    Time: Σ over edges of the smaller degree of its two ends, in all processors.
    """
    edges = np.empty(graph.edges, np.int64)
    _fold(graph.offsets, graph.neighbours, count_triangles_per_arc(graph), edges)
    return edges


def count_triangles_per_arc(graph: Graph, *, least_degree: int = 0) -> NDArray[np.int32]:
    """The triangles on every edge, at its arc from the end of larger degree; 0 at the other arc.

    Edges of nodes below ``least_degree`` are left at 0.
    """
    counts = np.zeros(len(graph.neighbours), np.int32)

    def prepare() -> Run:
        marks = np.zeros(graph.nodes // 64 + 1, np.uint64)

        def run(first: int, last: int) -> None:
            _count(first, last, least_degree, graph.offsets, graph.neighbours, marks, counts)

        return run

    run_in_threads(_estimate(least_degree, graph.offsets, graph.neighbours), prepare)
    return counts


@compiled
def _estimate(
    least_degree: int, offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
) -> NDArray[np.float64]:
    work = np.zeros(len(offsets) - 1)
    for u in range(len(offsets) - 1):
        degree = offsets[u + 1] - offsets[u]
        if degree < least_degree:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            v = neighbours[arc]
            other = offsets[v + 1] - offsets[v]
            if least_degree <= other <= degree:
                work[u] += other
    return work


@compiled
def _count(
    first: int,
    last: int,
    least_degree: int,
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    marks: NDArray[np.uint64],
    counts: NDArray[np.int32],
) -> None:
    """Fill in, at the arcs from the nodes first … last − 1, the number of triangles; ``marks`` holds zeros.

    One bit per node is a mark, so that the marks of a million nodes stay in the cache.
    """
    for u in range(first, last):
        degree = offsets[u + 1] - offsets[u]
        if degree < least_degree or degree < 2:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            marks[neighbours[arc] >> 6] |= np.uint64(1) << np.uint64(neighbours[arc] & 63)
        for arc in range(offsets[u], offsets[u + 1]):
            v = neighbours[arc]
            other = offsets[v + 1] - offsets[v]
            if other < least_degree or other > degree or (other == degree and v > u):
                continue
            found = np.uint64(0)
            for further in range(offsets[v], offsets[v + 1]):
                w = neighbours[further]
                found += (marks[w >> 6] >> np.uint64(w & 63)) & np.uint64(1)
            counts[arc] = found
        for arc in range(offsets[u], offsets[u + 1]):
            marks[neighbours[arc] >> 6] = 0


@compiled
def _fold(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    arcs: NDArray[np.int32],
    edges: NDArray[np.int64],
) -> None:
    """For every edge the sum over its two arcs."""
    cursor = offsets[:-1].copy()
    edge = 0
    for u in range(len(offsets) - 1):
        for arc in range(offsets[u], offsets[u + 1]):
            v = neighbours[arc]
            # Origins come in increasing order, so each is the next entry of its target's row.
            if u < v:
                edges[edge] = arcs[arc] + arcs[cursor[v]]
                edge += 1
            cursor[v] += 1
