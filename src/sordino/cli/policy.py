"""`sordino policy`: write a first policy from a catalogue, and check one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import print_json, printable
from sordino.cli.query import Target
from sordino.core import ParameterError

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
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: ask.Json = False,
) -> None:
    """Write a commented policy from the catalogue; reads no rows.

    Every table is private, every budget is commented out: what is public
    is for the owner to say.

    [bold]Examples[/bold]

    \b
      sordino policy init shop/ -o shop.yaml
      sordino policy init postgresql://localhost/shop > shop.yaml
    """
    from sordino.engines import connect
    from sordino.sql.policy.text import write_policy

    if output is not None and Path(output).exists() and not force:
        raise ParameterError(f"{output} exists: give --force to replace it, or another name")
    with connect(target) as engine:
        text = write_policy(engine.catalogue(), dataset or _dataset_name(target))
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
    as_json: ask.Json = False,
) -> None:
    """Check a policy against a database's catalogue; reads no rows."""
    from sordino.curator import connect

    with connect(target, policy=Path(file)) as curator:
        checked, distance = curator.policy, curator.distance
    found: dict[str, Any] = {
        "dataset": checked.dataset,
        "private": sorted(table.name for table in checked.tables.values() if table.private),
        "public": sorted(table.name for table in checked.tables.values() if not table.private),
        "budgets": sorted(checked.budgets),
        "distance": str(distance),
        "weights": {
            table.name: float(table.weight)
            for table in checked.tables.values()
            if table.private and table.weight != 1
        },
    }
    if as_json:
        print_json(found)
        return
    print(f"{file} fits {checked.dataset}: losses are per {distance}")
    for name in ("private", "public", "budgets"):
        print(f"{name}: {', '.join(found[name]) or 'none'}")
    for name, weight in found["weights"].items():
        print(
            f"{printable(name)}: weight {weight:g}: one row counts {weight:g}, so an answer of epsilon 1 protects a "
            f"single row with epsilon {weight:g}"
        )


def _dataset_name(target: str) -> str:
    """The last part of a path or URL; what may hold a password is left out."""
    if "://" in target:
        name = target.rsplit("/", 1)[-1].split("?")[0]
        return Path(name).stem if name and "@" not in name and ":" not in name else "data"
    return Path(target).absolute().stem or "data"
