"""The core number: the largest k such that a node survives when nodes of fewer than k neighbours are peeled off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.graph import Graph
from sordino.graphs.kernels.peeling import find_core_numbers
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
        """The core number of every node, in time linear in the edges."""
        order = np.argsort(graph.degrees, kind="stable")
        return find_core_numbers(graph.offsets, graph.neighbours, order).astype(np.float64)

    @staticmethod
    def profile(graph: Graph, max_degree: int) -> Profile:
        """1 at every distance."""
        return Profile.constant(1.0, distance=flip_edge())
