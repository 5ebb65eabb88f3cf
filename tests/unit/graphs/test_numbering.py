"""Nodes are numbered by their labels alone: no edge, and no order of edges, has a part in it."""

from __future__ import annotations

import enum
import gzip
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import ParameterError, PrivateDataError
from sordino.graphs import Graph, project
from sordino.graphs.label_order import order_labels
from sordino.graphs.projection import PRICE


class Colour(str, enum.Enum):  # noqa: UP042  (equal to its text, as older code writes it)
    RED = "red"


class Rank(enum.IntEnum):
    ONE = 1


class Loose(str):
    """Equal to its text in another case."""

    __slots__ = ()

    def __eq__(self, other):
        return self.lower() == str(other).lower()

    def __hash__(self):
        return hash(self.lower())


Point = namedtuple("Point", "x y")

NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from(
        [0.5, -0.0, 1.0, float("inf"), 10**400, 2.0**80, Fraction(1, 3), Fraction(2), Decimal("0.5")]
    ),
    st.integers(-3, 3).map(np.int64),
    st.integers(0, 3).map(np.uint8),
    st.sampled_from([0.5, 1.0, 0.1]).map(np.float32),
    st.sampled_from([0.5, 2.0]).map(np.float64),
    st.just(Rank.ONE),
)
TEXTS = st.one_of(
    st.text("ab1é😀", max_size=2),
    st.sampled_from(["a", "1"]).map(np.str_),
    st.just(Colour.RED),
    st.just("red"),
)
SIMPLE = st.one_of(NUMBERS, TEXTS, st.binary(max_size=1))
LABELS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.tuples(inner, inner),
        st.tuples(inner, st.none()),
        st.builds(Point, inner, inner),
        st.frozensets(inner, max_size=2),
    ),
    max_leaves=4,
)


def numbering(graph):
    """The labels by position, with their types all the way down."""
    return [typed(graph.label_of(position)) for position in range(graph.nodes)]


def typed(label):
    if isinstance(label, tuple):
        return type(label), tuple(map(typed, label))
    if isinstance(label, frozenset):
        return type(label), frozenset(map(typed, label))
    return type(label), label


@st.composite
def two_orders(draw, labels, size=8):
    """Two lists of edges on one set of nodes: the second shuffled, turned around, and with edges more at its head."""
    nodes = draw(st.lists(labels, min_size=2, max_size=size, unique=True))
    index = st.integers(0, len(nodes) - 1)
    path = [(nodes[i], nodes[i + 1]) for i in range(len(nodes) - 1)]  # so that every node has an edge
    pairs = [(nodes[i], nodes[j]) for i, j in draw(st.lists(st.tuples(index, index), max_size=8))]
    more = [(nodes[i], nodes[j]) for i, j in draw(st.lists(st.tuples(index, index), max_size=2))]
    turned = [pair[::-1] if draw(st.booleans()) else pair for pair in [*path, *pairs]]
    return [*path, *pairs], [*more, *draw(st.permutations(turned))]


def equal_twins(label):
    """A label that is equal to the given one and of another type, where there is one."""
    if isinstance(label, int | float) and label == label and abs(label) < 10:
        return float(label) if isinstance(label, int) else np.float64(label)
    return np.str_(label) if type(label) is str else label


@settings(max_examples=120, deadline=None)
@given(two_orders(LABELS), st.data())
def test_networkx_graphs_are_numbered_by_their_labels(edges, data):
    first, second = edges
    second = [tuple(equal_twins(v) if data.draw(st.booleans()) else v for v in edge) for edge in second]
    one, other = Graph.of(networkx.Graph(first)), Graph.of(networkx.Graph(second))
    assert numbering(one) == numbering(other)


@settings(max_examples=30, deadline=None)
@given(two_orders(st.integers(0, 40)), st.sampled_from([1, 10**12]))
def test_lists_tables_and_files_of_integers_are_numbered_by_their_ids(tmp_path_factory, edges, spread):
    check_every_kind(tmp_path_factory, [[(u * spread, v * spread) for u, v in one] for one in edges])


