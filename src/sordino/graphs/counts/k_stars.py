"""The number of k-stars: a node with k of its neighbours."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from sordino.core import flip_edge
from sordino.graphs.counts.subgraph_count import SubgraphCount, round_up_to_float
from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile


def count_k_stars(graph: Graph, k: int) -> int:
    """Σ over nodes of C(degree, k), exactly, in whole numbers of any size; confidential."""
    degrees, nodes = np.unique(graph.degrees, return_counts=True)
    pairs = zip(degrees.tolist(), nodes.tolist(), strict=True)
    return sum(comb(degree, k) * count for degree, count in pairs)


def make_k_star_profile(graph: Graph, k: int) -> Profile:
    """The local sensitivity of the number of k-stars at every distance; confidential.

    **Guarantee**: exact. Flipping {i, j} moves the count by C(x, k-1) + C(y, k-1), where x >= y are the degrees of the
    two without their own edge. A flip elsewhere raises one of them by one, up to n - 2. C(·, k-1) is convex, so t
    flips do most at the larger one, and what it cannot take goes to the other. The result grows with x and
    y, so it is taken over the Pareto-maximal pairs, of which there are at most three (`_largest_pairs`).
    **Source**: derived here; Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011 give it for the smooth sensitivity.
    **Numerics**: whole numbers, rounded up to floats, which keeps the profile admissible.
    """
    most = graph.nodes - 2
    pairs = _largest_pairs(graph)

    def local_sensitivity(t: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([round_up_to_float(max(_after(x, y, s) for x, y in pairs)) for s in t.tolist()])

    def _after(x: int, y: int, flips: int) -> int:
        larger = min(x + flips, most)
        smaller = min(y + flips - (larger - x), most)
        return comb(larger, k - 1) + comb(smaller, k - 1)

    bound = round_up_to_float(bound_k_stars(graph.nodes, k))
    return Profile.from_function(local_sensitivity, bound=bound, distance=flip_edge())


def bound_k_stars(nodes: int, k: int) -> int:
    """2·C(n-2, k-1), the global sensitivity; 1 where the count is always 0."""
    return max(1, 2 * comb(nodes - 2, k - 1))


def _largest_pairs(graph: Graph) -> list[tuple[int, int]]:
    """Pairs (x, y) of degrees without the pair's own edge, x >= y, that hold all Pareto-maximal ones.

    With d1 >= d2 the two largest degrees, every pair has x <= d1 and y <= d2, and the two nodes themselves give
    at least (d1 - 1, d2 - 1). What that does not dominate has x = d1 or y = d2, and no edge of its own: a
    node of degree d1 with its best non-neighbour, or two non-adjacent nodes of degree d2 or more.
    """
    degrees = graph.degrees
    order = np.argsort(-degrees, kind="stable")
    first, second = int(degrees[order[0]]), int(degrees[order[1]])
    adjacent = bool(np.isin(order[1], graph.neighbours_of(int(order[0]))))
    pairs = [(first - adjacent, second - adjacent)]
    if not adjacent:
        return pairs
    largest = -1
    for place in range(int((degrees == first).sum())):
        largest = max(largest, _best_stranger(graph, order, place))
        if largest == second:  # never passed: and in a large group of equals the first few reach it
            break
    if largest >= 0:
        pairs.append((first, largest))
    if largest < second < first:
        seconds = range(1, 1 + int((degrees == second).sum()))
        if any(_best_stranger(graph, order, place) == second for place in seconds):
            pairs.append((second, second))
    return pairs


def _best_stranger(graph: Graph, order: NDArray[np.intp], place: int) -> int:
    """The largest degree of a node that is not adjacent to the one at this place of the order; -1 if there is none.

    Among the first degree + 2 places some node is a stranger, if there is one at all.
    """
    node = int(order[place])
    nearest = order[: len(graph.neighbours_of(node)) + 2]
    strangers = nearest[(nearest != node) & ~np.isin(nearest, graph.neighbours_of(node))]
    return int(graph.degrees[strangers[0]]) if len(strangers) else -1


K_STARS = SubgraphCount("k_stars", count_k_stars, make_k_star_profile, bound_k_stars, least_k=2)
