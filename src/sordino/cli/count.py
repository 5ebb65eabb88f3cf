"""`sordino count`: release a count of a graph."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from sordino.cli import graph_options as graph
from sordino.cli.output import print_json
from sordino.mechanisms.names import CountMechanismName, CountName, SubgraphMechanismName, list_names


def count(
    file: graph.File,
    what: Annotated[
        str,
        typer.Argument(help="edges, triangles, k_stars, k_triangles or degree_histogram.", metavar="WHAT"),
    ],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The privacy loss to spend; must be > 0.")
    ],
    delta: Annotated[float, typer.Option(help="For laplace, lln and levels noise.")] = 0.0,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help=f"Of subgraphs: {list_names(SubgraphMechanismName)} (k_triangles also levels); of edges: "
            "discrete_laplace; of degrees: cumulative or bins. By default what measures best."
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", "--k", help="Of k_stars and k_triangles.")] = None,
    max_degree: Annotated[
        int | None, typer.Option(help="Public bound on the degrees, for the histogram.")
    ] = None,
    nodes: graph.Nodes = None,
    header: graph.Header = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Release a count of a graph's edges, triangles, stars or degrees, and the guarantee.

    [bold]Examples[/bold]

    \b
      sordino count friends.txt triangles --epsilon 1
      sordino count friends.txt k_stars -k 3 --epsilon 0.5 --json
      sordino count friends.txt k_triangles --epsilon 1 \\
          --delta 1e-6 --mechanism levels
      sordino count friends.txt degree_histogram --epsilon 1 \\
          --max-degree 100

    One edge is protected; the set of nodes is public. Where it is sensitive
    who has no edge at all, say by --nodes which nodes there are.
    """
    from sordino.graphs import count as release_count

    release = release_count(
        graph.read_graph(file, nodes, header),
        cast(CountName, what),
        epsilon=epsilon,
        delta=delta,
        mechanism=cast(CountMechanismName | None, mechanism),
        k=k,
        max_degree=max_degree,
    )
    if as_json:
        print_json({"what": what} | release.to_dict())
        return
    answer = release.to_dict()["value"]
    print(" ".join(map(str, answer)) if isinstance(answer, list) else answer)
    print(f"{release.mechanism}: {release.guarantee}")
