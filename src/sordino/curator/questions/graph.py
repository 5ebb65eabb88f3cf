"""Counts of a graph and its most influential nodes, where the edges are the rows of a private table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sordino.core import ParameterError, Release, UnsupportedError
from sordino.core.loss import round_down
from sordino.core.parameters import choice, whole
from sordino.curator.dataset import DataSet
from sordino.curator.questions.sql import read_public
from sordino.curator.questions.workload import (
    WorkloadQuote,
    find_column,
    find_table,
    open_columns,
    quote_workload,
    split_name,
)
from sordino.engines import Table
from sordino.graphs import Graph, count, top_k
from sordino.graphs.metrics import METRICS
from sordino.mechanisms.names import CountName
from sordino.sql.lookups import make_table
from sordino.sql.policy import TablePolicy
from sordino.sql.question import write_literal

_ONE_EDGE = "a row holds one edge, so it adds or removes at most that"
_ID_KINDS = ("integer", "text")
_MOST_NODES = 50_000_000  # what a process can hold; their number is public


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """A count or a ranking over the graph whose edges are in two columns of a private table.

    ``nodes``: the ids of all nodes, which are public: the number n for 0 … n − 1, or a column ``table.column`` of a
    public table. Rows that name another node, or none, or one node twice are no edges.
    ``ask``: the library call, given the graph and what one row may cost.
    """

    edges: str
    nodes: int | str
    epsilon: Any
    what: str
    parameters: Mapping[str, Any]
    ask: Callable[[Graph, Fraction], Release]
    columns: tuple[str, str] | None = None

    def quote(self, data: DataSet) -> WorkloadQuote[Graph]:
        """The nodes are read now: they are public."""
        table, catalogued = find_table(data, self.edges)
        if not table.private:
            raise UnsupportedError(f"the rows of {table.name!r} are public: ask the database itself")
        ends = _find_ends(table, catalogued, self.columns)
        kinds = {column.name: column.type for column in catalogued.columns}
        if kinds[ends[0]] != kinds[ends[1]] or kinds[ends[0]] not in _ID_KINDS:
            raise UnsupportedError(
                f"the ids of nodes are two columns of integers or of text, got {kinds[ends[0]]} and {kinds[ends[1]]}"
            )
        ids = _read_nodes(data, self.nodes, kinds[ends[0]])
        return quote_workload(
            data,
            table,
            text=f"{self.what} OF {catalogued.name}({ends[0]}, {ends[1]})",
            parameters={**self.parameters, "nodes": self.nodes},
            epsilon=self.epsilon,
            nothing=_build(pa.table({"a": ids[:0], "b": ids[:0]}), ids),
            read=lambda snapshot: _build(snapshot.aggregate(_edge_query(catalogued.name, ends, ids)), ids),
            ask=self.ask,
            because=_ONE_EDGE,
        )


def count_question(
    edges: str,
    what: CountName,
    *,
    epsilon: Any,
    nodes: int | str,
    columns: tuple[str, str] | None,
    options: Mapping[str, Any],
) -> GraphQuestion:
    """`sordino.graphs.count` of a table of edges."""

    def ask(graph: Graph, per_row: Fraction) -> Release:
        return count(graph, what, epsilon=round_down(per_row), **options)

    return GraphQuestion(edges, nodes, epsilon, f"COUNT {what}", dict(options), ask, columns)


def top_k_question(
    edges: str,
    k: int,
    *,
    epsilon: Any,
    nodes: int | str,
    columns: tuple[str, str] | None,
    options: Mapping[str, Any],
) -> GraphQuestion:
    """`sordino.graphs.top_k` of a table of edges; a degree bound is kept by projection, never by a refusal."""
    choice("metric", options["metric"], tuple(METRICS))

    def ask(graph: Graph, per_row: Fraction) -> Release:
        return top_k(graph, k, epsilon=per_row, excess="project", **options)

    return GraphQuestion(edges, nodes, epsilon, f"TOP {k}", dict(options), ask, columns)


def _find_ends(table: TablePolicy, catalogued: Table, columns: tuple[str, str] | None) -> tuple[str, str]:
    if columns is None:
        open_ = [column.name for column in open_columns(table, catalogued)]
        if len(open_) != 2:
            raise ParameterError(
                f"table {table.name!r} has {len(open_)} columns that may be asked about: say which two hold the ids "
                "of nodes, columns=('source', 'target')"
            )
        return open_[0], open_[1]
    if not isinstance(columns, tuple | list) or len(columns) != 2:
        raise ParameterError(f"columns must be the two that hold the ids of nodes, got {columns!r}")
    source, target = (find_column(table, catalogued, name) for name in columns)
    return source, target


def _read_nodes(data: DataSet, nodes: int | str, kind: str) -> pa.Array:
    """The public ids, in order."""
    if not isinstance(nodes, str):
        number = whole("nodes", nodes, least=1)
        if kind != "integer" or number > _MOST_NODES:
            raise ParameterError(
                f"nodes must be a public column 'table.column' with the ids, got the number {number} and ids of "
                f"type {kind}"
            )
        return pa.array(np.arange(number, dtype=np.int64))
    name, column = split_name(nodes)
    table, catalogued = find_table(data, name)
    found = find_column(table, catalogued, column)
    if table.private:
        raise UnsupportedError(
            f"the nodes must be public, and {table.name!r} is private: give their number for ids 0, 1, …, or a "
            "column of a public table"
        )
    if next(one.type for one in catalogued.columns if one.name == found) != kind:
        raise ParameterError(f"the ids in {nodes!r} are not of the type of the edges, {kind}")
    asked = exp.column(found, table="t", quoted=True)
    query = (
        exp.select(exp.alias_(asked, "id", quoted=True))
        .from_(make_table(catalogued.name, "t"))
        .where(exp.Not(this=exp.Is(this=asked.copy(), expression=exp.null())))
        .group_by(asked.copy())
    )
    ids = read_public(data, lambda snapshot: snapshot.aggregate(query)).column(0).combine_chunks()
    if not len(ids):
        raise ParameterError(f"the public table has no ids in {nodes!r}: a graph must have at least one node")
    return ids.take(pc.sort_indices(ids))


def _edge_query(table: str, ends: tuple[str, str], ids: pa.Array) -> exp.Select:
    """Every pair of ends once; of numbers only those between ids: an engine may hold larger ones than can come back."""
    columns = [exp.column(end, table="t", quoted=True) for end in ends]
    named = [exp.alias_(column, name, quoted=True) for column, name in zip(columns, ("a", "b"), strict=True)]
    query = exp.select(*named).from_(make_table(table, "t")).group_by(*(column.copy() for column in columns))
    if not pa.types.is_integer(ids.type):
        return query
    low, high = (write_literal(ids[place].as_py()) for place in (0, len(ids) - 1))
    return query.where(*(exp.Between(this=column.copy(), low=low, high=high) for column in columns))


def _build(rows: pa.Table, ids: pa.Array) -> Graph:
    """The graph on all ids; a row whose ends are not two of them is no edge."""
    places = [pc.index_in(rows.column(name), value_set=ids) for name in ("a", "b")]
    known = pc.and_(pc.is_valid(places[0]), pc.is_valid(places[1]))
    source, target = (place.filter(known).to_numpy().astype(np.int64) for place in places)
    labels = ids.to_numpy(zero_copy_only=False)
    return Graph.from_edges((source, target), labels=labels)
