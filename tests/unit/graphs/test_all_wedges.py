"""The graphs with hubs that are timed, smaller: skipping pairs finds what the walk of all wedges and A² find."""

from __future__ import annotations

from importlib import import_module
from math import comb
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sordino.graphs.codegree import find_codegree_frontier, max_codegree
from sordino.graphs.counts.k_triangles import count_k_triangles, find_triangle_level

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(params=["R-MAT", "preferential attachment"])
def graph(request, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    made = import_module("hub_graphs").MAKERS[request.param](20_000)
    assert made.degrees.max() > 10 * made.degrees.mean()  # it does have hubs
    return made


@pytest.mark.slow
def test_pairs_skipped_are_those_that_all_wedges_show_to_be_dominated(graph):
    all_wedges = import_module("all_wedges")
    most, widest = all_wedges.walk_all_wedges(graph)
    assert max_codegree(graph).tolist() == most.tolist()
    assert find_codegree_frontier(graph).tolist() == all_wedges.keep_frontier(widest).tolist()


def test_k_triangles_and_their_level_are_those_of_the_squared_matrix(graph):
    arcs = np.ones(len(graph.neighbours), np.int64)
    near = sparse.csr_matrix((arcs, graph.neighbours, graph.offsets), shape=(graph.nodes, graph.nodes))
    common = (near @ near).toarray()
    np.fill_diagonal(common, 0)
    assert max_codegree(graph).tolist() == common.max(axis=0).tolist()
    u, v = sparse.triu(near).nonzero()
    on_edges = common[u, v]
    single = graph.degrees[u] + graph.degrees[v] - 2 * on_edges - 2
    assert count_k_triangles(graph, 2) == sum(comb(a, 2) for a in on_edges.tolist())
    assert find_triangle_level(graph) == max(common.max(), (on_edges + (single > 0)).max())
