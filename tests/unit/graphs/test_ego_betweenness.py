"""Ego betweenness against its definition, networkx and stored values."""

from __future__ import annotations

import csv
import io
import itertools
from fractions import Fraction

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.graphs.ego_betweenness import ego_betweenness
from sordino.graphs.graph import Graph
from sordino.graphs.kernels import threads

from .shared_data import shared_file


def all_graphs(n):
    pairs = list(itertools.combinations(range(n), 2))
    for bits in range(2 ** len(pairs)):
        yield [pair for place, pair in enumerate(pairs) if bits >> place & 1]


def by_definition(n, edges):
    """Σ over pairs of neighbours of c without an edge of 1/(1 + their common neighbours among those of c)."""
    near = {v: {u for u in range(n) if (u, v) in edges or (v, u) in edges} for v in range(n)}
    return [
        sum(
            (
                Fraction(1, 1 + len(near[u] & near[v] & near[c]))
                for u, v in itertools.combinations(sorted(near[c]), 2)
                if v not in near[u]
            ),
            Fraction(0),
        )
        for c in range(n)
    ]


def by_networkx(graph, nodes):
    return [networkx.betweenness_centrality(networkx.ego_graph(graph, v), normalized=False)[v] for v in nodes]


def test_all_graphs_on_five_nodes():
    for edges in all_graphs(5):
        expected = by_definition(5, set(edges))
        found = ego_betweenness(Graph.from_edges(edges, nodes=5))
        np.testing.assert_allclose(found, [float(value) for value in expected], rtol=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_agree_with_networkx(seed):
    dense = [0.02, 0.1, 0.3, 0.5, 0.8, 0.97][seed % 6]
    graph = networkx.gnp_random_graph(40, dense, seed=seed)
    np.testing.assert_allclose(
        ego_betweenness(Graph.of(graph)), by_networkx(graph, graph), rtol=1e-9, atol=1e-12
    )


def test_graphs_with_hubs_agree_with_networkx():
    graph = networkx.barabasi_albert_graph(400, 8, seed=1)
    np.testing.assert_allclose(ego_betweenness(Graph.of(graph)), by_networkx(graph, graph), rtol=1e-9)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.sampled_from(range(64)), max_size=36))
    )
)
def test_small_graphs_agree_with_the_definition(case):
    n, places = case
    pairs = list(itertools.combinations(range(n), 2))
    edges = [pairs[place] for place in places if place < len(pairs)]
    expected = by_definition(n, set(edges))
    assert ego_betweenness(Graph.from_edges(edges, nodes=n)) == pytest.approx(list(map(float, expected)))


def test_closed_forms():
    star = Graph.of(networkx.star_graph(5000))
    assert ego_betweenness(star)[0] == 5000 * 4999 / 2
    assert not ego_betweenness(star)[1:].any()
    assert not ego_betweenness(Graph.of(networkx.complete_graph(60))).any()
    # A wheel's hub: pairs at distance two on the rim of length 10 share one neighbour, the other 25 pairs none.
    assert ego_betweenness(Graph.of(networkx.wheel_graph(11)))[0] == 10 / 2 + 25
    assert ego_betweenness(Graph.from_edges([], nodes=3)).tolist() == [0, 0, 0]


def test_the_number_of_threads_changes_nothing(monkeypatch):
    graph = Graph.of(networkx.barabasi_albert_graph(500, 15, seed=2))
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0)
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "count_processors", lambda count=count: count)
        results.append(ego_betweenness(graph))
    monkeypatch.setattr(threads, "_WORTH_THREADS", float("inf"))
    results.append(ego_betweenness(graph))
    for other in results[1:]:
        assert (results[0] == other).all()


def test_labels_do_not_matter():
    graph = networkx.barabasi_albert_graph(60, 4, seed=3)
    shuffled = {v: (v * 37 + 11) % 60 for v in graph}
    plain = ego_betweenness(Graph.of(graph))
    moved = ego_betweenness(Graph.of(networkx.relabel_nodes(graph, shuffled)))
    for v in graph:
        assert moved[shuffled[v]] == plain[v]


@pytest.mark.parametrize("name", ["ca-GrQc", "facebook_combined"])
def test_public_graphs_agree_with_stored_values(name):
    graph = Graph.read(shared_file(f"graphs/{name}.txt"))
    values = ego_betweenness(graph)
    expected = np.zeros(graph.nodes)
    with shared_file(f"graphs/{name}.ebc.csv").open() as file:
        for row in csv.DictReader(file):
            position = graph.index_of(int(row["node"]))
            expected[position] = float(row["ebc"])
            assert graph.degrees[position] == int(row["degree"])
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=6e-7)  # stored with six decimals


@pytest.mark.slow
def test_a_public_graph_with_hubs_agrees_with_networkx():
    graph = Graph.read(shared_file("graphs/musae-github.txt"))
    values = ego_betweenness(graph)
    peer = networkx.Graph(graph.edge_list().tolist())
    nodes = np.random.default_rng(0).choice(np.flatnonzero(graph.degrees < 120), 25, replace=False).tolist()
    np.testing.assert_allclose(values[nodes], by_networkx(peer, nodes), rtol=1e-9, atol=1e-12)


class TestProgress:
    @pytest.fixture(autouse=True)
    def slow(self, monkeypatch):
        monkeypatch.setattr("sordino.display.progress._QUIET_SECONDS", 0.01)
        monkeypatch.setattr(threads, "_TICK_SECONDS", 0.01)
        monkeypatch.setattr(threads, "_WORTH_THREADS", 0)
        monkeypatch.setenv("TERM", "xterm")

    def run(self, progress):
        import time

        threads.run_in_threads(
            np.ones(50), lambda: lambda first, last: time.sleep(0.004), title="ego nets", progress=progress
        )

    def test_a_bar_shows_on_request(self, capsys):
        self.run(True)
        output = capsys.readouterr()
        assert "ego nets" in output.err
        assert output.out == ""

    @pytest.mark.parametrize("progress", [None, False])
    def test_pipes_stay_silent(self, capsys, progress):
        self.run(progress)
        assert capsys.readouterr() == ("", "")

    def test_a_terminal_shows_a_bar(self, monkeypatch):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        self.run(None)
        assert "ego nets" in stream.getvalue()


@pytest.mark.parametrize("progress", [True, False])
def test_an_error_in_a_thread_is_raised(monkeypatch, progress):
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0)
    monkeypatch.setattr("sordino.display.progress._QUIET_SECONDS", 0.01)

    def run(first, last):
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        threads.run_in_threads(np.ones(50), lambda: run, progress=progress)


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
@pytest.mark.parametrize("shape", ["even", "hubs", "none"])
def test_ranges_cover_every_node_once(monkeypatch, count, shape):
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0)
    work = {"even": np.ones(count), "hubs": np.arange(count) ** 4.0, "none": np.zeros(count)}[shape]
    seen = np.zeros(count, int)

    def run(first, last):
        seen[first:last] += 1

    threads.run_in_threads(work, lambda: run)
    assert (seen == 1).all()
