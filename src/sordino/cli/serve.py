"""`sordino serve`: answer questions of people who do not hold the data."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json, printable
from sordino.cli.query import policy_path
from sordino.cli.token import TokensFile
from sordino.core import ParameterError


@dataclass(frozen=True, slots=True)
class Served:
    """What is served: the four files, and tokens that are shown at the start (of the demo alone)."""

    data: str
    policy: str
    ledger: str
    tokens: str
    shown: tuple[tuple[str, str], ...] = ()


def serve(
    data: Annotated[
        str | None, typer.Option("--data", "-d", metavar="TARGET", help="As for 'sordino query'.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", "-p", metavar="FILE", help="The owner's policy: YAML or JSON.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", "-l", metavar="FILE", help="The budgets; made if missing.")
    ] = None,
    tokens: TokensFile = "sordino.tokens",
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the example shop, with tokens that are shown at the start.")
    ] = False,
    journal: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Who asked what; hash-chained. LEDGER.journal unless given.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    http_port: Annotated[int, typer.Option(help="For the API and the console; -1 for none.")] = 8765,
    postgres_port: Annotated[int, typer.Option(help="For PostgreSQL's protocol; -1 for none.")] = 5433,
    flight_port: Annotated[int, typer.Option(help="For Arrow Flight SQL; -1 for none.")] = 8815,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", "-e", help="What a question over SQL protocols costs unless it says so."),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="TLS certificate chain, PEM.")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="FILE", help="Its private key, PEM.")] = None,
    workers: Annotated[int, typer.Option(help="Questions that are answered at once.")] = 4,
    rate: Annotated[float, typer.Option(help="Requests per second and token.")] = 20.0,
    proxies: Annotated[int, typer.Option(help="How many reverse proxies stand before the server.")] = 0,
    patience: Annotated[
        float, typer.Option(help="Seconds to log in, to send a request, to take an answer.")
    ] = 30.0,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Listen beyond this machine without TLS; needs the next one too."),
    ] = False,
    confirmed: Annotated[
        bool,
        typer.Option("--yes-without-encryption", help="Yes: tokens and answers can be read on the way."),
    ] = False,
    as_json: ask.Json = False,
) -> None:
    """Answer questions over HTTP, PostgreSQL's protocol and Flight SQL.

    Analysts ask with a token ('sordino token add NAME') and see what a
    session gives: releases that were paid for, and what is public. It
    listens on this machine alone unless told otherwise, until interrupted.

    [bold]Examples[/bold]

    \b
      sordino serve --demo
      sordino token add ann
      sordino serve --data shop/ --policy shop.yaml --ledger shop.ledger
      psql -h 127.0.0.1 -p 5433 -U ann shop        the token is the password
    """
    from sordino.curator import connect
    from sordino.ledger import Ledger
    from sordino.server.journal import Journal
    from sordino.server.log import log_to_standard_error
    from sordino.server.run import serve as run
    from sordino.server.service import Service
    from sordino.server.settings import Settings
    from sordino.server.tokens import Tokens

    if insecure and not confirmed:
        raise ParameterError("--insecure needs --yes-without-encryption too: nothing on the way is encrypted")
    if epsilon is not None and not epsilon > 0:
        raise ParameterError(f"epsilon must be > 0, got {epsilon}")
    settings = Settings(
        host=host,
        http_port=None if http_port < 0 else http_port,
        postgres_port=None if postgres_port < 0 else postgres_port,
        flight_port=None if flight_port < 0 else flight_port,
        epsilon=None if epsilon is None else str(epsilon),
        certificate=None if certificate is None else Path(certificate),
        key=None if key is None else Path(key),
        workers=workers,
        rate=rate,
        proxies=proxies,
        patience=patience,
        insecure=insecure,
    )
    served = _prepare_demo() if demo else _check_files(data, policy, ledger, tokens)
    if journal is None and "://" in served.ledger:
        raise ParameterError("a ledger in a database has no file to stand beside: give --journal FILE")

    def tell(addresses: dict[str, str]) -> None:
        if as_json:
            print_json(addresses | {"tokens": dict(served.shown)} if served.shown else addresses)
            return
        for protocol, address in addresses.items():
            print(f"{protocol:<8} {printable(address)}")
        for name, text in served.shown:
            print(f"token of {name}: {text}")
        print("Ctrl-C ends it", flush=True)

    log_to_standard_error()
    with (
        Tokens(served.tokens) as book,
        Ledger.open(served.ledger) as budgets,
        connect(served.data, policy=policy_path(served.policy), ledger=budgets) as curator,
    ):
        told = Journal(journal or f"{served.ledger}.journal")
        try:
            asyncio.run(run(Service(curator, budgets, book, told, settings), tell))
        finally:
            told.close()


def _check_files(data: str | None, policy: str | None, ledger: str | None, tokens: str) -> Served:
    if data is None or policy is None or ledger is None:
        raise ParameterError("give --data, --policy and --ledger, or --demo to serve the example shop")
    return Served(data, policy, ledger, tokens)


def _prepare_demo() -> Served:
    """The example shop in a folder of its own, which stays: what was spent there stays spent."""
    from sordino.demo.example_files import write_example_files
    from sordino.server.tokens import Tokens

    folder = Path("sordino-demo")
    try:
        write_example_files(folder)
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written: {(error.strerror or 'error').lower()}") from None
    tokens = str(folder / "shop.tokens")
    with Tokens(tokens, create=True) as book:
        shown = (
            ("ann", book.add("ann", expires="1 day")[0]),
            ("owner", book.add("owner", owner=True, expires="1 day")[0]),
        )
    return Served(str(folder / "shop"), str(folder / "shop.yaml"), str(folder / "shop.ledger"), tokens, shown)
