"""`sordino sensitivity`: how many result rows one row can change, from a query and a schema alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from sordino.cli.output import console, plain_table, print_json
from sordino.core import ParameterError


def sensitivity(
    query: Annotated[str, typer.Argument(help="A file with one query.", metavar="QUERY.sql")],
    schema: Annotated[
        str,
        typer.Option(
            "--schema", "-s", help="A file with CREATE TABLE statements, or a policy (.yaml, .json)."
        ),
    ],
    table: Annotated[str | None, typer.Option(help="Rows of this table only.")] = None,
    cap: Annotated[int, typer.Option(help="Numbers from here on are not told apart.")] = 64,
    timeout: Annotated[
        float, typer.Option(help="Seconds for each table; late, the answer is unknown.")
    ] = 10.0,
    copies: Annotated[
        str, typer.Option(help="exact, or sum: occurrences of a table are added up, an upper bound.")
    ] = "exact",
    smt2: Annotated[
        str | None,
        typer.Option(
            "--smt2", help="Write the formula of each table's number to OUT, as SMT-LIB.", metavar="OUT"
        ),
    ] = None,
    witness: Annotated[
        bool, typer.Option("--witness", help="Show a database that attains the number, as INSERT statements.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Find how many result rows one row of each table can change.

    In any database that obeys the keys and checks of the schema: a number,
    unbounded, or what is known when the time is up. No data is read.

    [bold]Examples[/bold]

    \b
      sordino sensitivity query.sql --schema schema.sql
      sordino sensitivity query.sql -s schema.sql --table orders \\
          --witness
      sordino sensitivity query.sql -s policy.yaml --smt2 query.smt2
    """
    from sordino.sql.solver.search import Copies
    from sordino.sql.solver.text_sensitivity import sensitivity as find

    path = Path(schema)
    is_policy = path.suffix.casefold() in (".yaml", ".yml", ".json")
    found = find(
        _read(Path(query)),
        path if is_policy else _read(path),
        table=table,
        copies=cast(Copies, copies),
        cap=cap,
        timeout=timeout,
    )
    if smt2 is not None:
        texts = [f"; one row of {name}\n{one.formula}" for name, one in found.items() if one.formula]
        _write(Path(smt2), "(reset)\n".join(texts))
    if as_json:
        rows = [
            one.to_dict()
            | ({"witness": one.witness.to_dict()} if witness and one.witness is not None else {})
            for one in found.values()
        ]
        print_json({"tables": rows})
        return
    shown = plain_table("what one row can change")
    for column in ("table", "counted", "changes", "rows at most", "seconds", "formula"):
        shown.add_column(column, overflow="fold")
    for name, one in found.items():
        most = "–" if one.rows is None else str(one.rows)
        shown.add_row(name, one.counted, str(one), most, f"{one.seconds:.2f}", str(one.size))
    console().print(shown)
    assumed = next((one.assumed for one in found.values()), ())
    if assumed:
        print(f"between databases without NULL in {', '.join(assumed)}: the schema does not say NOT NULL")
    for one in found.values():
        if witness and one.witness is not None:
            print(f"\n-- without the last row, of {one.table}, {one.witness.number} {one.counted} change")
            print("\n".join(one.witness.statements()))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not UTF-8 text").lower()
        raise ParameterError(f"{path} cannot be read: {reason}; the query and the schema are files") from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"{path} cannot be written: {(error.strerror or 'error').lower()}") from None
