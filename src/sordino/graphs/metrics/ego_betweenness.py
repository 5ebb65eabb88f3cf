"""Ego betweenness: how much of its own neighbourhood a node brokers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.codegree import max_codegree
from sordino.graphs.ego_betweenness import ego_betweenness
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile

# Scores are floating-point sums; their error, far below this, is paid for in the sensitivity.
_ROUNDING = 2.0**-10


@dataclass(frozen=True, slots=True)
class EgoBetweenness:
    """EBC(v): over pairs of neighbours of v that are not adjacent, the share of their shortest paths that pass v.

    With m common neighbours of v and b, flipping {v, b} moves EBC(v) by at most max(m(m−1)/4, d−m); any other edge by
    at most d/2. The degree d and the largest codegree m of a node move by at most 1 per edge. So

        δ(t) = max((m + t)(m + t − 1)/4, d + t),  or with d in place of m the coarser profile of the paper.

    Among graphs of degree at most D the bound is Δ = max((D−1)(D−2)/4, D−1), which also caps δ.
    Not monotone: an edge between two neighbours of v lowers its score.

    **Source**: LD §6 for the degree-only profile; the codegree profile is ours. Both are compared with brute force over
    all graphs of up to 5 nodes in ``tests/exact/test_graph_metrics.py``.
    """

    by_codegree: bool = True
    name: str = "ego_betweenness"
    monotone: bool = False

    def scores(self, graph: Graph) -> NDArray[np.float64]:
        """EBC of every node."""
        return ego_betweenness(graph)

    def profile(self, graph: Graph, max_degree: int) -> Profile:
        """One row per distinct (codegree, degree), or per distinct degree."""
        degrees = graph.degrees.astype(np.int64)
        leading = max_codegree(graph) if self.by_codegree else degrees
        width = int(degrees.max(initial=0)) + 1
        rows, group_of = np.unique(leading * width + degrees, return_inverse=True)
        lead, degree = (rows // width)[:, None], (rows % width)[:, None]
        bound = max((max_degree - 1) * (max_degree - 2) / 4, max_degree - 1.0, 1.0) + _ROUNDING

        def values(steps: NDArray[np.int64]) -> NDArray[np.float64]:
            quadratic = (lead + steps) * (lead + steps - 1) / 4
            most = np.maximum(quadratic, degree + steps) + _ROUNDING
            return np.asarray(np.minimum(most, bound), dtype=np.float64)

        return Profile.from_function(values, bound=bound, group_of=group_of, distance=flip_edge())
