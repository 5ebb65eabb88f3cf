"""`sordino quantile`: release a value near a quantile of a column."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, cast

import typer

from sordino.cli.output import print_json
from sordino.core import Distance, add_remove_row, replace_row
from sordino.mechanisms.names import QuantileMechanismName, list_names


class Records(StrEnum):
    """What one change is."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"

    @property
    def distance(self) -> Distance:
        """The Distance of that name."""
        return replace_row() if self is Records.REPLACE else add_remove_row()


def quantile(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet with one row per record; '-' reads CSV from a pipe.")
    ],
    bounds: Annotated[
        tuple[float, float],
        typer.Option(help="Public range of the values; not read from the data.", metavar="LO HI"),
    ],
    step: Annotated[float, typer.Option(help="Public lattice: the answer is LO plus a multiple of it.")],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The privacy loss to spend; must be > 0.")
    ],
    column: Annotated[
        str | None,
        typer.Option(help="Column of numbers; may be left out if there is one column.", metavar="COLUMN"),
    ] = None,
    q: Annotated[float, typer.Option("-q", "--q", help="Which quantile, in (0, 1).")] = 0.5,
    mechanism: Annotated[
        str,
        typer.Option(help=f"{list_names(QuantileMechanismName)}; auto chooses by public parameters only."),
    ] = "auto",
    distance: Annotated[
        Records | None,
        typer.Option(
            help="What one change is: add-remove unless the mechanism is built for replace, with which the number of "
            "records is public."
        ),
    ] = None,
    clip: Annotated[
        bool,
        typer.Option("--clip", help="Move values outside the bounds to the nearer bound; refused otherwise."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Release a value near the q-quantile of a column, and the guarantee.

    [bold]Examples[/bold]

    \b
      sordino quantile pay.csv --column salary -q 0.5 \\
          --bounds 0 200000 --step 100 --epsilon 0.5
      sordino quantile pay.parquet --column salary -q 0.9 \\
          --bounds 0 200000 --step 100 --epsilon 1 --clip --json
      cat ages.csv | sordino quantile - --bounds 0 120 --step 1 \\
          --epsilon 0.1 --distance replace

    Bounds and step are part of the question: choose them without looking
    at the data.
    """
    from sordino.cli.read_table import read_table
    from sordino.cli.table import choose_column
    from sordino.stats import quantile as release_quantile

    table = read_table(file)
    release = release_quantile(
        table.numbers(choose_column(table, column, "--column")),
        q,
        bounds=bounds,
        step=step,
        epsilon=epsilon,
        mechanism=cast(QuantileMechanismName, mechanism),
        distance=None if distance is None else distance.distance,
        clip=clip,
    )
    if as_json:
        print_json({"q": q} | release.to_dict())
        return
    print(f"{release.value:.12g}")
    print(f"{release.mechanism}: {release.guarantee}")
