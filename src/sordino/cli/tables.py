"""`sordino tables`: what an analyst may know of a data set before asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_description
from sordino.cli.query import PolicyFile, Target
from sordino.core import ParameterError

if TYPE_CHECKING:
    from sordino.curator.description import Description, TableDescription


def tables(
    target: Target,
    policy: PolicyFile,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Only this table; all of them otherwise.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", "-l", metavar="FILE", help="Where the budgets are.")
    ] = None,
    analyst: Annotated[str | None, typer.Option("--analyst", "-a", help="Whose budget to show.")] = None,
    as_json: ask.Json = False,
) -> None:
    """List the tables that may be asked about; reads no rows.

    Columns with their types, bounds and domains, keys, and whose rows they
    are. Columns that the owner hides are left out. It costs nothing.

    [bold]Examples[/bold]

    \b
      sordino tables shop/ --policy shop.yaml
      sordino tables shop/ orders -p shop.yaml -l shop.ledger -a ann
    """
    from pathlib import Path

    from sordino.curator import connect
    from sordino.curator.description import describe_data, describe_table

    if ledger is not None and analyst is None:
        raise ParameterError("--ledger shows a budget: give --analyst too")
    with connect(target, policy=Path(policy), ledger=ledger) as curator:
        if table is not None:
            described: Description | TableDescription = describe_table(curator.data, table)
        else:
            described = describe_data(curator.data, analyst)
    print_description(described, as_json)
