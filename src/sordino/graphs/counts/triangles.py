"""The number of triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.codegree import find_codegree_frontier, triangles_per_node
from sordino.graphs.counts.subgraph_count import SubgraphCount
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile


def count_triangles(graph: Graph, k: int = 0) -> int:
    """The number of triangles, exactly; confidential."""
    return int(triangles_per_node(graph).sum()) // 3


def make_triangle_profile(graph: Graph, k: int = 0) -> Profile:
    """The local sensitivity of the number of triangles at every distance; confidential.

    **Guarantee**: exact. Flipping {i, j} moves the count by a_ij, the common neighbours of i and j. Of t flips
    elsewhere, one gives a further common neighbour where exactly one of i, j is adjacent to it (b_ij nodes), two
    give one anywhere else: a_ij + ⌊(t + min(t, b_ij))/2⌋, at most n - 2. The maximum over all pairs grows with a
    and b, so it is taken on their Pareto frontier.
    **Source**: Nissim, Raskhodnikova, Smith 2007; the ladder function of Zhang et al. 2015.
    **Numerics**: whole numbers below 2⁵³.
    """
    bound = bound_triangles(graph.nodes)
    frontier = find_codegree_frontier(graph)
    common, single = frontier[:, :1], frontier[:, 1:]

    def local_sensitivity(t: NDArray[np.int64]) -> NDArray[np.int64]:
        reached: NDArray[np.int64] = (common + (t + np.minimum(t, single)) // 2).max(axis=0)
        return np.minimum(reached, bound)

    return Profile.from_function(local_sensitivity, bound=float(bound), distance=flip_edge())


def bound_triangles(nodes: int, k: int = 0) -> int:
    """n - 2, the global sensitivity; 1 on two nodes, where the count is always 0."""
    return max(1, nodes - 2)


TRIANGLES = SubgraphCount("triangles", count_triangles, make_triangle_profile, bound_triangles)