@settings(max_examples=30, deadline=None)
@given(two_orders(st.text("abzé😀", min_size=1, max_size=3)))
def test_lists_tables_and_files_of_names_are_numbered_by_their_names(tmp_path_factory, edges):
    check_every_kind(tmp_path_factory, edges)


def check_every_kind(tmp_path_factory, edges):
    folder = tmp_path_factory.mktemp("edges")
    numbered = []
    for one in edges:
        first, second = [u for u, _ in one], [v for _, v in one]
        columns = {"u": first, "v": second}
        lines = "".join(f"{u},{v}\n" for u, v in one)
        (folder / "plain.csv").write_text("u,v\n" + lines)
        (folder / "quoted.csv").write_text("u,v\n" + "".join(f'"{u}","{v}"\n' for u, v in one))
        (folder / "packed.gz").write_bytes(gzip.compress(lines.replace(",", "\t").encode()))
        pandas.DataFrame(columns).to_parquet(folder / "table.parquet")
        numbered += [
            Graph.of(one),
            Graph.of((first, second)),
            Graph.of(np.array(one)),
            Graph.of(np.array(one, dtype=object)),
            Graph.of(pandas.DataFrame(columns)),
            Graph.of(polars.DataFrame(columns)),
            Graph.of(pyarrow.table(columns)),
            Graph.of(networkx.Graph(one)),
            Graph.read(folder / "plain.csv", header=True),
            Graph.read(folder / "packed.gz"),
            Graph.read(folder / "table.parquet"),
        ]
        if isinstance(first[0], str):
            frame = pandas.DataFrame(columns).astype("category")
            numbered += [Graph.of(frame), Graph.read(folder / "quoted.csv", header=True)]
    assert len({tuple(numbering(graph)) for graph in numbered}) == 1


