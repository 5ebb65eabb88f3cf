"""Compressed sparse rows: from pairs of positions, checked, and renumbered by degree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.compiled import compiled

Offsets = NDArray[np.int64]
Positions = NDArray[np.int32]


@compiled
def compress(sources: Positions, targets: Positions, nodes: int) -> tuple[Offsets, Positions, int, int]:
    """Rows of the undirected graph with these edges, and the numbers of self-loops and duplicates left out.

    Two passes of bucketing sort every row in linear time: the second deals the arcs out in order of their origin.
    """
    offsets = np.zeros(nodes + 1, np.int64)
    loops = 0
    for edge in range(len(sources)):
        if sources[edge] == targets[edge]:
            loops += 1
        else:
            offsets[sources[edge] + 1] += 1
            offsets[targets[edge] + 1] += 1
    for node in range(nodes):
        offsets[node + 1] += offsets[node]
    arcs = offsets[nodes]
    bucket = np.empty(arcs, np.int32)
    cursor = offsets[:-1].copy()
    for edge in range(len(sources)):
        u, v = sources[edge], targets[edge]
        if u != v:
            bucket[cursor[u]] = v
            cursor[u] += 1
            bucket[cursor[v]] = u
            cursor[v] += 1
    cursor[:] = offsets[:-1]
    rows = np.empty(arcs, np.int32)
    for node in range(nodes):
        for arc in range(offsets[node], offsets[node + 1]):
            v = bucket[arc]
            rows[cursor[v]] = node
            cursor[v] += 1
    kept = 0
    begin = 0
    for node in range(nodes):
        end = offsets[node + 1]
        previous = -1
        for arc in range(begin, end):
            if rows[arc] != previous:
                previous = rows[arc]
                rows[kept] = previous
                kept += 1
        begin = end
        offsets[node + 1] = kept
    return offsets, rows[:kept].copy(), loops, (arcs - kept) // 2


@compiled
def rows_are_simple(offsets: Offsets, neighbours: Positions) -> bool:
    """Whether rows are in range, strictly increasing, without self-loops, and symmetric."""
    nodes = len(offsets) - 1
    if offsets[0] != 0 or offsets[nodes] != len(neighbours):
        return False
    for node in range(nodes):
        if offsets[node] > offsets[node + 1]:
            return False
    cursor = offsets[:-1].copy()
    for node in range(nodes):
        previous = -1
        for arc in range(offsets[node], offsets[node + 1]):
            v = neighbours[arc]
            if v <= previous or v >= nodes or v == node:
                return False
            previous = v
            # Origins come in increasing order, so each must be the next entry of its target's row.
            if cursor[v] >= offsets[v + 1] or neighbours[cursor[v]] != node:
                return False
            cursor[v] += 1
    return True


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """A graph whose nodes are renumbered by increasing degree.

    ``order[r]`` is the node of rank r; ``higher[r]`` is where, in the row of r, the ranks above r begin. A node has at
    most √(2·edges) neighbours of higher rank, which bounds the cost of listing triangles.
    """

    order: NDArray[np.int64]
    offsets: Offsets
    higher: Offsets
    neighbours: Positions

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degrees by rank, increasing."""
        return np.diff(self.offsets)

    def sum_over_neighbours(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """For every rank the sum of its neighbours' weights."""
        total = np.concatenate([[0.0], np.cumsum(weights[self.neighbours])])
        return np.asarray(np.diff(total[self.offsets]))


def rank_by_degree(offsets: Offsets, neighbours: Positions) -> RankedRows:
    """Renumber nodes by increasing degree, ties by position."""
    order = np.argsort(np.diff(offsets), kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return RankedRows(order, *_renumber(offsets, neighbours, order, rank))


@compiled
def _renumber(
    offsets: Offsets, neighbours: Positions, order: NDArray[np.int64], rank: Positions
) -> tuple[Offsets, Offsets, Positions]:
    nodes = len(order)
    ranked_offsets = np.zeros(nodes + 1, np.int64)
    for r in range(nodes):
        ranked_offsets[r + 1] = ranked_offsets[r] + offsets[order[r] + 1] - offsets[order[r]]
    rows = np.empty(len(neighbours), np.int32)
    cursor = ranked_offsets[:-1].copy()
    higher = np.empty(nodes, np.int64)
    for r in range(nodes):
        higher[r] = cursor[r]  # all lower ranks have been dealt out by now
        for arc in range(offsets[order[r]], offsets[order[r] + 1]):
            v = rank[neighbours[arc]]
            rows[cursor[v]] = r
            cursor[v] += 1
    return ranked_offsets, higher, rows
