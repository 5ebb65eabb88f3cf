"""`sordino ledger`: budgets of analysts, and the record of what was released."""

from __future__ import annotations

import csv
import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import console, plain_table, print_json, printable
from sordino.core import ParameterError
from sordino.core.parameters import did_you_mean

if TYPE_CHECKING:
    from sordino.ledger import Account, Event, Ledger

ledger = typer.Typer(
    name="ledger",
    rich_markup_mode="rich",
)

LedgerFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="The ledger: one SQLite file, or postgresql://user@host/database."),
]
DatasetFilter = Annotated[str | None, typer.Option("--dataset", help="Only this data set.")]
AnalystFilter = Annotated[str | None, typer.Option("--analyst", help="Only this analyst.")]
_LONGEST = 60  # of a text in the table: what a pipe or a wide terminal shows in one line

_ENDS = {"failure": "failure", "crash": "the process died", "withheld": "suspended meanwhile, no release"}


class TableKind(StrEnum):
    """What the rows of a table are."""

    PRIVATE = "private"
    VIEW = "view"
    PUBLIC = "public"


class Format(StrEnum):
    """How events are exported."""

    JSONL = "jsonl"
    CSV = "csv"


@ledger.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Budgets of analysts, and the record of what was released.

    The ledger is one file on a local disk, or in a PostgreSQL database. An
    answer is paid for there before it is drawn, and stored there before it
    is shown.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@ledger.command()