@settings(max_examples=50, deadline=None)
@given(two_orders(st.integers(0, 9), size=10))
def test_matrices_are_numbered_by_their_rows(edges):
    for one in edges:
        matrix = scipy.sparse.coo_array(([1] * len(one), tuple(zip(*one, strict=True))), shape=(10, 10))
        assert numbering(Graph.of((matrix + matrix.T).tocsr())) == [(int, row) for row in range(10)]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([np.int64, np.float32, str, lambda i: (i, "x"), lambda i: i if i % 2 else str(i)]),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=12, max_size=50, unique=True),
    st.tuples(st.integers(0, 11), st.integers(0, 11)),
    st.integers(1, 3),
)
def test_one_edge_more_moves_no_more_of_the_projection_than_is_paid_for(label, pairs, extra, max_degree):
    """Whatever the labels are; with nodes in the order of the edges this fails for all but the text labels."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    simple = [(u, v) for u, v in pairs if u != v and abs(u - v) not in (1, 11)] + ring
    without = [pair for pair in simple if set(pair) != set(extra)]
    if extra[0] == extra[1] or {node for pair in without for node in pair} != set(range(12)):
        return
    kept = []
    for edges in (without, [extra, *without]):
        graph = Graph.of(networkx.Graph([(label(u), label(v)) for u, v in edges]))
        names = [
            (graph.label_of(u), graph.label_of(v)) for u, v in project(graph, max_degree).edge_list().tolist()
        ]
        kept.append({frozenset(pair) for pair in names})
    assert len(kept[0] ^ kept[1]) <= PRICE


def test_the_order_is_that_of_the_kinds_and_then_of_the_values():
    labels = ["b", (2, "a"), 10, b"z", frozenset({3, 1}), 2.5, "a", (2, 1), frozenset({1}), -1, float("inf")]
    assert order_labels(labels) == [
        b"z", -1, 2.5, 10, float("inf"), frozenset({1}), frozenset({1, 3}), "a", "b", (2, 1), (2, "a")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        (1.0, 1),
        (True, 1),
        (np.int64(1), 1),
        (np.float32(1), 1),
        (Fraction(1), 1),
        (Decimal("1.0"), 1),
        (Rank.ONE, 1),
        (-0.0, 0),
        (Fraction(1, 2), 0.5),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("1e400"), 10**400),
        (np.str_("red"), "red"),
        (Colour.RED, "red"),
        (Point(1.0, np.str_("a")), (1, "a")),
        (frozenset({True}), frozenset({1})),
    ],
)
def test_labels_that_are_equal_have_one_name(label, plain):
    """Which of them a graph holds is up to the first edge that was added, so all of them are called the same."""
    assert typed(order_labels([label])[0]) == typed(plain)


def test_a_name_of_text_is_text_whichever_edge_comes_first():
    pairs = [(Colour.RED, "blue"), ("red", "green")]
    for edges in (pairs, pairs[::-1]):
        assert numbering(Graph.of(edges)) == [(str, "blue"), (str, "green"), (str, "red")]


@pytest.mark.parametrize("label", [object(), 1j, Loose("A"), np.datetime64("2026-01-01"), (1, object())])
def test_labels_without_an_order_of_their_own_are_refused_or_listed(label):
    graph = networkx.Graph([(label, 1), (1, 2)])
    with pytest.raises(
        ParameterError, match="order that is known not to follow the edges: give nodes= as the list"
    ):
        Graph.of(graph)
    for nodes in ([2, label, 1], [label, 1, 2, 3]):
        listed = Graph.of(graph, nodes=nodes)
        assert listed.nodes == len(nodes)
        assert listed.degrees.tolist() == [graph.degree(node) if node in graph else 0 for node in nodes]
        assert [listed.index_of(node) for node in nodes] == list(range(len(nodes)))


def test_a_list_of_nodes_must_hold_all_of_them():
    graph = networkx.Graph([(1, 2)])
    graph.add_node(3)
    with pytest.raises(ParameterError, match="nodes must list every node"):
        Graph.of(graph, nodes=[1, 2])


def test_labels_that_are_not_numbers_are_refused():
    with pytest.raises(PrivateDataError, match="NaN"):
        Graph.of(networkx.Graph([(float("nan"), 1)]))


@pytest.mark.parametrize(
    "empty",
    [
        [],
        np.empty((0, 2)),
        ([], []),
        pandas.DataFrame({"u": [], "v": []}),
        pandas.DataFrame({"u": [], "v": []}, dtype=float),
        polars.DataFrame({"u": [], "v": []}),
        pyarrow.table({"u": [], "v": []}),
    ],
)
@pytest.mark.parametrize("nodes", [3, [7, 8, 9], ["a", "b", "c"]])
def test_a_graph_without_edges_is_a_graph_where_its_nodes_are_declared(empty, nodes):
    assert Graph.of(empty, nodes=nodes).degrees.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("", None),
        ("# no edges\n", None),
        ("u,v\n", True),
        ("\n", True),
        ("", False),
    ],
)
@pytest.mark.parametrize("nodes", [3, [7, 8, 9]])
def test_a_file_without_edges_is_a_graph_where_its_nodes_are_declared(tmp_path, content, header, nodes):
    path = tmp_path / "edges.csv"
    path.write_text(content)
    assert Graph.read(path, nodes=nodes, header=header).degrees.tolist() == [0, 0, 0]
    with pytest.raises(ParameterError, match="holds no edges: give nodes"):
        Graph.read(path, header=header)


def test_a_file_of_names_without_edges_has_a_header_that_is_declared(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("from,to\n")
    assert Graph.read(path, nodes=["a", "b"], header=True).degrees.tolist() == [0, 0]


@pytest.mark.parametrize("nodes", [3, [7, 8, 9]])
def test_a_single_line_of_names_is_not_taken_for_a_header(tmp_path, nodes):
    """It may be an edge; the file has more than was declared, which is the data's fault and not a parameter's."""
    path = tmp_path / "edges.csv"
    path.write_text("ann bob\n")
    with pytest.raises(PrivateDataError, match="has a header if its first line names the columns"):
        Graph.read(path, nodes=nodes)
    with pytest.raises(ParameterError, match="node ids are"):
        Graph.read(path, nodes=nodes, ids="text")
