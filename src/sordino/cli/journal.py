"""`sordino journal`: who asked a server for what, and whether the record is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json

journal = typer.Typer(name="journal", help="The record of who asked a server for what.")


@journal.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """The record of who asked a server for what."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@journal.command("verify")
def verify_chain(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The journal of a server.")],
    last: Annotated[
        str | None, typer.Option(metavar="HASH", help="A last hash that you kept: it must still be in it.")
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Check that no line of a journal was changed, removed or put in.

    Keep the hash that it prints in another place: with --last it also
    finds a journal whose end was cut off.

    [bold]Examples[/bold]

    \b
      sordino journal verify shop.ledger.journal
    """
    from sordino.server.journal import verify_journal

    count, found = verify_journal(file, last=last)
    if as_json:
        print_json({"lines": count, "last": found})
        return
    print(f"{count} lines, each as it was written; the last hash is {found}")
