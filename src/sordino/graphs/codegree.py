"""Triangles and common neighbours: what sensitivities under edge privacy are made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.graph import Graph
from sordino.graphs.kernels.codegrees import find_max_codegrees, walk_hub
from sordino.graphs.kernels.rows import RankedRows, rank_by_degree
from sordino.graphs.kernels.threads import Run, run_in_threads
from sordino.graphs.kernels.triangles import add_triangles
from sordino.graphs.kernels.wide_pairs import walk_wide_pairs

# How many nodes of largest degree are compared first: with one another, and with all nodes.
_HUBS = 256
_WALKED_HUBS = 16


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
        marks, triangles = np.zeros(nodes, np.uint8), np.zeros(nodes, np.int64)
        parts.append(triangles)

        def run(first: int, last: int) -> None:
            add_triangles(first, last, ranked.offsets, ranked.higher, ranked.neighbours, marks, triangles)

        return run

    run_in_threads((ranked.offsets[1:] - ranked.higher).astype(np.float64) ** 2, prepare)
    total: NDArray[np.int64] = np.sum(parts, axis=0)
    return total


def max_codegree(graph: Any, *, progress: bool | None = None) -> NDArray[np.int64]:
    """For every node the largest number of common neighbours with any other node, adjacent or not.

    A plain function of the owner's graph. Exact, in all processors. Of the neighbours of a node with d of them, one
    that is known to share L with some node, only the lightest d − L are walked, so that hubs mostly are not.

    >>> from sordino.graphs import max_codegree
    >>> max_codegree([(0, 1), (0, 2), (3, 1), (3, 2)])  # a square: opposite corners share two neighbours
    array([2, 2, 2, 2])
    """
    graph = Graph.of(graph)
    ranked = rank_by_degree(graph.offsets, graph.neighbours)
    most = np.empty(graph.nodes, np.int64)
    most[ranked.order] = _find_codegrees(ranked, progress)
    return most


def _find_codegrees(ranked: RankedRows, progress: bool | None) -> NDArray[np.int64]:
    nodes = len(ranked.order)
    offsets, neighbours, degrees = ranked.offsets, ranked.neighbours, ranked.degrees
    reaching = np.searchsorted(degrees, np.arange(int(degrees.max()) + 2)).astype(np.int32)
    most = np.zeros(nodes, np.int64)
    start = np.zeros(nodes, np.int32)
    count = np.zeros(nodes, np.int32)
    for v in range(max(0, nodes - _WALKED_HUBS), nodes):
        walk_hub(v, offsets, neighbours, count, start)

    def prepare() -> Run:
        count, touched = np.zeros(nodes, np.int32), np.empty(nodes, np.int32)
        seen, known = np.full(nodes, -1, np.int32), start.copy()

        def run(first: int, last: int) -> None:
            find_max_codegrees(first, last, offsets, neighbours, reaching, count, touched, seen, known, most)

        return run

    work = ranked.sum_over_neighbours(degrees.astype(np.float64))
    run_in_threads(work, prepare, title="common neighbours", progress=progress)
    return most


def find_codegree_frontier(graph: Graph, *, progress: bool | None = None) -> NDArray[np.int64]:
    """The Pareto-maximal pairs (a, b) over all pairs of nodes, a increasing and b decreasing.

    a is the number of common neighbours of the two nodes, and b the number of nodes adjacent to exactly one of them,
    the two themselves not counted. What grows with a and b, such as the local sensitivity of the
    triangle count at distance t, max min(a + ⌊(t + min(t, b))/2⌋, n − 2), has its maximum on these few rows.
    One node has no pairs and no rows. Exact; pairs whose degrees leave them no place on the frontier are not visited,
    so that of a graph with hubs only pairs of hubs are.

    **Source.** Nissim, Raskhodnikova and Smith, STOC 2007 (full version, the cost of the number of triangles).
    """
    ranked = rank_by_degree(graph.offsets, graph.neighbours)
    rows = []
    best = -1
    widest = _find_widest(ranked, progress)
    for a in np.flatnonzero(widest >= 0)[::-1].tolist():
        if widest[a] > best:
            best = int(widest[a])
            rows.append((a, best))
    return np.array(rows[::-1], dtype=np.int64).reshape(-1, 2)


def _find_widest(ranked: RankedRows, progress: bool | None) -> NDArray[np.int64]:
    """At the places a of the frontier its b; elsewhere −1 or what is dominated."""
    nodes = len(ranked.order)
    degrees = ranked.degrees
    shared = np.full(int(degrees.max()) + 2, -1, np.int64)
    lock = threading.Lock()

    def prepare_above(lowest: int) -> Callable[[], Run]:
        def prepare() -> Run:
            count, touched = np.zeros(nodes, np.int32), np.empty(nodes, np.int32)
            seen, widest, limits = np.full(nodes, -1, np.int32), np.empty_like(shared), np.empty_like(shared)

            def run(first: int, last: int) -> None:
                with lock:
                    widest[:] = shared
                walk_wide_pairs(
                    max(first, lowest),
                    last,
                    lowest,
                    ranked.offsets,
                    ranked.neighbours,
                    count,
                    touched,
                    seen,
                    widest,
                    limits,
                )
                with lock:
                    np.maximum(shared, widest, out=shared)

            return run

        return prepare

    prepare_above(max(0, nodes - _HUBS))()(0, nodes)  # pairs of hubs leave little to do for the others
    work = ranked.sum_over_neighbours(degrees.astype(np.float64))
    run_in_threads(work, prepare_above(0), title="common neighbours", progress=progress)
    return shared
