"""`sordino ranges`: what the answers of a query can be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.cli.output import print_json
from sordino.core import ParameterError

if TYPE_CHECKING:
    from sordino.sensitivity.interval import Interval
    from sordino.sql.constraints import ValueSet


def ranges(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A SELECT, or a file that holds it.")],
    constraints: Annotated[
        str, typer.Option("--constraints", "-c", metavar="FILE", help="What is known of the columns.")
    ],
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="TARGET",
            help="A folder of tables or a database: its exact columns are public and used as they are.",
        ),
    ] = None,
    subdivide: Annotated[int, typer.Option(help="Cut ranges into so many pieces, for narrower results.")] = 1,
    table: Annotated[
        str, typer.Option(help="The name of the answer in the constraints that are printed.")
    ] = "answer",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Tell what the columns of an answer can be, from what is known of the columns that a query reads.

    The answer is a constraint file again, so that steps chain. A file has
    lines such as

    \b
      ship.x range -300 300;      ship.id exact;
      ship.flag set 'EE' 'FI';    ship.speed normal 10 4;

    [bold]Examples[/bold]

    \b
      sordino ranges "SELECT SUM(x * y) AS s FROM t" -c t.att
      sordino ranges query.sql -c ships.att --data ships/ --subdivide 4
    """
    from sordino.sql.constraints import ranges as find_ranges

    sql = _read(query) if query.endswith(".sql") else query
    tables = None if data is None else _read_tables(data, sql)
    found = find_ranges(sql, _read(constraints), tables=tables, subdivide=subdivide)
    if as_json:
        print_json(
            {
                "columns": {name: _plain(possible) for name, possible in found.items()},
                "constraints": found.to_constraints(table),
            }
        )
        return
    print(found.to_constraints(table), end="")
    for name, possible in found.items():
        if f"{table}.{name} " not in found.to_constraints(table):
            print(f"-- {table}.{name}: {_say(possible)}")


def _say(possible: Interval | ValueSet | None) -> str:
    """What no constraint of a file says."""
    from sordino.sensitivity.interval import Interval

    if possible is None:
        return "always NULL"
    if isinstance(possible, Interval):
        return f"{possible.low:g} to {possible.high:g}, which no constraint says"
    return "nothing is known"


def _plain(possible: Interval | ValueSet | None) -> Any:
    from sordino.sensitivity.interval import Interval

    if possible is None:
        return None
    if isinstance(possible, Interval):
        return {"low": possible.low, "high": possible.high}
    return {"values": None if possible.values is None else sorted(possible.values, key=str)}


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ParameterError(f"{name} cannot be read: {reason.lower()}") from None


def _read_tables(target: str, sql: str) -> dict[str, Any]:
    """The tables that a query names, whole: for their owner."""
    from sqlglot import exp

    from sordino.engines import connect
    from sordino.sql.constraints.query import find_table_names

    named = find_table_names(sql)
    with connect(target) as engine, engine.snapshot() as snapshot:
        return {
            name: snapshot.aggregate(
                exp.select(*(exp.column(column.name, quoted=True) for column in described.columns)).from_(
                    exp.to_table(f'"{name}"')
                )
            )
            for name, described in engine.catalogue().items()
            if name.casefold() in named
        }
