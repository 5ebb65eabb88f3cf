"""Graph: an undirected simple graph in compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError, Secret
from sordino.graphs.conversion import convert_edges, split_columns
from sordino.graphs.kernels.rows import compress, rows_are_simple
from sordino.graphs.numbering import NumberedEdges, check_labels, number_edges
from sordino.graphs.reading import read_edges


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a list of edges held beyond a simple graph: edges from a node to itself, and repeated edges."""

    self_loops: int = 0
    duplicates: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """An undirected simple graph whose nodes are the positions 0 … nodes − 1.

    ``neighbours[offsets[v]:offsets[v + 1]]`` are the neighbours of v, increasing. ``labels[v]`` is the node's own name;
    ``labels`` is None where names are the positions. ``dropped`` counts self-loops and duplicates that were left out.

    The node set, with its order and labels, is public: guarantees are about one edge added or removed between existing
    nodes. Without ``nodes=`` the constructors take the nodes from the edges, and then **the set of nodes
    with at least one edge is treated as public**. Give ``nodes`` where that set is itself sensitive.

    >>> from sordino.graphs import Graph
    >>> graph = Graph.of([("ann", "bob"), ("bob", "cy")], nodes=["ann", "bob", "cy", "dan"])
    >>> graph, graph.degrees.tolist()
    (Graph(nodes=4), [1, 2, 1, 0])
    """

    offsets: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    labels: NDArray[Any] | None = None
    dropped: Secret[Dropped] = field(default_factory=lambda: Secret(Dropped()))

    def __post_init__(self) -> None:
        for name, kind in (("offsets", np.int64), ("neighbours", np.int32)):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                raise ParameterError(f"{name} must be a one-dimensional array of {kind.__name__}")
            object.__setattr__(self, name, _read_only(array))
        if len(self.offsets) < 2:
            raise ParameterError("a graph must have at least one node")
        if not rows_are_simple(self.offsets, self.neighbours):
            raise PrivateDataError(
                "offsets and neighbours must be the rows of a simple undirected graph: increasing, symmetric, "
                "without self-loops; Graph.from_edges builds them"
            )
        if self.labels is not None:
            labels = check_labels(self.labels, name="labels")
            if len(labels) != self.nodes:
                raise ParameterError(f"labels must be one per node, got {len(labels)} for {self.nodes} nodes")
            object.__setattr__(self, "labels", _read_only(labels))

    @classmethod
    def from_edges(cls, edges: Any, *, nodes: Any = None, labels: Any = None) -> Graph:
        """A graph from an (m, 2) array or a pair of arrays of node ids, integers or text.

        ``nodes`` is the number n of nodes, whose ids are then 0 … n − 1, or the list of all ids. Without it the nodes
        are those that occur, in increasing order, and that set is treated as public.
        ``labels`` names the nodes of an edge list of positions; the number of labels is the number of nodes.
        """
        if labels is not None:
            names = check_labels(labels, name="labels")
            if nodes is not None and (not hasattr(nodes, "__index__") or int(nodes) != len(names)):
                raise ParameterError(
                    "labels name the positions 0, 1, …: nodes must be their number, or absent"
                )
            numbered = number_edges(*split_columns(edges), nodes=len(names))
            return cls._from_numbered(NumberedEdges(numbered.sources, numbered.targets, len(names), names))
        return cls._from_numbered(number_edges(*split_columns(edges), nodes=nodes))

    @classmethod
    def read(
        cls, path: str | PathLike[str], *, nodes: Any = None, header: bool | None = None, ids: str = "auto"
    ) -> Graph:
        """A graph from a file of edges: text or CSV, either of them gzipped, or Parquet.

        One edge per line, two ids between blanks, a tab, a comma or a semicolon; lines that begin with # or %
        are comments. What follows the two ids is **ignored**, since nothing here asks for weights; it must be numbers
        (weights, times) or one ``{…}`` as networkx writes it, as many on every line, so that a file of another kind
        is not taken for an edge list. Parquet has two columns, or columns ``source`` and ``target``.

        ``ids`` says what ids are: "integer", "text", or "auto" (as in the first line). ``header`` says whether the
        first line names the columns; None finds out where ids are integers. ``nodes`` as in `from_edges`: without it
        the set of nodes with at least one edge is treated as public.
        """
        return cls._from_numbered(read_edges(path, nodes=nodes, header=header, ids=ids))

    @classmethod
    def of(cls, source: Any, *, nodes: Any = None) -> Graph:
        """A graph from what the caller holds.

        A numpy array of shape (m, 2), a pair of arrays, a list of pairs, a scipy.sparse adjacency matrix, a networkx
        or igraph graph, an Arrow table or a pandas or polars frame of two columns or with columns ``source`` and
        ``target``, the path of a file, or a Graph. Weights and other attributes are ignored (a matrix has no edge where
        it has a zero), self-loops and parallel edges are dropped, and directed graphs are refused: say by
        ``to_undirected()`` that one edge stands for both directions.

        Matrices and graphs bring their own node set; for the others ``nodes`` is as in `from_edges`.
        The nodes of a networkx graph are numbered in the order of their labels, or of ``nodes`` where it lists them
        all; labels without an order of their own (such as objects) need that list.
        """
        if isinstance(source, cls):
            if nodes is not None:
                raise ParameterError("a Graph brings its own nodes: leave nodes out")
            return source
        if isinstance(source, str | PathLike):
            return cls.read(source, nodes=nodes)
        return cls._from_numbered(convert_edges(source, nodes=nodes))

    @classmethod
    def _from_numbered(cls, edges: NumberedEdges) -> Graph:
        offsets, neighbours, loops, duplicates = compress(edges.sources, edges.targets, edges.nodes)
        graph = object.__new__(cls)  # rows from `compress` need no check, which takes as long as making them
        labels = None if edges.labels is None else _read_only(edges.labels)
        dropped = Secret(Dropped(int(loops), int(duplicates)))
        for name, value in zip(cls.__slots__, (offsets, neighbours, labels, dropped), strict=True):
            object.__setattr__(graph, name, _read_only(value) if isinstance(value, np.ndarray) else value)
        return graph

    @property
    def nodes(self) -> int:
        """The number of nodes, which is public."""
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        """The number of edges, which is the owner's to know."""
        return len(self.neighbours) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """The degree of every node."""
        return np.diff(self.offsets)

    def neighbours_of(self, position: int) -> NDArray[np.int32]:
        """The neighbours of a node, increasing."""
        return self.neighbours[self.offsets[position] : self.offsets[position + 1]]

    def edge_list(self) -> NDArray[np.int64]:
        """All edges as positions (u, v) with u < v, in order."""
        origins = np.repeat(np.arange(self.nodes), self.degrees)
        once = origins < self.neighbours
        return np.stack([origins[once], self.neighbours[once].astype(np.int64)], axis=1)

    def label_of(self, position: int) -> Any:
        """The label of the node at a position."""
        if not 0 <= position < self.nodes:
            raise ParameterError(f"position must be in 0 … {self.nodes - 1}, got {position!r}")
        if self.labels is None:
            return int(position)
        label = self.labels[position]
        return label.item() if isinstance(label, np.generic) else label

    def index_of(self, label: Any) -> int:
        """The position of the node with this label."""
        if self.labels is None:
            if hasattr(label, "__index__") and not isinstance(label, bool) and 0 <= int(label) < self.nodes:
                return int(label)
        elif self.labels.dtype != object:
            found = np.flatnonzero(self.labels == label)
            if len(found):
                return int(found[0])
        else:
            for position, known in enumerate(self.labels):
                if known == label:
                    return position
        raise ParameterError(f"{label!r} is not the label of a node")

    def __repr__(self) -> str:
        return f"Graph(nodes={self.nodes})"


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
