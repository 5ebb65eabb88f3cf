"""Brokerage: a score at the scale of the degree that follows the open wedges at a node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, flip_edge
from sordino.core.parameters import non_negative, number
from sordino.graphs.codegree import triangles_per_node
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile

_GRID = 2.0**20


@dataclass(frozen=True, slots=True)
class Brokerage:
    """g(d, W), with W the pairs of neighbours of v that are not adjacent: what ego betweenness counts, unweighted.

    With ρ₀ = ``density`` in (0, 1]: g = √(2ρ₀W) where 2W ≥ ρ₀d², and d − √((1 − ρ₀)(d² − 2W)) below; the score is
    max(g, κ) with κ = ``floor``. An edge at v raises its score by 0 to 1. An edge between two of its neighbours
    lowers it by at most 1/d, and only if it is above κ, hence d > κ; d is at least 2, and other edges do not matter.
    So the changes of all scores lie within 1 + min(1/κ, 1/2) of one another, whatever the graph or its size.
    On nodes with 2W ≥ ρ₀d² (hubs of sparse graphs) it has exactly the order of W; ρ₀ = 1 gives the degree.

    **Proof**: the pieces meet at g = ρ₀d, and g grows with d and with W. An edge at v brings W to at most W + d, and
    along (d + 1, W + d) the difference d² − 2W grows by 1, so the second piece rises by at most 1; the first rises by
    at most ρ₀d/√(2ρ₀W) ≤ 1. The slopes in W are ρ₀/√(2ρ₀W) and (1 − ρ₀)/√((1 − ρ₀)(d² − 2W)), each at most 1/d in its
    region. Checked on all graphs of up to 5 nodes.
    **Numerics**: rounded down to 2⁻²⁰, paid for in the spread.
    """

    density: float = 0.5
    floor: float = 4.0
    name: str = "brokerage"
    monotone: bool = True  # in the sense that counts: all changes lie within the bound of one another

    def __post_init__(self) -> None:
        if not 0 < number("density", self.density) <= 1:
            raise ParameterError(f"density must be in (0, 1], got {self.density!r}")
        non_negative("floor", self.floor)

    def scores(self, graph: Graph) -> NDArray[np.float64]:
        """max(g(d, W), κ) of every node."""
        degrees = graph.degrees.astype(np.float64)
        wedges = degrees * (degrees - 1) / 2 - triangles_per_node(graph)
        dense = degrees - np.sqrt((1 - self.density) * (degrees**2 - 2 * wedges))
        sparse = np.sqrt(2 * self.density * wedges)
        score = np.where(2 * wedges >= self.density * degrees**2, sparse, dense)
        score = np.maximum(score, self.floor)
        return np.asarray(np.floor(score * _GRID) / _GRID, dtype=np.float64)

    def profile(self, graph: Graph, max_degree: int) -> Profile:
        """1 + min(1/κ, 1/2) at every distance: the spread of all changes, which is what a selection pays for."""
        return Profile.constant(1 + 1 / max(self.floor, 2.0) + 2 / _GRID, distance=flip_edge())
