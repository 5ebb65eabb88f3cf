"""`sordino topk`: release the most influential nodes of a graph."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, cast

import typer

from sordino.cli import graph_options as graph
from sordino.cli.output import print_json
from sordino.mechanisms.names import MetricName, TopKMechanismName, list_names


class Excess(StrEnum):
    """What to do with a node of more neighbours than declared."""

    REFUSE = "refuse"
    PROJECT = "project"


def topk(
    file: graph.File,
    k: Annotated[int, typer.Option("-k", "--k", help="How many nodes to release.")],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The privacy loss to spend; must be > 0.")
    ],
    metric: Annotated[
        str,
        typer.Option(help=f"{list_names(MetricName)}."),
    ] = "ego_betweenness",
    mechanism: Annotated[
        str,
        typer.Option(help=f"{list_names(TopKMechanismName)}; auto chooses by public parameters only."),
    ] = "auto",
    max_degree: Annotated[
        int | None,
        typer.Option(help="Public bound on every degree; the number of nodes less one unless declared."),
    ] = None,
    excess: Annotated[
        Excess,
        typer.Option(
            help="A node above max-degree: refuse the graph, or project it at three times the price."
        ),
    ] = Excess.REFUSE,
    delta: Annotated[float, typer.Option(help="Allows cheaper composition over many nodes.")] = 0.0,
    nodes: graph.Nodes = None,
    header: graph.Header = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Release the labels of k influential nodes, best first, and the guarantee.

    [bold]Examples[/bold]

    \b
      sordino topk friends.txt -k 10 --epsilon 1
      sordino topk friends.csv.gz -k 5 --epsilon 0.5 --metric triangles
      sordino topk friends.txt -k 3 --epsilon 1 --nodes people.txt
      sordino topk friends.parquet -k 20 --epsilon 3 \\
          --max-degree 500 --excess project --json

    One edge is protected; the set of nodes is public. Where it is sensitive
    who has no edge at all, say by --nodes which nodes there are.
    """
    from sordino.graphs import top_k

    release = top_k(
        graph.read_graph(file, nodes, header),
        k,
        epsilon=epsilon,
        metric=cast(MetricName, metric),
        mechanism=cast(TopKMechanismName, mechanism),
        max_degree=max_degree,
        excess=excess.value,
        delta=delta,
    )
    if as_json:
        print_json({"metric": metric, "k": k} | release.to_dict())
        return
    for label in release.value:
        print(label)
    print(f"{release.mechanism}: {release.guarantee}")
