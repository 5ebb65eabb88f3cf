"""Core numbers: peel off the node of least degree, again and again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.kernels.rows import Offsets, Positions
from sordino.mechanisms.compiled import compiled


@compiled
def find_core_numbers(offsets: Offsets, neighbours: Positions, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The core number of every node, in time linear in the edges; ``order`` has the nodes by increasing degree.

    ``order`` is kept sorted by what is left of the degrees: a node that loses a neighbour changes places with the
    first of its degree, and that degree then begins one place later (Batagelj and Zaveršnik 2003).
    """
    nodes = len(order)
    left = np.empty(nodes, np.int64)
    place = np.empty(nodes, np.int64)
    most = 0
    for position in range(nodes):
        node = order[position]
        left[node] = offsets[node + 1] - offsets[node]
        place[node] = position
        most = max(most, left[node])
    begin = np.zeros(most + 2, np.int64)  # begin[d]: where in the order degree d begins
    for node in range(nodes):
        begin[left[node] + 1] += 1
    for degree in range(most + 1):
        begin[degree + 1] += begin[degree]
    for position in range(nodes):
        node = order[position]
        for arc in range(offsets[node], offsets[node + 1]):
            v = neighbours[arc]
            if left[v] > left[node]:
                first = begin[left[v]]
                other = order[first]
                order[first], order[place[v]] = v, other
                place[other], place[v] = place[v], first
                begin[left[v]] += 1
                left[v] -= 1
    return left
