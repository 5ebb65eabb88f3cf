"""The local clustering coefficient: which share of a node's pairs of neighbours are adjacent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.codegree import triangles_per_node
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile

# A quotient rounded in floating point may fall on the other side of a step of the scores' grid.
_ROUNDING = 2.0**-28


class Clustering:
    """c(v) = triangles at v / pairs of neighbours of v, 0 where v has fewer than two.

    From degree d to d + 1 it moves by |m − c·d|/C(d+1, 2) ≤ 2/(d + 1), from d to d − 1 by at most 2/d, and by an edge
    between two neighbours by 2/(d(d − 1)) ≤ 2/d for d ≥ 2. After t changes the degree is at least d − t, so
    δ(t) = min(1, 2/(d − t)), and 1 once d − t ≤ 2. Not monotone. The profile falls with the degree: with shifted
    dampening, direction "minus" suits it.
    """

    name = "clustering"
    monotone = False

    @staticmethod
    def scores(graph: Graph) -> NDArray[np.float64]:
        """The clustering coefficient of every node."""
        pairs = graph.degrees.astype(np.float64) * (graph.degrees - 1) / 2
        return triangles_per_node(graph) / np.maximum(pairs, 1.0)

    @staticmethod
    def profile(graph: Graph, max_degree: int) -> Profile:
        """min(1, 2/(d − t)), and a little for the rounding of the quotients."""
        degrees, group_of = np.unique(graph.degrees.astype(np.int64), return_inverse=True)

        def values(steps: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray(2.0 / np.maximum(degrees[:, None] - steps, 2) + _ROUNDING, dtype=np.float64)

        return Profile.from_function(values, bound=1.0 + _ROUNDING, group_of=group_of, distance=flip_edge())
