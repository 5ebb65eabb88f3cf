"""Ego betweenness centrality of all nodes, exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.codegree import count_triangles_by_rank
from sordino.graphs.graph import Graph
from sordino.graphs.kernels.ego_nets import compute_ego_values
from sordino.graphs.kernels.rows import rank_by_degree
from sordino.graphs.kernels.threads import Run, run_in_threads


def ego_betweenness(graph: Any, *, progress: bool | None = None) -> NDArray[np.float64]:
    """The betweenness of every node within its ego net, the graph of the node and its neighbours.

    EBC(c) = Σ 1 / (1 + k) over unordered pairs of neighbours of c that are not adjacent, where k is the number of
    common neighbours of the pair among the neighbours of c (c itself is the 1).

    A plain function of the owner's graph: nothing is private about the result. It takes time in proportion to the
    wedges inside ego nets, Σ over edges (c, w), both ways, of C(common neighbours of c and w, 2), in all processors;
    pairs that no wedge joins are counted, not visited. ``progress`` shows a bar on long runs: None on terminals only.

    >>> from sordino.graphs import ego_betweenness
    >>> ego_betweenness([("ann", "bob"), ("ann", "cy"), ("ann", "dan")])  # three pairs need ann, whose name is first
    array([3., 0., 0., 0.])

    **Numerics.** Pairs are counted as integers by k, so a value is one short sum of positive terms: its relative
    error is below 2⁻⁵² times the number of distinct k, and it does not depend on the number of threads.
    """
    graph = Graph.of(graph)
    ranked = rank_by_degree(graph.offsets, graph.neighbours)
    triangles = count_triangles_by_rank(ranked)
    degrees = ranked.degrees
    by_rank = np.zeros(graph.nodes)
    room = int(triangles.max(initial=0))
    # A lower bound on the wedges inside an ego net with that many edges, and the scan that finds the edges.
    work = 4.0 * triangles * triangles / np.maximum(degrees, 1)
    work += ranked.sum_over_neighbours((ranked.offsets[1:] - ranked.higher).astype(np.float64))

    def prepare() -> Run:
        position = np.full(graph.nodes, -1, np.int32)
        lows, highs, local = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(2 * room, np.int32)

        def run(first: int, last: int) -> None:
            compute_ego_values(
                first,
                last,
                ranked.offsets,
                ranked.higher,
                ranked.neighbours,
                position,
                lows,
                highs,
                local,
                by_rank,
            )

        return run

    run_in_threads(work, prepare, title="ego betweenness", progress=progress)
    values = np.empty(graph.nodes)
    values[ranked.order] = by_rank
    return values
