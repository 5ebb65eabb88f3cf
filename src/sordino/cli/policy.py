"""`sordino policy`: write a first policy from a catalogue, and check one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.cli import question_options as ask
from sordino.cli.exit_codes import BROKEN_DECLARATION
from sordino.cli.output import console, owners_words, plain_table, print_json, printable
from sordino.cli.query import Target
from sordino.core import ParameterError

if TYPE_CHECKING:
    from sordino.curator.row_check import RowCheck

policy = typer.Typer(
    name="policy",
    help="What the owner declares about a data set: tables, types, bounds, groups, budgets.",
    rich_markup_mode="rich",
)


@policy.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """What the owner declares about a data set: tables, types, bounds, groups, budgets."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@policy.command()
def init(
    target: Target,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; standard output otherwise."),
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="The data set's name in the ledger.")] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--users",
            metavar="TABLE.COLUMN",
            help="The key of someone who is protected with all their rows; may be repeated.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: ask.Json = False,
) -> None:
    """Write a commented policy from the catalogue; reads no rows.

    Every table is private, every budget is commented out: what is public
    is for the owner to say. Keys, foreign keys and enumerations are the
    database's own.

    [bold]Examples[/bold]

    \b
      sordino policy init shop/ -o shop.yaml
      sordino policy init postgresql://localhost/shop \\
          --users customers.id > shop.yaml
    """
    from sordino.engines import connect
    from sordino.sql.policy.text import write_policy

    if output is not None and Path(output).exists() and not force:
        raise ParameterError(f"{output} exists: give --force to replace it, or another name")
    with connect(target) as engine:
        text = write_policy(engine.catalogue(), dataset or _dataset_name(target), users or ())
    if output is not None:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ParameterError(
                f"{output} cannot be written: {(error.strerror or 'error').lower()}"
            ) from None
    if as_json:
        print_json({"policy": text, "output": output})
    elif output is None:
        print(text, end="")
    else:
        print(f"wrote {output}: declare what is public, give budgets, then 'sordino policy check'")


@policy.command()
def check(
    target: Target,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The policy: YAML or JSON.")],
    rows: Annotated[
        bool, typer.Option("--rows", help="Count the rows that break it: NOT PRIVATE, for the owner.")
    ] = False,
    as_json: ask.Json = False,
) -> None:
    """Check a policy against a database's catalogue; reads no rows.

    With --rows it reads them: are keys unique, do foreign keys lead
    somewhere, do conditions hold, how many values lie beyond bounds and
    domains? NOT PRIVATE. The exit code is 3 where a key, a foreign key or
    a condition does not hold.

    [bold]Examples[/bold]

    \b
      sordino policy check shop/ shop.yaml
      sordino policy check postgresql://localhost/shop shop.yaml --rows
    """
    from sordino.curator import connect
    from sordino.curator.accounts import limit_of
    from sordino.curator.risk_words import say_budget

    with owners_words(), connect(target, policy=Path(file)) as curator:
        checked, distance = curator.policy, curator.distance
        looked = curator.check_rows().reveal() if rows else None
    found: dict[str, Any] = {
        "dataset": checked.dataset,
        "private": sorted(table.name for table in checked.tables.values() if table.private),
        "public": sorted(table.name for table in checked.tables.values() if not table.private),
        "budgets": sorted(checked.budgets),
        "risks": {
            analyst: say_budget(budget, limit_of(budget).amount.loss)
            for analyst, budget in checked.budgets.items()
            if budget.advantage is not None
        },
        "distance": str(distance),
        "weights": {
            table.name: float(table.weight)
            for table in checked.tables.values()
            if table.private and table.weight != 1
        },
    }
    if as_json:
        print_json(found if looked is None else found | {"rows": looked.to_dict()})
    else:
        _print_check(file, found)
        if looked is not None:
            _print_rows(looked)
    if looked is not None and not looked.holds:
        raise typer.Exit(BROKEN_DECLARATION)


def _print_check(file: str, found: dict[str, Any]) -> None:
    print(f"{file} fits {found['dataset']}: losses are per {found['distance']}")
    for name in ("private", "public", "budgets"):
        print(f"{name}: {', '.join(found[name]) or 'none'}")
    for analyst, said in found["risks"].items():
        print(f"{printable(analyst)}: {said}")
    for name, weight in found["weights"].items():
        print(
            f"{printable(name)}: weight {weight:g}: one row counts {weight:g}, so an answer of epsilon 1 protects a "
            f"single row with epsilon {weight:g}"
        )


def _print_rows(looked: RowCheck) -> None:
    from rich.markup import escape

    from sordino.curator.row_check import WARNING

    print(WARNING)
    table = plain_table("")
    for name in ("table", "declared", "rows against it", "of", "then"):
        table.add_column(name, overflow="fold")
    for finding in looked.findings:
        cells = (finding.table, finding.declared, str(finding.rows), str(finding.of))
        then = finding.then if finding.rows else "holds"
        table.add_row(*(escape(printable(cell)) for cell in cells), then)
    console().print(table)
    broken = sum(finding.broken for finding in looked.findings)
    print(f"broken: {broken}" if broken else "keys, foreign keys and conditions hold")


def _dataset_name(target: str) -> str:
    """The last part of a path or URL; what may hold a password is left out."""
    if "://" in target:
        name = target.rsplit("/", 1)[-1].split("?")[0]
        return Path(name).stem if name and "@" not in name and ":" not in name else "data"
    return Path(target).absolute().stem or "data"
