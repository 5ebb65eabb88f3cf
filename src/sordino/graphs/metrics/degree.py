"""Degree: how many neighbours a node has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile


class Degree:
    """One edge moves two degrees by 1, both the same way: sensitivity 1, monotone."""

    name = "degree"
    monotone = True

    @staticmethod
    def scores(graph: Graph) -> NDArray[np.float64]:
        """The degree of every node."""
        return graph.degrees.astype(np.float64)

    @staticmethod
    def profile(graph: Graph, max_degree: int) -> Profile:
        """1 at every distance."""
        return Profile.constant(1.0, distance=flip_edge())
