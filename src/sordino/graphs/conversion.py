"""Edges from the graphs and tables of other libraries; none of them is imported here."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.graphs.label_order import order_labels
from sordino.graphs.numbering import (
    NumberedEdges,
    check_labels,
    check_node_count,
    is_number,
    number_edges,
    read_ids,
)

_ACCEPTED = (
    "an (m, 2) array, a pair of arrays, a list of pairs, a scipy.sparse matrix, a networkx or igraph graph, "
    "an Arrow, pandas or polars table of two columns or with columns source and target, or a path"
)


def convert_edges(source: Any, *, nodes: Any = None) -> NumberedEdges:
    """Edges from any accepted kind of object."""
    modules = {kind.__module__.split(".")[0] for kind in type(source).__mro__}
    if "networkx" in modules and hasattr(source, "is_directed"):
        return _from_networkx(source, nodes)
    if "igraph" in modules and hasattr(source, "get_edgelist"):
        return _from_igraph(source, nodes)
    if "scipy" in modules and hasattr(source, "tocoo"):
        return _from_sparse(source, nodes)
    return number_edges(*split_columns(source), nodes=nodes)


def split_columns(source: Any) -> tuple[Any, Any]:
    """The two columns of a table, array, pair of arrays or list of pairs."""
    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise UnsupportedError("edges must be a table in memory: collect the lazy frame first")
    if isinstance(frame, nw.DataFrame):
        first, second = (_frame_column(frame, name) for name in _end_columns(frame.columns))
        return first, second
    if isinstance(source, tuple) and len(source) == 2 and not _is_pair_of_pairs(source):
        return source[0], source[1]
    if isinstance(source, np.ndarray):
        array = source
    elif isinstance(source, list | tuple):
        return _pairs(source)
    else:
        raise ParameterError(f"edges must be {_ACCEPTED}, got {type(source).__name__}")
    if array.size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        given = f"{array.ndim} axes" if array.ndim != 2 else f"(m, {array.shape[1]})"  # m is private
        raise ParameterError(
            f"edges must be an array of shape (m, 2), got {given}; "
            "an adjacency matrix goes through scipy.sparse.csr_array"
        )
    return array[:, 0], array[:, 1]


def _end_columns(names: list[str]) -> tuple[str, str]:
    """The columns that hold ids: source and target, as networkx names them, or the only two."""
    if {"source", "target"} <= set(names):
        return "source", "target"
    if len(names) != 2:
        raise ParameterError(
            f"edges must be a table of two columns, or have columns source and target; it has {len(names)}: "
            "select the two that hold ids"
        )
    return names[0], names[1]


def _is_pair_of_pairs(source: tuple[Any, Any]) -> bool:
    """Whether a tuple of two is two edges, each a tuple, and not two columns."""
    return all(isinstance(item, tuple) and len(item) == 2 for item in source)


def _pairs(source: Any) -> tuple[list[Any], list[Any]]:
    first, second = [], []
    for edge in source:
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise PrivateDataError("a list of edges must hold pairs of ids, and holds something else")
        first.append(edge[0])
        second.append(edge[1])
    return first, second


def _frame_column(frame: nw.DataFrame[Any], name: str) -> Any:
    column = frame.get_column(name)
    if column.null_count():
        raise PrivateDataError(f"column {name!r} holds nulls: drop those edges first")
    kind = column.dtype
    if not len(column):  # whatever its type: nobody has written an id
        return np.empty(0, np.int64)
    if kind.is_integer():
        return column.to_numpy()
    if kind in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return read_ids(np.array(column.to_list(), dtype=object))
    raise ParameterError(f"column {name!r} must hold integers or text, its type is {kind}")


def _from_networkx(source: Any, nodes: Any) -> NumberedEdges:
    if is_number(nodes):
        raise ParameterError(
            "a networkx graph brings its own nodes: leave nodes out, or list their labels to choose their order"
        )
    if source.is_directed():
        raise UnsupportedError("the graph is directed: pass graph.to_undirected()")
    if not len(source):
        raise ParameterError("the graph has no nodes")
    labels: Any = order_labels(source.nodes) if nodes is None else check_labels(nodes, name="nodes")
    if nodes is not None and not set(source.nodes) <= set(labels.tolist()):
        raise ParameterError("nodes must list every node of the graph: some are not among them")
    pairs = list(source.edges())
    return number_edges([u for u, _ in pairs], [v for _, v in pairs], nodes=labels)


def _from_igraph(source: Any, nodes: Any) -> NumberedEdges:
    if nodes is not None:
        raise ParameterError("an igraph graph brings its own nodes: leave nodes out")
    if source.is_directed():
        raise UnsupportedError("the graph is directed: pass graph.as_undirected()")
    count = check_node_count(source.vcount())
    ends = np.asarray(source.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    if "name" not in source.vs.attributes():
        return number_edges(ends[:, 0], ends[:, 1], nodes=count)
    names = check_labels(
        source.vs["name"], name="names"
    )  # in the order of the edges, where igraph met them there
    return number_edges(names[ends[:, 0]], names[ends[:, 1]], nodes=order_labels(names))


def _from_sparse(source: Any, nodes: Any) -> NumberedEdges:
    matrix = source.tocoo()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"an adjacency matrix must be square, got {matrix.shape}")
    count = check_node_count(matrix.shape[0])
    if nodes is not None:
        raise ParameterError("a matrix brings its own nodes: leave nodes out")
    if matrix.dtype.kind == "f" and np.isnan(matrix.data).any():
        raise PrivateDataError("the adjacency matrix contains NaN")
    filled = matrix.data != 0
    rows: NDArray[np.int64] = matrix.row[filled].astype(np.int64)
    columns: NDArray[np.int64] = matrix.col[filled].astype(np.int64)
    upper, lower = (np.sort(a * count + b) for a, b in ((rows, columns), (columns, rows)))
    if np.array_equal(upper, lower):
        once = rows <= columns  # a symmetric matrix holds every edge twice, which is no duplicate
        rows, columns = rows[once], columns[once]
    elif not ((rows <= columns).all() or (rows >= columns).all()):
        raise PrivateDataError("the adjacency matrix must be symmetric or triangular: graphs are undirected")
    return NumberedEdges(rows.astype(np.int32), columns.astype(np.int32), count, None)
