"""Projection to a public degree bound, with a known price."""

from __future__ import annotations

from typing import Any

import numpy as np

from sordino.graphs.graph import Graph

# One edge of the graph moves at most this many edges of its projection.
PRICE = 3


def project(graph: Any, max_degree: int) -> Graph:
    """Keep an edge if it is among the first ``max_degree`` edges of both its ends, in the order of node numbers.

    **Guarantee**: neighbouring graphs have projections at most 3 edges apart, on a path of graphs of that degree.
    Adding {u, v} puts it before some edges of u and of v and so pushes at most one edge of each beyond the bound; every
    other edge keeps its places. Whether an edge stays depends on its places in the *given* graph, so nothing follows
    from what was dropped. Drops first, additions last: no graph on the way exceeds the bound.
    **Requires**: node numbers that do not depend on the edges.

    >>> from sordino.graphs import project
    >>> project([(0, 1), (0, 2), (0, 3)], 2).edge_list().tolist()
    [[0, 1], [0, 2]]
    """
    graph = Graph.of(graph)
    places = np.arange(len(graph.neighbours)) - np.repeat(graph.offsets[:-1], graph.degrees)
    within = places < max_degree
    reverse = np.argsort(
        graph.neighbours, kind="stable"
    )  # entry (v, u) for every entry (u, v) of sorted rows
    kept = within & within[reverse]
    source = np.repeat(np.arange(graph.nodes), graph.degrees)[kept]
    target = graph.neighbours[kept]
    once = source < target
    return Graph.from_edges(
        np.stack([source[once], target[once]], axis=1), nodes=graph.nodes, labels=graph.labels
    )
