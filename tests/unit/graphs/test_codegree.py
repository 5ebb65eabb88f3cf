"""Triangles and common neighbours against brute force, and the triangle count's sensitivity against stored values."""

from __future__ import annotations

import csv
import itertools

import networkx
import numpy as np
import pytest

from sordino.graphs.codegree import find_codegree_frontier, max_codegree, triangles_per_node
from sordino.graphs.graph import Graph
from sordino.graphs.kernels import threads

from .shared_data import shared_file
from .test_ego_betweenness import all_graphs


def brute_force(n, edges):
    """Triangles and largest number of common neighbours by node, and the pairs (a, b) that no other pair beats."""
    near = [{u for u in range(n) if (u, v) in edges or (v, u) in edges} for v in range(n)]
    triangles = [sum(v in near[u] for u, v in itertools.combinations(near[c], 2)) for c in range(n)]
    most = [max((len(near[v] & near[x]) for x in range(n) if x != v), default=0) for v in range(n)]
    pairs = {
        (len(near[i] & near[j]), len((near[i] ^ near[j]) - {i, j}))
        for i, j in itertools.combinations(range(n), 2)
    }
    frontier = [
        [a, b] for a, b in sorted(pairs) if not any((c, d) != (a, b) and c >= a and d >= b for c, d in pairs)
    ]
    return triangles, most, frontier


def check(n, edges):
    graph = Graph.from_edges(edges, nodes=n)
    triangles, most, frontier = brute_force(n, set(edges))
    assert triangles_per_node(graph).tolist() == triangles
    assert max_codegree(graph).tolist() == most
    assert find_codegree_frontier(graph).tolist() == frontier


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_graphs_on_few_nodes(n):
    for edges in all_graphs(n):
        check(n, edges)


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(threads, "_WORTH_THREADS", 0)
    n = [12, 20, 35][seed % 3]
    graph = networkx.gnp_random_graph(n, [0.03, 0.1, 0.2, 0.4, 0.7, 0.95][seed % 6], seed=seed)
    check(n, [tuple(sorted(edge)) for edge in graph.edges])


@pytest.mark.parametrize(
    "graph",
    [
        networkx.star_graph(30),
        networkx.complete_graph(20),
        networkx.complete_bipartite_graph(7, 11),
        networkx.wheel_graph(15),
        networkx.barabasi_albert_graph(60, 5, seed=1),
        networkx.disjoint_union(networkx.star_graph(9), networkx.star_graph(12)),
        networkx.lollipop_graph(12, 6),
    ],
    ids=["star", "complete", "bipartite", "wheel", "preferential", "two stars", "lollipop"],
)
def test_graphs_with_hubs(graph):
    check(len(graph), [tuple(sorted(edge)) for edge in graph.edges])


def test_types():
    graph = Graph.from_edges([(0, 1)])
    assert triangles_per_node(graph).dtype == max_codegree(graph).dtype == np.int64
    assert find_codegree_frontier(graph).dtype == np.int64
    assert find_codegree_frontier(Graph.from_edges([], nodes=1)).shape == (0, 2)


def local_sensitivity(frontier, n, t):
    return max(min(a + (t + min(t, b)) // 2, n - 2) for a, b in frontier.tolist())


def test_the_frontier_gives_the_sensitivity_of_the_triangle_count():
    """At distance 0 and 1, over all graphs on four nodes, by changing edges."""
    pairs = list(itertools.combinations(range(4), 2))
    graphs = [frozenset(edges) for edges in all_graphs(4)]
    count = {graph: sum(brute_force(4, graph)[0]) // 3 for graph in graphs}
    one_step = {graph: max(abs(count[graph] - count[graph ^ {pair}]) for pair in pairs) for graph in graphs}
    for graph in graphs:
        frontier = find_codegree_frontier(Graph.from_edges(sorted(graph), nodes=4))
        assert local_sensitivity(frontier, 4, 0) == one_step[graph]
        near = max(one_step[graph], *(one_step[graph ^ {pair}] for pair in pairs))
        assert local_sensitivity(frontier, 4, 1) == near


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "facebook_combined", "email-Enron"])
def test_public_graphs_agree_with_stored_values(name):
    with shared_file("reference-values/triangle_local_sensitivity.csv").open() as file:
        stored = {row["graph"]: row for row in csv.DictReader(file)}[name]
    graph = Graph.read(shared_file(f"graphs/{name}.txt"))
    assert (graph.nodes, graph.edges) == (int(stored["nodes"]), int(stored["edges"]))
    assert triangles_per_node(graph).sum() == 3 * int(stored["triangles"])
    frontier = find_codegree_frontier(graph)
    for t in range(21):
        assert local_sensitivity(frontier, graph.nodes, t) == int(stored[f"LS_at_distance_{t}"])
    assert max_codegree(graph).max() == int(stored["LS_at_distance_0"])
