"""Triangles and common neighbours: what sensitivities under edge privacy are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.graph import Graph
from sordino.graphs.kernels.rows import RankedRows, rank_by_degree
from sordino.graphs.kernels.threads import Run, run_in_threads
from sordino.graphs.kernels.wedges import add_triangles, walk_pairs


def triangles_per_node(graph: Any) -> NDArray[np.int64]:
    """The number of triangles at every node, in time O(edges^{3/2}); a third of their sum is the triangle count.

    A plain function of the owner's graph: nothing is private about the result.

    >>> from sordino.graphs import triangles_per_node
    >>> triangles_per_node([(0, 1), (1, 2), (0, 2), (2, 3)])
    array([1, 1, 1, 0])
    """
    graph = Graph.of(graph)
    ranked = rank_by_degree(graph.offsets, graph.neighbours)
    triangles = np.empty(graph.nodes, np.int64)
    triangles[ranked.order] = count_triangles_by_rank(ranked)
    return triangles


def count_triangles_by_rank(ranked: RankedRows) -> NDArray[np.int64]:
    """The number of triangles at every node of a graph that is already ranked."""
    parts: list[NDArray[np.int64]] = []
    nodes = len(ranked.order)

    def prepare() -> Run:
        seen, triangles = np.full(nodes, -1, np.int32), np.zeros(nodes, np.int64)
        parts.append(triangles)

        def run(first: int, last: int) -> None:
            add_triangles(first, last, ranked.offsets, ranked.higher, ranked.neighbours, seen, triangles)

        return run

    run_in_threads((ranked.offsets[1:] - ranked.higher).astype(np.float64) ** 2, prepare)
    total: NDArray[np.int64] = np.sum(parts, axis=0)
    return total


def max_codegree(graph: Any, *, progress: bool | None = None) -> NDArray[np.int64]:
    """For every node the largest number of common neighbours with any other node, adjacent or not.

    A plain function of the owner's graph. Exact, by walking all wedges: time Σ over nodes of C(degree, 2), in all
    processors.

    >>> from sordino.graphs import max_codegree
    >>> max_codegree([(0, 1), (0, 2), (3, 1), (3, 2)])  # a square: opposite corners share two neighbours
    array([2, 2, 2, 2])
    """
    graph = Graph.of(graph)
    ranked = rank_by_degree(graph.offsets, graph.neighbours)
    most = np.empty(graph.nodes, np.int64)
    most[ranked.order] = _walk(ranked, progress)[0]
    return most


def find_codegree_frontier(graph: Graph, *, progress: bool | None = None) -> NDArray[np.int64]:
    """The Pareto-maximal pairs (a, b) over all pairs of nodes, a increasing and b decreasing.

    a is the number of common neighbours of the two nodes, and b the number of nodes adjacent to exactly one of them,
    the two themselves not counted. What grows with a and b, such as the local sensitivity of the
    triangle count at distance t, max min(a + ⌊(t + min(t, b))/2⌋, n − 2), has its maximum on these few rows.
    One node has no pairs and no rows. Exact, in the time of `max_codegree`.

    **Source.** Nissim, Raskhodnikova and Smith, STOC 2007 (full version, the cost of the number of triangles).
    """
    _, widest = _walk(rank_by_degree(graph.offsets, graph.neighbours), progress)
    rows = []
    best = -1
    for a in range(len(widest) - 1, -1, -1):
        if widest[a] > best:
            best = int(widest[a])
            rows.append((a, best))
    return np.array(rows[::-1], dtype=np.int64).reshape(-1, 2)


def _walk(ranked: RankedRows, progress: bool | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    nodes = len(ranked.order)
    degrees = ranked.degrees
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def prepare() -> Run:
        count, touched = np.zeros(nodes, np.int32), np.empty(nodes, np.int32)
        seen = np.full(nodes, -1, np.int32)
        most, widest = np.zeros(nodes, np.int64), np.full(int(degrees.max()) + 1, -1, np.int64)
        parts.append((most, widest))

        def run(first: int, last: int) -> None:
            walk_pairs(first, last, ranked.offsets, ranked.neighbours, count, touched, seen, most, widest)

        return run

    work = ranked.sum_over_neighbours(degrees.astype(np.float64))
    run_in_threads(work, prepare, title="common neighbours", progress=progress)
    most, widest = (np.max([part[place] for part in parts], axis=0) for place in (0, 1))
    return most, widest
