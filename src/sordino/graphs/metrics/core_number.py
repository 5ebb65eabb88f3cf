"""The core number: the largest k such that a node survives when nodes of fewer than k neighbours are peeled off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile


class CoreNumber:
    """One edge moves every core number by at most 1, all the same way: sensitivity 1, monotone.

    Proof: the k-core of G with an edge more, taken without that edge, has minimum degree at least k − 1, so each of its
    nodes has core number at least k − 1 in G. Many nodes may move at once, which costs a selection nothing.
    """

    name = "core_number"
    monotone = True

    @staticmethod
    def scores(graph: Graph) -> NDArray[np.float64]:
        """The core number of every node, by peeling all nodes of the least degree at once."""
        degrees = graph.degrees.astype(np.int64)
        cores = np.zeros(graph.nodes, dtype=np.float64)
        left = np.ones(graph.nodes, dtype=bool)
        level = 0
        while left.any():
            level = max(level, int(degrees[left].min()))
            shell = np.flatnonzero(left & (degrees <= level))
            cores[shell] = level
            left[shell] = False
            degrees -= np.bincount(_neighbours_of(graph, shell), minlength=graph.nodes)
        return cores

    @staticmethod
    def profile(graph: Graph, max_degree: int) -> Profile:
        """1 at every distance."""
        return Profile.constant(1.0, distance=flip_edge())


def _neighbours_of(graph: Graph, nodes: NDArray[np.intp]) -> NDArray[np.int32]:
    """The neighbours of all these nodes, with repetitions."""
    starts, sizes = graph.offsets[nodes], graph.offsets[nodes + 1] - graph.offsets[nodes]
    shifts = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return np.asarray(graph.neighbours[shifts + np.arange(int(sizes.sum()))])
