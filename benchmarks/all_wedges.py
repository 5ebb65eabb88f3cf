"""Common neighbours of all pairs by walking every wedge: what skipping pairs and neighbours is measured against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs import Graph
from sordino.graphs.kernels.rows import Offsets, Positions, rank_by_degree
from sordino.graphs.kernels.threads import Run, run_in_threads
from sordino.mechanisms.compiled import compiled

Counts = NDArray[np.int64]


def walk_all_wedges(graph: Graph) -> tuple[Counts, Counts]:
    """For every node its largest codegree; by codegree a the largest b of such a pair (−1: none)."""
    ranked = rank_by_degree(graph.offsets, graph.neighbours)
    degrees = ranked.degrees
    parts: list[tuple[Counts, Counts]] = []

    def prepare() -> Run:
        count, touched = np.zeros(graph.nodes, np.int32), np.empty(graph.nodes, np.int32)
        seen = np.full(graph.nodes, -1, np.int32)
        most, widest = np.zeros(graph.nodes, np.int64), np.full(int(degrees.max()) + 1, -1, np.int64)
        parts.append((most, widest))

        def run(first: int, last: int) -> None:
            _walk(first, last, ranked.offsets, ranked.neighbours, count, touched, seen, most, widest)

        return run

    run_in_threads(ranked.sum_over_neighbours(degrees.astype(np.float64)), prepare)
    by_rank, widest = (np.max([part[place] for part in parts], axis=0) for place in (0, 1))
    most = np.empty(graph.nodes, np.int64)
    most[ranked.order] = by_rank
    return most, widest


def keep_frontier(widest: Counts) -> Counts:
    """The rows (a, b) that no other has as many of both as."""
    beyond = np.maximum.accumulate(np.append(widest, -1)[::-1])[::-1][1:]
    kept = np.flatnonzero(widest > beyond)
    return np.stack([kept, widest[kept]], axis=1)


@compiled
def _walk(
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
        x = v - 1
        while x >= 0 and degree + offsets[x + 1] - offsets[x] > widest[0]:
            if count[x] == 0:
                b = degree + offsets[x + 1] - offsets[x] - (2 if seen[x] == v else 0)
                widest[0] = max(widest[0], b)
            x -= 1
        for t in range(new):
            x = touched[t]
            a = count[x]
            count[x] = 0
            most[v] = max(most[v], a)
            most[x] = max(most[x], a)
            b = degree + offsets[x + 1] - offsets[x] - 2 * a - (2 if seen[x] == v else 0)
            widest[a] = max(widest[a], b)