def grant(
    file: LedgerFile,
    dataset: Annotated[str, typer.Option(help="The data set's name, as in its policy.")],
    analyst: Annotated[str | None, typer.Option(help="Whose budget it is.")] = None,
    cap: Annotated[
        bool,
        typer.Option("--cap", help="In place of --analyst: the limit over all analysts of the data set."),
    ] = False,
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="In all; must be > 0.")] = None,
    delta: Annotated[float, typer.Option(help="In all, beside epsilon or rho.")] = 0.0,
    rho: Annotated[float | None, typer.Option(help="In place of --epsilon: zCDP in all.")] = None,
    at_delta: Annotated[
        float | None, typer.Option(help="The public delta at which rho is stated as (epsilon, delta).")
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Set what an analyst may spend in all; makes the file if there is none.

    It sets a total, it does not add: saying it twice changes nothing. What
    was spent stays spent, and a total below it leaves nothing. It holds
    until the policy says another number than it did before.

    [bold]Examples[/bold]

    \b
      sordino ledger grant shop.ledger --dataset shop --analyst ann -e 1
      sordino ledger grant shop.ledger --dataset shop --cap --epsilon 5 \\
          --delta 1e-6
      sordino ledger grant shop.ledger --dataset shop --analyst bob \\
          --rho 0.1 --at-delta 1e-6
    """
    from sordino.ledger import Ledger, Limit

    if cap == (analyst is not None):
        raise ParameterError("give exactly one of --analyst NAME and --cap")
    limit = Limit.of(epsilon=epsilon, delta=delta, rho=rho, at_delta=at_delta)
    _check_name("--dataset", dataset)
    _check_name("--analyst", "cap" if analyst is None else analyst)
    with Ledger.open(file) as book:
        known = book.accounts()
        account = book.set_cap(dataset, limit) if analyst is None else book.grant(dataset, analyst, limit)
    new = _new(account, known)
    if as_json:
        print_json(account.to_dict() | {"new": new or None})
        return
    remarks = [f"new {new}"] if new else []
    if not account.spent.within(limit.amount):
        remarks.append(f"{limit.shown(account.spent)} was spent before")
    remark = f" ({'; '.join(remarks)})" if remarks else ""
    print(f"{_whose(account)} on {printable(dataset)}: {account}{remark}")


@ledger.command()
def revoke(
    file: LedgerFile,
    dataset: Annotated[str, typer.Option(help="The data set's name, as in its policy.")],
    analyst: Annotated[str, typer.Option(help="Whose budget is taken back.")],
    as_json: ask.Json = False,
) -> None:
    """Take an analyst's budget back: nothing more may be spent.

    What was spent stays spent and counts in the cap. The budget stays gone
    until 'ledger grant', or a policy that says another number than it did
    before, gives one again.

    [bold]Examples[/bold]

    \b
      sordino ledger revoke shop.ledger --dataset shop --analyst ann
    """
    from sordino.ledger import Ledger

    with Ledger.open(file, create=False) as book:
        before = _chosen(book, dataset, analyst)[0]
        account = book.revoke(dataset, analyst)
    if as_json:
        print_json(account.to_dict() | {"revoked": not before.withdrawn})
        return
    spent = account.limit.shown(account.spent)
    remark = "had no budget" if before.withdrawn else f"no budget any more, was {before.limit}"
    print(f"{_whose(account)} on {printable(dataset)}: {remark}; {spent} was spent")


@ledger.command()
def resume(
    file: LedgerFile,
    dataset: Annotated[str, typer.Option(help="The data set's name, as in its policy.")],
    analyst: Annotated[str, typer.Option(help="Whose account it is.")],
    as_json: ask.Json = False,
) -> None:
    """Lift the suspension of an account; look first at what failed.

    A question that ends without an answer after it was paid for suspends its
    account, because whether it fails may depend on single rows. An analyst
    whose questions fail again and again may be asking just that: 'ledger
    history' shows them.

    [bold]Examples[/bold]

    \b
      sordino ledger history shop.ledger --analyst ann
      sordino ledger resume shop.ledger --dataset shop --analyst ann
    """
    from sordino.ledger import Ledger

    with Ledger.open(file, create=False) as book:
        before = _chosen(book, dataset, analyst)[0]
        account = book.resume(dataset, analyst)
    if as_json:
        print_json(account.to_dict() | {"resumed": before.suspended})
        return
    remark = "resumed" if before.suspended else "was not suspended"
    print(f"{_whose(account)} on {printable(dataset)}: {account} ({remark})")


@ledger.command()
def redeclare(
    file: LedgerFile,
    dataset: Annotated[str, typer.Option(help="The data set's name, as in its policy.")],
    table: Annotated[str, typer.Option(help="The table's name, as in the policy.")],
    kind: Annotated[
        TableKind, typer.Option("--as", help="What its rows are from now on; view is a private one.")
    ],
    as_json: ask.Json = False,
) -> None:
    """Record that a table is private or public from now on, whatever it was.

    A policy that contradicts what earlier answers promised is refused. This
    accepts the change: answers given before do not protect the rows of the
    table as later ones do. Another data set name, with budgets of its own,
    is the other way.

    [bold]Examples[/bold]

    \b
      sordino ledger redeclare shop.ledger --dataset shop --table places \\
          --as public
    """
    from sordino.ledger import Ledger

    with Ledger.open(file, create=False) as book:
        _chosen(book, dataset, None)
        before = book.tables(dataset).get(table.casefold())
        book.redeclare(dataset, table, kind.value)
    if as_json:
        print_json({"dataset": dataset, "table": table, "before": before, "now": kind.value})
        return
    change = "is" if before == kind.value else f"was {before} and is from now on"
    print(f"table {printable(table)} of {printable(dataset)} {change} {kind.value}")


@ledger.command()
def show(file: LedgerFile, dataset: DatasetFilter = None, as_json: ask.Json = False) -> None:
    """Show every account: its limit, what was spent and what is left.

    Checks first that every sum equals that of its events.

    [bold]Example[/bold]

    \b
      sordino ledger show shop.ledger
    """
    from sordino.ledger import Ledger

    with Ledger.open(file, write=False) as book:
        book.verify()
        accounts = _chosen(book, dataset, None)
        distances = {account.dataset: book.distance(account.dataset) for account in accounts}
    if as_json:
        print_json({"accounts": [_with_distance(account, distances) for account in accounts]})
        return
    if not accounts:
        print("no accounts: grant one with 'sordino ledger grant'")
        return
    table = plain_table("")
    for column in ("data set", "analyst", "limit", "spent", "left", "counted per"):
        table.add_column(column, overflow="fold")
    for account in accounts:
        table.add_row(
            *_plain(
                account.dataset,
                _whose(account),
                "none (withdrawn)" if account.withdrawn else str(account.limit),
                account.limit.shown(account.spent),
                account.limit.shown(account.left, left=True) + (" (suspended)" if account.suspended else ""),
                distances[account.dataset] or "not asked yet",
            )
        )
    console().print(table)
    if any(account.suspended for account in accounts):
        print(
            "suspended: a question failed after it was paid for; see 'ledger history', then 'ledger resume'"
        )


@ledger.command()
def verify(
    file: LedgerFile,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="ANCHOR", help="What 'ledger anchor' wrote: the ledger must have grown from it."
        ),
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Check the chain of the events and every sum; with an anchor, that this is the ledger of then.

    Writes nothing. Without an anchor an older copy, or a record that was
    chained anew by somebody who knows how, looks as good as the real one.

    [bold]Examples[/bold]

    \b
      sordino ledger verify shop.ledger
      sordino ledger verify shop.ledger --anchor /media/safe/shop.anchor
    """
    from sordino.ledger import Anchor, Ledger

    kept = None if anchor is None else Anchor.read(anchor)
    with Ledger.open(file, write=False) as book:
        last = book.verify(kept)
    if as_json:
        since = None if kept is None else last.number - kept.number
        print_json({"events": last.number, "hash": last.hash, "since_anchor": since})
        return
    grown = "" if kept is None else f", {last.number - kept.number} since the anchor of {kept.time}"
    print(f"{last.number} events{grown}: unbroken, and every sum is that of its events")


@ledger.command()
def anchor(
    file: LedgerFile,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="ANCHOR", help="A small file; keep it where no analyst writes."
        ),
    ],
    as_json: ask.Json = False,
) -> None:
    """Write down how far the ledger goes, for 'ledger verify --anchor'.

    An anchor that is there already is moved forward, after the ledger has
    been checked against it.

    [bold]Examples[/bold]

    \b
      sordino ledger anchor shop.ledger -o /media/safe/shop.anchor
    """
    from pathlib import Path

    from sordino.ledger import Anchor, Ledger

    kept = Anchor.read(output) if Path(output).exists() else None
    with Ledger.open(file, write=False) as book:
        fresh = book.anchor(kept)
    fresh.save(output)
    if as_json:
        print_json({"number": fresh.number, "hash": fresh.hash, "time": fresh.time})
        return
    print(f"anchored at event {fresh.number}")


