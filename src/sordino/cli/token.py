"""`sordino token`: who may ask a server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import console, plain_table, print_json, printable

if TYPE_CHECKING:
    from sordino.server.tokens import Token

token = typer.Typer(name="token", help="Who may ask a server: tokens, shown once and kept as hashes.")
TokensFile = Annotated[
    str, typer.Option("--tokens", "-t", metavar="FILE", help="The server's tokens, kept as hashes.")
]


@token.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Who may ask a server: tokens, shown once and kept as hashes."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@token.command("add")
def add_token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose budget pays, as in the policy.")],
    tokens: TokensFile = "sordino.tokens",
    owner: Annotated[bool, typer.Option("--owner", help="May also see accounts and exact answers.")] = False,
    expires: Annotated[
        str | None, typer.Option(help="After how long, such as '30 days'; else never.")
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Make a token and show it, this once; makes the file if there is none.

    [bold]Examples[/bold]

    \b
      sordino token add ann
      sordino token add owner --owner --expires "30 days"
    """
    from sordino.server.tokens import Tokens

    with Tokens(tokens, create=True) as book:
        text, made = book.add(name, owner=owner, expires=expires)
    if as_json:
        print_json({"token": text} | made.to_dict())
        return
    print(text)
    print(f"this is shown once; it is token {made.id} of {printable(name)}", file=sys.stderr)


@token.command("list")
def list_tokens(tokens: TokensFile = "sordino.tokens", as_json: ask.Json = False) -> None:
    """All tokens that were made: whose they are and whether they still open, not themselves.

    [bold]Examples[/bold]

    \b
      sordino token list
      sordino token list --tokens shop.tokens --json
    """
    from sordino.server.tokens import Tokens

    with Tokens(tokens) as book:
        found = book.all()
    if as_json:
        print_json({"tokens": [item.to_dict() for item in found]})
        return
    table = plain_table("")
    for heading in ("token", "name", "role", "made", "state"):
        table.add_column(heading)
    for item in found:
        table.add_row(
            item.id, printable(item.name), "owner" if item.owner else "analyst", item.made, _state(item)
        )
    console().print(table)


@token.command("revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(metavar="TOKEN", help="Its short name, as 'list' shows it.")],
    tokens: TokensFile = "sordino.tokens",
    as_json: ask.Json = False,
) -> None:
    """Close a token for good: it stops working at the next request.

    [bold]Examples[/bold]

    \b
      sordino token list
      sordino token revoke poox24hj
    """
    from sordino.server.tokens import Tokens

    with Tokens(tokens) as book:
        revoked = book.revoke(token_id)
    if as_json:
        print_json(revoked.to_dict())
        return
    print(f"token {revoked.id} of {printable(revoked.name)} is revoked")


def _state(token: Token) -> str:
    if token.revoked is not None:
        return f"revoked {token.revoked}"
    if token.expires is None:
        return "open"
    return f"open until {token.expires}" if token.valid else f"ended {token.expires}"
