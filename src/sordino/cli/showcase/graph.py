"""A small undirected graph: ego betweenness, triangles, and how far one edge can move them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.sensitivity import Profile


@dataclass(frozen=True, slots=True)
class SmallGraph:
    """Names of nodes and a symmetric 0/1 matrix without loops; made for at most a few hundred nodes."""

    names: tuple[str, ...]
    adjacency: NDArray[np.int64]

    @property
    def degrees(self) -> NDArray[np.int64]:
        """How many neighbours each node has."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.int64)

    def ego_betweenness(self) -> NDArray[np.float64]:
        """Σ over pairs of neighbours that are not adjacent of 1/(1 + their common neighbours within the ego net)."""
        return np.array([self._ego_betweenness(node) for node in range(len(self.names))])

    def _ego_betweenness(self, node: int) -> float:
        near = np.flatnonzero(self.adjacency[node])
        inside = self.adjacency[np.ix_(near, near)]
        shared = inside @ inside
        apart = np.triu(inside == 0, 1)
        return float((1 / (1 + shared[apart])).sum())

    def ego_betweenness_profile(self) -> Profile:
        """δ(t) = max((d+t)(d+t−1)/4, d+t) of a node with d neighbours, at most Δ = max((n−2)(n−3)/4, n−2).

        **Requires**: n nodes, public; one edge flipped.
        **Source**: LD §6; `sordino audit` checks it on all graphs of up to five nodes.
        """
        n = len(self.names)
        bound = max((n - 2) * (n - 3) / 4, n - 2.0)
        reach = self.degrees[:, None] + np.arange(n)
        table = np.minimum(np.maximum(reach * (reach - 1) / 4, reach), bound)
        return Profile.from_table(table, bound=bound, distance=flip_edge())

    def triangles(self) -> int:
        """How many triangles there are."""
        return int(np.trace(self.adjacency @ self.adjacency @ self.adjacency)) // 6

    def triangles_profile(self) -> Profile:
        """δ(t) = min(c + t, n − 2), c the most common neighbours of any two nodes.

        An edge flip changes the triangles by the common neighbours of its ends, and those by at most one.
        **Source**: Nissim, Raskhodnikova and Smith 2007, §3.3, in a simpler form that is an upper bound of theirs.
        """
        n = len(self.names)
        shared = self.adjacency @ self.adjacency
        np.fill_diagonal(shared, 0)
        table = np.minimum(shared.max() + np.arange(n), n - 2.0)
        return Profile.from_table(table, bound=n - 2.0, distance=flip_edge())
