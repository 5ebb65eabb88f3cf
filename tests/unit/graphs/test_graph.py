"""Graphs from what people hold: the same simple graph from each, and a clear refusal of what is not one."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import igraph
import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.graphs.graph import Dropped, Graph

EDGES = [(0, 1), (1, 2), (0, 2), (2, 3)]
NAMED = [("b", "a"), ("a", "c"), ("c", "b"), ("c", "d")]


def edge_set(graph):
    return {tuple(sorted((graph.label_of(u), graph.label_of(v)))) for u, v in graph.edge_list().tolist()}


def columns(edges):
    return [u for u, _ in edges], [v for _, v in edges]


def frames(edges):
    first, second = columns(edges)
    content = {"source": first, "target": second}
    return [pandas.DataFrame(content), polars.DataFrame(content), pyarrow.table(content)]


INTEGERS = [
    EDGES,
    tuple(EDGES),
    np.array(EDGES),
    np.array(EDGES, dtype=np.uint8),
    np.array(EDGES, dtype=object),
    (np.array(columns(EDGES)[0]), np.array(columns(EDGES)[1])),
    tuple(columns(EDGES)),
    (pyarrow.array(columns(EDGES)[0]), pyarrow.array(columns(EDGES)[1])),
    (polars.Series(columns(EDGES)[0]), pandas.Series(columns(EDGES)[1])),
    networkx.Graph(EDGES),
    networkx.Graph([(3, 2), (2, 0), (2, 1), (1, 0)]),
    igraph.Graph(EDGES),
    networkx.MultiGraph(EDGES),
    networkx.to_pandas_edgelist(networkx.Graph(EDGES)).assign(weight=2.5),
    scipy.sparse.csr_array(networkx.to_scipy_sparse_array(networkx.Graph(EDGES))),
    scipy.sparse.coo_matrix(np.triu(networkx.to_numpy_array(networkx.Graph(EDGES)))),
    scipy.sparse.csc_array(np.tril(networkx.to_numpy_array(networkx.Graph(EDGES)))),
    *frames(EDGES),
]
TEXTS = [
    NAMED,
    np.array(NAMED),
    np.array(NAMED, dtype=object),
    tuple(columns(NAMED)),
    networkx.Graph(NAMED),
    igraph.Graph.TupleList(NAMED[::-1]),
    *frames(NAMED),
    frames(NAMED)[0].astype("category"),
    frames(NAMED)[1].cast(polars.Categorical),
]


@pytest.mark.parametrize("source", INTEGERS, ids=lambda source: type(source).__name__)
def test_every_kind_of_input_gives_the_same_graph(source):
    graph = Graph.of(source)
    assert graph.nodes == 4
    assert graph.edges == 4
    assert graph.labels is None
    assert graph.degrees.tolist() == [2, 2, 3, 1]
    assert graph.offsets.dtype == np.int64
    assert graph.neighbours.dtype == np.int32
    assert graph.neighbours.tolist() == [1, 2, 0, 2, 0, 1, 3, 2]
    assert graph.dropped.reveal() == Dropped(0, 0)


@pytest.mark.parametrize("source", TEXTS, ids=lambda source: type(source).__name__)
def test_names_are_kept_in_their_own_order(source):
    graph = Graph.of(source)
    assert list(graph.labels) == ["a", "b", "c", "d"]
    assert edge_set(graph) == {("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")}
    assert [graph.index_of(name) for name in "abcd"] == [0, 1, 2, 3]


def test_self_loops_and_duplicates_are_dropped_and_counted():
    graph = Graph.from_edges([(0, 1), (1, 0), (2, 2), (0, 1), (1, 2), (0, 0)])
    assert edge_set(graph) == {(0, 1), (1, 2)}
    assert graph.dropped.reveal() == Dropped(self_loops=2, duplicates=2)
    multigraph = networkx.MultiGraph([(0, 1), (0, 1), (1, 1)])
    assert Graph.of(multigraph).dropped.reveal() == Dropped(self_loops=1, duplicates=1)
    matrix = scipy.sparse.coo_array(([1, 1, 1, 1, 1], ([0, 1, 1, 0, 0], [1, 0, 1, 1, 2])), shape=(3, 3))
    with pytest.raises(PrivateDataError, match="symmetric or triangular"):
        Graph.of(matrix)


def test_explicit_zeros_of_a_matrix_are_no_edges():
    matrix = scipy.sparse.coo_array(([1.0, 0.0, 1.0], ([0, 0, 2], [1, 2, 2])), shape=(4, 4))
    graph = Graph.of(matrix)
    assert edge_set(graph) == {(0, 1)}
    assert graph.nodes == 4
    assert graph.dropped.reveal() == Dropped(self_loops=1)


def test_nothing_but_the_number_of_nodes_is_shown():
    graph = Graph.from_edges([(0, 1), (0, 1)], nodes=7)
    assert repr(graph) == str(graph) == "Graph(nodes=7)"
    assert str(graph.dropped) == "<secret>"


def test_nodes_without_edges_are_declared():
    assert Graph.from_edges(EDGES, nodes=6).degrees.tolist() == [2, 2, 3, 1, 0, 0]
    assert Graph.from_edges([], nodes=3).degrees.tolist() == [0, 0, 0]
    assert Graph.from_edges(np.empty((0, 2), int), nodes=3).edges == 0
    listed = Graph.from_edges(NAMED, nodes=["z", "d", "c", "b", "a"])
    assert list(listed.labels) == ["z", "d", "c", "b", "a"]
    assert listed.degrees.tolist() == [0, 1, 3, 2, 2]
    assert Graph.from_edges([(-5, 30)], nodes=[30, -5, 7]).labels.tolist() == [30, -5, 7]
    assert Graph.from_edges(EDGES, nodes=range(5)).labels is None
    assert Graph.from_edges(EDGES, nodes=polars.Series([3, 2, 1, 0])).degrees.tolist() == [1, 3, 2, 2]


def test_ids_that_are_not_positions_become_labels():
    for far in (30, 10**15):
        graph = Graph.from_edges([(far, 7), (7, 20)])
        assert graph.labels.tolist() == [7, 20, far]
        assert graph.index_of(far) == 2
        assert graph.label_of(0) == 7
        assert edge_set(graph) == {(7, 20), (7, far)}


def test_labels_name_positions():
    graph = Graph.from_edges([(0, 1)], labels=["x", "y", "z"])
    assert graph.nodes == 3
    assert graph.label_of(1) == "y"
    assert graph.index_of("z") == 2
    assert Graph.from_edges([(0, 1)], labels=["x", "y"], nodes=2).nodes == 2


def test_labels_of_any_kind_come_from_networkx():
    graph = Graph.of(networkx.grid_2d_graph(2, 2))
    assert graph.label_of(3) == (1, 1)
    assert graph.index_of((0, 1)) == 1
    mixed = networkx.Graph([(1, "a"), ("a", 2.5)])
    assert Graph.of(mixed).index_of(2.5) == 1


def test_positions_are_their_own_labels():
    graph = Graph.from_edges(EDGES)
    assert graph.index_of(2) == graph.index_of(np.int64(2)) == 2
    assert graph.label_of(3) == 3
    for label in (-1, 4, "0", 1.0, True, None):
        with pytest.raises(ParameterError, match="not the label of a node"):
            graph.index_of(label)
    for position in (-1, 4):
        with pytest.raises(ParameterError, match="position must be in 0 … 3"):
            graph.label_of(position)
    for label in ("e", 0):
        with pytest.raises(ParameterError, match="not the label"):
            Graph.of(NAMED).index_of(label)
    with pytest.raises(ParameterError, match="not the label"):
        Graph.from_edges([(5, 9)]).index_of(6)


def test_a_graph_is_a_graph_already():
    graph = Graph.from_edges(EDGES)
    assert Graph.of(graph) is graph
    with pytest.raises(ParameterError, match="leave nodes out"):
        Graph.of(graph, nodes=9)


def test_arrays_cannot_be_written():
    graph = Graph.of(NAMED)
    for array in (graph.offsets, graph.neighbours, graph.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(AttributeError):
        graph.labels = None


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph))])
def test_copies_are_the_same_graph_without_the_secret(copied):
    graph = copied(Graph.of([*NAMED, ("a", "a")]))
    assert edge_set(graph) == {("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")}
    assert str(graph.dropped) == "<secret>"


def test_rows_given_directly_are_checked():
    offsets, rows = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    assert Graph(offsets, rows, labels=["x", "y"]).index_of("y") == 1
    wrong = [
        ([0, 1, 1], [1]),  # not symmetric
        ([0, 1, 2], [0, 1]),  # self-loops
        ([0, 2, 4], [1, 1, 0, 0]),  # repeated
        ([0, 1, 2], [5, 0]),  # out of range
        ([0, 1, 2], [-1, 0]),
        ([0, 1, 3], [1, 0]),  # offsets past the end
        ([1, 1, 2], [1, 0]),
        ([0, 3, 2], [1, 0]),
        ([0, 2, 3, 4], [2, 1, 0, 0]),  # not increasing
    ]
    for bad_offsets, bad_rows in wrong:
        with pytest.raises(PrivateDataError, match="rows of a simple undirected graph"):
            Graph(np.array(bad_offsets), np.array(bad_rows, dtype=np.int32))
    with pytest.raises(ParameterError, match="at least one node"):
        Graph(np.array([0]), np.empty(0, np.int32))
    with pytest.raises(ParameterError, match="neighbours must be a one-dimensional array of int32"):
        Graph(offsets, rows.astype(np.int64))
    with pytest.raises(ParameterError, match="offsets must be a one-dimensional array of int64"):
        Graph([0, 1, 2], rows)
    with pytest.raises(ParameterError, match="one per node, got 1 for 2"):
        Graph(offsets, rows, labels=["x"])


BAD = [
    ([], None, ParameterError, "no edges: give nodes="),
    (np.empty((0, 2)), None, ParameterError, "no edges"),
    ([(0, -1)], None, PrivateDataError, "must be >= 0"),
    ([(0, -1)], 4, PrivateDataError, "outside 0 … 3"),
    ([(0, 4)], 4, PrivateDataError, "outside 0 … 3"),
    ([("a", "b")], 4, PrivateDataError, "not integers"),
    ([("a", "b")], ["a", "c"], PrivateDataError, "not among the nodes"),
    ([(1, 9)], [1, 2], PrivateDataError, "not among the nodes"),
    ([("a", ["b"])], ["a", "c"], PrivateDataError, "not among the nodes"),
    ([("a", 1)], None, ParameterError, "all integers or all text"),
    ([("a", b"b")], None, ParameterError, "all integers or all text"),
    ([(0, None)], None, PrivateDataError, "nulls or NaN"),
    ([(0, float("nan"))], None, PrivateDataError, "nulls or NaN"),
    (np.array([[np.nan, 0]]), None, PrivateDataError, "nulls or NaN"),
    (np.array([[0.0, 1.0]]), None, ParameterError, "integers or text, got float64"),
    (np.array([[True, False]]), None, ParameterError, "integers or text, got bool"),
    ([(True, False)], None, ParameterError, "all integers or all text"),
    (np.array([[0, 2**63]], dtype=np.uint64), None, PrivateDataError, "below 2\\^63"),
    ([(0, 2**70)], None, PrivateDataError, "below 2\\^63"),
    ([(0, 1, 2)], None, PrivateDataError, "pairs of ids"),
    (["ab", "cd"], None, PrivateDataError, "pairs of ids"),
    ([0, 1], None, PrivateDataError, "pairs of ids"),
    (np.zeros((3, 3), int), None, ParameterError, r"shape \(m, 2\), got \(m, 3\); an adjacency matrix"),
    (np.arange(4), None, ParameterError, r"shape \(m, 2\)"),
    (([0, 1], [1]), None, PrivateDataError, "differ in length"),
    ((np.zeros((2, 2), int), np.zeros((2, 2), int)), None, ParameterError, "one-dimensional, got 2 axes"),
    (({0}, 5), None, ParameterError, "must be a list or an array, got int"),
    (7, None, ParameterError, "edges must be an .* got int"),
    (None, None, ParameterError, "got NoneType"),
    ({0: 1}, None, ParameterError, "got dict"),
    (EDGES, 0, ParameterError, "nodes must be >= 1"),
    (EDGES, True, ParameterError, "nodes must be a whole number"),
    (EDGES, 2**31, UnsupportedError, "at most"),
    (EDGES, [], ParameterError, "nodes is empty"),
    (EDGES, [0, 1, 2, 3, 3], ParameterError, "nodes must be distinct"),
    (EDGES, [[0], [1]], ParameterError, "nodes must be hashable"),
    (EDGES, "0123", ParameterError, "nodes must be a list of labels, got one str"),
    (EDGES, 4.0, ParameterError, "must be a list or an array, got float"),
    (pandas.DataFrame({"a": [0], "b": [1], "c": [2]}), None, ParameterError, "two columns, or .* it has 3"),
    (pandas.DataFrame({"a": [0.5], "b": [1]}), None, ParameterError, "column 'a' must hold integers or text"),
    (polars.DataFrame({"a": [0, None], "b": [1, 2]}), None, PrivateDataError, "column 'a' holds nulls"),
    (polars.LazyFrame({"a": [0], "b": [1]}), None, UnsupportedError, "collect the lazy frame"),
    ((polars.Series([0, None]), [1, 2]), None, PrivateDataError, "nulls or NaN"),
    ((pyarrow.array([0, None]), [1, 2]), None, PrivateDataError, "nulls or NaN"),
    (networkx.DiGraph(EDGES), None, UnsupportedError, "to_undirected"),
    (igraph.Graph(EDGES, directed=True), None, UnsupportedError, "as_undirected"),
    (igraph.Graph(EDGES), 4, ParameterError, "brings its own nodes"),
    (networkx.Graph(), None, ParameterError, "no nodes"),
    (networkx.Graph(EDGES), 9, ParameterError, "leave nodes out"),
    (scipy.sparse.csr_array((3, 4)), None, ParameterError, r"square, got \(3, 4\)"),
    (scipy.sparse.csr_array((3, 3)), 3, ParameterError, "leave nodes out"),
    (scipy.sparse.csr_array([[0, np.nan], [np.nan, 0]]), None, PrivateDataError, "NaN"),
    ("no-such-file.txt", None, ParameterError, "cannot read no-such-file.txt"),
]


@pytest.mark.parametrize(("source", "nodes", "error", "message"), BAD)
def test_bad_input_is_refused(source, nodes, error, message):
    with pytest.raises(error, match=message):
        Graph.of(source, nodes=nodes)


def test_bad_labels_are_refused():
    with pytest.raises(ParameterError, match="labels must be distinct"):
        Graph.from_edges([(0, 1)], labels=["x", "x"])
    with pytest.raises(ParameterError, match="nodes must be their number, or absent"):
        Graph.from_edges([(0, 1)], labels=["x", "y"], nodes=3)
    with pytest.raises(ParameterError, match="nodes must be their number, or absent"):
        Graph.from_edges([(0, 1)], labels=["x", "y"], nodes=["x", "y"])
    with pytest.raises(PrivateDataError, match="outside 0 … 1"):
        Graph.from_edges([(0, 2)], labels=["x", "y"])


def test_errors_show_no_ids():
    for edges in ([(0, 987654)], [(0, -987654)]):
        with pytest.raises(PrivateDataError) as caught:
            Graph.from_edges(edges, nodes=5)
        assert "987654" not in str(caught.value)


@pytest.mark.slow
def test_networkx_is_not_imported():
    code = (
        "import sys; from sordino.graphs.graph import Graph; Graph.of([(0, 1)]); "
        "print(*({'networkx', 'pandas', 'polars'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40),
    st.sampled_from([1, 3, 10**9]),
)
def test_edges_survive_the_round_trip(pairs, spread):
    pairs = [(u * spread, v * spread) for u, v in pairs]
    graph = Graph.from_edges(pairs)
    simple = {tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]}
    loops = sum(u == v for u, v in pairs)
    assert edge_set(graph) == simple
    assert graph.dropped.reveal() == Dropped(loops, len(pairs) - loops - len(simple))
    assert [graph.label_of(v) for v in range(graph.nodes)] == sorted(
        {node for pair in pairs for node in pair}
    )
    again = Graph(graph.offsets, graph.neighbours, graph.labels)  # passes the check of the rows
    assert edge_set(again) == simple
    for v in range(graph.nodes):
        assert graph.neighbours_of(v).tolist() == sorted(graph.neighbours_of(v).tolist())