@ledger.command()
def history(
    file: LedgerFile,
    dataset: DatasetFilter = None,
    analyst: AnalystFilter = None,
    as_json: ask.Json = False,
) -> None:
    """Show what happened, oldest first: grants, payments, releases, failures.

    SQL is shortened to one line; --json and 'ledger export' have everything.

    [bold]Examples[/bold]

    \b
      sordino ledger history shop.ledger
      sordino ledger history shop.ledger --dataset shop --analyst ann --json
    """
    events = _events(file, dataset, analyst)
    if as_json:
        print_json({"events": [event.to_dict() for event in events]})
        return
    if not events:
        print("no events")
        return
    table = plain_table("")
    for column in ("no.", "time (UTC)", "event", "data set", "analyst", "loss", "what"):
        table.add_column(column, overflow="fold")
    for event in events:
        table.add_row(
            *_plain(
                str(event.number),
                event.time[:19].replace("T", " "),
                event.kind,
                event.dataset,
                event.analyst or ("(cap)" if event.kind == "grant" else ""),
                _loss(event),
                _what(event),
            )
        )
    console().print(table)


@ledger.command()
def export(
    file: LedgerFile,
    form: Annotated[
        Format, typer.Option("--format", help="jsonl (one event per line) or csv.")
    ] = Format.JSONL,
    dataset: DatasetFilter = None,
    analyst: AnalystFilter = None,
    registry: Annotated[
        bool, typer.Option("--registry", help="One record for the Deployments Registry; needs --dataset.")
    ] = False,
    policy: Annotated[
        str | None, typer.Option("--policy", "-p", metavar="FILE", help="With --registry: what was declared.")
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=TEXT", help="With --registry: what only people know, such as region=Europe."
        ),
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Write every event with all its fields to standard output.

    [bold]Examples[/bold]

    \b
      sordino ledger export shop.ledger > events.jsonl
      sordino ledger export shop.ledger --format csv > events.csv
      sordino ledger export shop.ledger --registry --dataset shop \\
          --policy shop.yaml --state "curator=The shop" > record.json
    """
    if registry:
        _print_record(file, dataset, policy, state or [])
        return
    events = [event.to_dict() for event in _events(file, dataset, analyst)]
    if as_json:
        print_json({"events": events})
    elif form is Format.JSONL:
        for event in events:
            print(json.dumps(event, ensure_ascii=False))
    else:
        _write_csv(events)


def _print_record(file: str, dataset: str | None, policy: str | None, state: list[str]) -> None:
    from pathlib import Path

    from sordino.curator.deployment_record import make_deployment_record
    from sordino.ledger import Ledger
    from sordino.sql.policy import Policy

    if dataset is None:
        raise ParameterError("--registry needs --dataset: a record is about one data set")
    if wrong := [pair for pair in state if "=" not in pair]:
        raise ParameterError(f"--state is FIELD=TEXT, got {wrong[0]!r}")
    stated = dict(pair.partition("=")[::2] for pair in state)
    declared = None if policy is None else Policy.load(Path(policy))
    with Ledger.open(file, write=False) as book:
        print_json(make_deployment_record(book, dataset, policy=declared, stated=stated))


def _write_csv(events: list[dict[str, Any]]) -> None:
    from sordino.ledger import Event

    writer = csv.DictWriter(sys.stdout, list(Event.__slots__), lineterminator="\n")
    writer.writeheader()
    for event in events:
        writer.writerow(
            {
                name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
                for name, value in event.items()
            }
        )


def _events(file: str, dataset: str | None, analyst: str | None) -> list[Event]:
    from sordino.ledger import Ledger

    with Ledger.open(file, write=False) as book:
        _chosen(book, dataset, analyst)
        return book.history(dataset, analyst)


def _chosen(book: Ledger, dataset: str | None, analyst: str | None) -> list[Account]:
    """The accounts of a data set and an analyst; a name that the ledger does not know is a slip."""
    accounts = book.accounts()
    if dataset is not None:
        _check_known("data set", dataset, {account.dataset for account in accounts})
        accounts = [account for account in accounts if account.dataset == dataset]
    if analyst is not None:
        _check_known("analyst", analyst, {account.analyst for account in accounts} - {None})
        accounts = [account for account in accounts if account.analyst == analyst]
    return accounts


def _check_known(kind: str, name: str, known: set[Any]) -> None:
    if name not in known:
        others = f"known: {', '.join(sorted(known)) or 'none'}"
        raise ParameterError(
            f"this ledger has no {kind} {name!r}: {did_you_mean(name, known, otherwise=others)}"
        )


def _new(account: Account, known: list[Account]) -> str:
    """What a grant has made: a data set or an account, which may be a slip of the pen."""
    if all(other.dataset != account.dataset for other in known):
        return "data set"
    same = any((other.dataset, other.analyst) == (account.dataset, account.analyst) for other in known)
    return "" if same else "account"


def _check_name(option: str, value: str) -> None:
    """Before a file is made."""
    if not value.strip():
        raise ParameterError(f"{option} must not be empty")


def _whose(account: Account) -> str:
    return "(cap over all analysts)" if account.analyst is None else printable(account.analyst)


def _with_distance(account: Account, distances: dict[str, str | None]) -> dict[str, Any]:
    return account.to_dict() | {"distance": distances[account.dataset]}


def _loss(event: Event) -> str:
    from fractions import Fraction

    from sordino.ledger.amount_text import write_rounded_up

    losses = (("epsilon", event.epsilon), ("rho", event.rho), ("delta", event.delta))
    return ", ".join(
        f"{name} {write_rounded_up(Fraction(text))}" for name, text in losses if text not in (None, "0")
    )


def _what(event: Event) -> str:
    if event.kind == "commit":
        return f"release of reservation {event.reservation}"
    if event.kind == "refund":
        return f"reservation {event.reservation} given back"
    if event.kind == "suspend":
        return f"suspended: {_ENDS.get(event.scope or '', 'no release')} of reservation {event.reservation}"
    if event.kind == "resume":
        return "resumed by the owner"
    if event.kind in ("declare", "redeclare"):
        tables = (event.parameters or {}).get("tables", {})
        return _shortened(", ".join(f"{name} {kind}" for name, kind in tables.items()))
    if event.kind == "grant":
        said = "limit by the policy" if event.scope == "policy" else "limit"
        if event.scope == "revoked":
            return "revoked by the owner"
        withdrawn = event.delta == "0" and "0" in (event.epsilon, event.rho)
        return "withdrawn by the policy" if withdrawn else said
    question = (event.parameters or {}).get("question")
    if isinstance(question, str):
        return _shortened(question)
    return " · ".join(_shortened(part) for part in (event.mechanism, event.question) if part)


def _shortened(text: str) -> str:
    """One line of a length that a table can hold."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _plain(*cells: str) -> list[str]:
    from rich.markup import escape

    return [escape(printable(cell)) for cell in cells]
