"""Graphs with hubs, made by fixed recipes: R-MAT, and preferential attachment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs import Graph
from sordino.mechanisms.compiled import compiled

# The chances of the four quarters of the adjacency matrix, at every level (Chakrabarti, Zhan, Faloutsos 2004).
QUARTERS = (0.57, 0.19, 0.19, 0.05)


def make_r_mat(edges: int, *, seed: int = 20) -> Graph:
    """About ``edges`` edges between nodes a tenth as many; hubs share most of their neighbours with other hubs."""
    generator = np.random.default_rng(seed)
    levels = round(np.log2(edges / 10))
    limits = np.cumsum(QUARTERS)[:3]
    ends = np.zeros((2, edges + edges // 8), np.int64)  # an eighth of them are repeated, or loops
    for _ in range(levels):
        quarter = np.searchsorted(limits, generator.random(ends.shape[1]), side="right")
        ends *= 2
        ends[0] += quarter >> 1
        ends[1] += quarter & 1
    names = generator.permutation(2**levels)
    return Graph.from_edges((names[ends[0]], names[ends[1]]), nodes=2**levels)


def make_preferential(edges: int, *, seed: int = 21) -> Graph:
    """Ten edges from every node to earlier ones, by chances in proportion to their degree: hubs share few."""
    draws = np.random.default_rng(seed).random(edges)
    ends = np.empty((edges, 2), np.int64)
    _attach(ends, draws)
    return Graph.from_edges(ends, nodes=edges // 10 + 1)


@compiled
def _attach(ends: NDArray[np.int64], draws: NDArray[np.float64]) -> None:
    flat = ends.reshape(-1)
    for edge in range(len(ends)):
        node = edge // 10 + 1
        earlier = 2 * 10 * (node - 1)
        flat[2 * edge] = node
        flat[2 * edge + 1] = flat[int(draws[edge] * earlier)] if earlier else 0


MAKERS = {"R-MAT": make_r_mat, "preferential attachment": make_preferential}
