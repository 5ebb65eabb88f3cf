"""A projection to bounded degree whose order of nodes follows the edges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from sordino.audit.log_law import LogLaw
from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen

Edge = tuple[int, int]
Edges = tuple[Edge, ...]  # of a graph, increasing

_EPSILON = 3.0
_NODES, _MOST = 4, 2  # all graphs of four nodes, projected to degree 2
_PRICE = 3  # edges of the projection that one edge moves, if the order of nodes is fixed
_PAIRS: Edges = tuple(combinations(range(_NODES), 2))


def _graphs() -> Iterator[Edges]:
    return chain.from_iterable(combinations(_PAIRS, size) for size in range(len(_PAIRS) + 1))


def _flip_one(edges: Edges) -> Iterator[Edges]:
    for pair in _PAIRS:
        yield tuple(sorted(set(edges) ^ {pair}))


def _by_first_edge(edges: Edges) -> list[int]:
    """The nodes as a graph library lists them that is given one edge after the other."""
    return list(dict.fromkeys(chain(chain.from_iterable(edges), range(_NODES))))


def _kept(edges: Edges, order: list[int]) -> set[Edge]:
    """The edges that are among the first of both their ends, by the order of the other end."""

    def first(node: int) -> set[Edge]:
        ends = {order.index(edge[0] + edge[1] - node): edge for edge in edges if node in edge}
        return {ends[place] for place in sorted(ends)[:_MOST]}

    return {edge for edge in edges if edge in first(edge[0]) and edge in first(edge[1])}


def _randomised(*, follows_edges: bool) -> Proof:
    """Randomised response on every pair of the projection, at a third of ε: the loss is that of the edges moved."""
    patterns = (np.arange(1 << len(_PAIRS))[:, None] >> np.arange(len(_PAIRS))) & 1
    rate = _EPSILON / _PRICE

    def law(edges: Edges) -> LogLaw:
        kept = _kept(edges, _by_first_edge(edges) if follows_edges else list(range(_NODES)))
        truth: NDArray[np.int64] = np.array([pair in kept for pair in _PAIRS], dtype=np.int64)
        lies = (patterns != truth).sum(axis=1)
        return LogLaw(-rate * lies - len(_PAIRS) * np.log1p(np.exp(-rate)))

    return prove(law, _graphs(), _flip_one, _EPSILON)


ORDER_FOLLOWS_EDGES = Specimen(
    name="a projection in the order of the edges",
    claim="keeping the first D edges of every node moves three edges for one, whatever numbers the nodes have",
    flaw="nodes numbered as the edges mention them change places with one edge, and with them what is kept elsewhere",
    source="a graph library's order of insertion, taken for an order of nodes",
    refute=lambda: _randomised(follows_edges=True),
    repaired=lambda: _randomised(follows_edges=False),
)
