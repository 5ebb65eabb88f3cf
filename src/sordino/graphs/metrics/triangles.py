"""Triangles at a node, and the edges of its ego net."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.codegree import max_codegree, triangles_per_node
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile


def _growing_profile(start: NDArray[np.int64], bound: int) -> Profile:
    """start + t, capped: what a codegree bounds grows by at most 1 with every flipped edge."""
    least, group_of = np.unique(start, return_inverse=True)

    def values(steps: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.minimum(least[:, None] + steps, bound), dtype=np.float64)

    return Profile.from_function(values, bound=float(bound), group_of=group_of, distance=flip_edge())


class Triangles:
    """The number of triangles that a node is in: the numerator of its clustering coefficient.

    Flipping {v, b} moves it by the common neighbours of v and b, at most m(v), the largest codegree of v; any other
    edge by at most 1. The codegree of two nodes moves by at most 1 per edge. So δ(t) = max(m, 1) + t, and at most
    max_degree − 1 among graphs of that degree. Monotone: a new edge only adds triangles.
    """

    name = "triangles"
    monotone = True

    @staticmethod
    def scores(graph: Graph) -> NDArray[np.float64]:
        """The triangles at every node."""
        return triangles_per_node(graph).astype(np.float64)

    @staticmethod
    def profile(graph: Graph, max_degree: int) -> Profile:
        """max(m, 1) + t, capped at max_degree − 1 (at least 1)."""
        return _growing_profile(np.maximum(max_codegree(graph), 1), max(1, max_degree - 1))


class EgoEdges:
    """The number of edges in a node's ego net: its degree plus its triangles.

    Flipping {v, b} moves it by 1 plus the common neighbours; any other edge by at most 1. Monotone.
    """

    name = "ego_edges"
    monotone = True

    @staticmethod
    def scores(graph: Graph) -> NDArray[np.float64]:
        """Degree plus triangles of every node."""
        return (triangles_per_node(graph) + graph.degrees).astype(np.float64)

    @staticmethod
    def profile(graph: Graph, max_degree: int) -> Profile:
        """m + t + 1, capped at max_degree (at least 1)."""
        return _growing_profile(max_codegree(graph) + 1, max(1, max_degree))
