"""What the commands on graphs ask for in common, and how it becomes a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sordino.graphs import Graph

File = Annotated[
    str, typer.Argument(help="Edge list: text, CSV (also .gz) or Parquet, two columns of node labels.")
]
Nodes = Annotated[
    str | None,
    typer.Option(
        "--nodes",
        metavar="N|FILE",
        help="All nodes, also those without an edge: their number (ids are then 0 … N - 1), or a file with one id per "
        "line. Without it the nodes that have an edge are taken for public.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether a CSV of names begins with a line of column names."),
]


def read_graph(file: str, nodes: str | None, header: bool | None) -> Graph:
    """The graph of a file; ``nodes`` of digits alone is a number, anything else the name of a file."""
    from sordino.graphs import Graph, read_nodes

    if nodes is None:
        return Graph.read(file, header=header)
    declared = int(nodes) if nodes.isascii() and nodes.isdigit() else read_nodes(nodes)
    return Graph.read(file, nodes=declared, header=header)
