"""Graphs with hubs: what skips pairs and neighbours finds what looking at all pairs finds."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.graphs import METRICS, Graph, codegree
from sordino.graphs.codegree import find_codegree_frontier, max_codegree, triangles_per_node
from sordino.graphs.counts.edge_triangles import count_triangles_per_edge
from sordino.graphs.counts.k_triangles import find_triangle_level
from sordino.graphs.kernels import threads

pytestmark = pytest.mark.slow


def draw_star(generator, n):
    """A few hubs, each adjacent to its own share of the nodes."""
    hubs = generator.integers(1, 5)
    return generator.random((n, n)) < np.where(np.arange(n) < hubs, generator.random(n), 0.0)[:, None]


def draw_bipartite(generator, n):
    """Few nodes on one side, all others on the other, with none to a few edges missing."""
    side = np.arange(n) < generator.integers(1, max(2, n // 3))
    return (side[:, None] & ~side) & (generator.random((n, n)) < generator.choice([0.8, 0.95, 1.0]))


def draw_power_law(generator, n):
    """Edges by chances in proportion to the product of weights that fall with a power."""
    weights = np.arange(1, n + 1) ** -generator.uniform(0.4, 1.5)
    return generator.random((n, n)) < generator.uniform(0.3, 4) * np.outer(weights, weights)


def draw_core(generator, n):
    """A dense core, and the others adjacent to a few of it."""
    core = np.arange(n) < generator.integers(2, max(3, n // 2))
    return generator.random((n, n)) < np.where(core[:, None] & core, 0.9, 0.15) * (core[:, None] | core)


MAKERS = (draw_star, draw_bipartite, draw_power_law, draw_core)


@st.composite
def draw_adjacency(draw):
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, 60))
    drawn = np.triu(draw(st.sampled_from(MAKERS))(generator, n), 1)
    order = generator.permutation(n)
    return (drawn | drawn.T)[np.ix_(order, order)].astype(np.int64)


def find_frontier(pairs):
    kept = {(a, b) for a, b in pairs if not any((c, d) != (a, b) and c >= a and d >= b for c, d in pairs)}
    return [list(pair) for pair in sorted(kept)]


@pytest.mark.parametrize(("hubs", "in_threads"), [(0, False), (2, True), (256, False)])
@given(near=draw_adjacency())
@settings(max_examples=60, deadline=None)
def test_hubs_hide_nothing(hubs, in_threads, near):
    n = len(near)
    common = near @ near
    up, down = np.triu_indices(n, 1)
    edges = near[up, down] == 1
    shared, degrees = common[up, down], near.sum(axis=0)
    single = degrees[up] + degrees[down] - 2 * shared - 2 * near[up, down]
    apart = common - np.diag(np.diag(common))
    graph = Graph.from_edges(np.stack([up, down], axis=1)[edges], nodes=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codegree, "_HUBS", hubs)
        patch.setattr(codegree, "_WALKED_HUBS", hubs)
        if in_threads:
            patch.setattr(threads, "_WORTH_THREADS", 0)
        assert triangles_per_node(graph).tolist() == ((near * common).sum(axis=0) // 2).tolist()
        assert count_triangles_per_edge(graph).tolist() == shared[edges].tolist()
        assert max_codegree(graph).tolist() == apart.max(axis=0).tolist()
        pairs = set(zip(shared.tolist(), single.tolist(), strict=True))
        assert find_codegree_frontier(graph).tolist() == find_frontier(pairs)
        after = shared + (
            edges & (single > 0)
        )  # a pair without an edge gets its own, an edge one more triangle
        assert find_triangle_level(graph) == after.max(initial=0)


@given(near=draw_adjacency())
@settings(max_examples=60, deadline=None)
def test_core_numbers_are_those_of_networkx(near):
    graph = Graph.from_edges(np.argwhere(np.triu(near)), nodes=len(near))
    expected = networkx.core_number(networkx.from_numpy_array(near))
    assert METRICS["core_number"].scores(graph).tolist() == [expected[v] for v in range(len(near))]
