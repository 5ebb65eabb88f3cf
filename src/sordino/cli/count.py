"""`sordino count`: release a count of a graph."""

from __future__ import annotations

from typing import Annotated

import typer

from sordino.cli.output import print_json


def count(
    file: Annotated[
        str, typer.Argument(help="Edge list: text, CSV (also .gz) or Parquet, two columns of node labels.")
    ],
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
            help="Of subgraphs: ladder, zhang_ladder, student_t, cauchy, laplace, lln or global (k_triangles also "
            "levels); of degrees: cumulative or bins. By default what measures best."
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", "--k", help="Of k_stars and k_triangles.")] = None,
    max_degree: Annotated[
        int | None, typer.Option(help="Public bound on the degrees, for the histogram.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether a CSV of names begins with a line of column names."
        ),
    ] = None,
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

    One edge is protected; the set of nodes is public.
    """
    from sordino.graphs import Graph
    from sordino.graphs import count as release_count

    release = release_count(
        Graph.read(file, header=header),
        what,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        k=k,
        max_degree=max_degree,
    )
    if as_json:
        print_json({"what": what} | release.to_dict())
        return
    answer = release.to_dict()["value"]
    print(" ".join(map(str, answer)) if isinstance(answer, list) else answer)
    print(f"{release.mechanism}: {release.guarantee}")
