"""`sordino workflow`: what a workflow costs, who sees what in a process, and when something leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli.output import print_json, printable
from sordino.core import ParameterError

if TYPE_CHECKING:
    from sordino.workflow import FlowTable

workflow = typer.Typer(
    name="workflow",
    help="Follow data through a process of several parties; nothing here reads data.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

_File = Annotated[
    str, typer.Argument(help="A process: .yaml, .json, or BPMN 2.0 (.bpmn, .xml).", metavar="FILE")
]
_Objects = Annotated[str | None, typer.Option(help="Only these objects: a,b.", metavar="a,b")]
_Split = Annotated[bool, typer.Option("--split", help="A row for each object, protected or not.")]
_Columns = Annotated[bool, typer.Option("--columns", help="By columns, where tasks are queries.")]
_Conditions = Annotated[bool, typer.Option("--conditions", help="Print the conditions of each 'if' below.")]
_Csv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@workflow.command("cost")
def show_cost(
    file: Annotated[str, typer.Argument(help="A workflow: .yaml or .json.", metavar="FILE")],
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            "-s",
            help="For steps given as SQL: CREATE TABLE statements, or a policy (.yaml, .json).",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds of the solver for each query and table.")] = 10.0,
    as_json: _Json = False,
) -> None:
    """Tell what everything released costs, per unit of every input.

    Paths multiply, inputs of one step add, releases add; what is made of a release
    costs nothing more.

    [bold]Examples[/bold]

    \b
      sordino workflow cost shop.yaml
      sordino workflow cost shop.yaml --schema schema.sql --json
    """
    from sordino.workflow import Workflow

    cost = Workflow.load(Path(file)).cost(sql_sensitivity=_solver(schema, timeout))
    if as_json:
        print_json(cost.to_dict())
    else:
        print(cost)


@workflow.command("disclosure")
def show_disclosure(
    file: _File, split: _Split = False, objects: _Objects = None, as_csv: _Csv = False, as_json: _Json = False
) -> None:
    """Tell who sees which object: V visible, O owner, H hidden, - not at all.

    [bold]Example[/bold]

    \b
      sordino workflow disclosure process.yaml --split
    """
    from sordino.workflow import Process

    _print(
        Process.load(Path(file)).disclosure(split=split, objects=_names(objects)),
        as_csv=as_csv,
        as_json=as_json,
    )


@workflow.command("dependencies")
def show_dependencies(file: _File, as_csv: _Csv = False, as_json: _Json = False) -> None:
    """Tell which inputs reach which party: D directly, I in what it sees, H hidden only.

    [bold]Example[/bold]

    \b
      sordino workflow dependencies process.yaml
    """
    from sordino.workflow import Process

    _print(Process.load(Path(file)).dependencies(), as_csv=as_csv, as_json=as_json)


@workflow.command("leaks")
def show_leaks(
    file: _File,
    objects: _Objects = None,
    columns: _Columns = False,
    conditions: _Conditions = False,
    as_csv: _Csv = False,
    as_json: _Json = False,
) -> None:
    """Tell when something of an input is in an object: never, always, or if some conditions hold.

    [bold]Example[/bold]

    \b
      sordino workflow leaks process.yaml --objects result --conditions
    """
    from sordino.workflow import Process

    table = Process.load(Path(file)).leaks(objects=_names(objects), columns=columns)
    _print(table, as_csv=as_csv, as_json=as_json)
    if conditions and not (as_csv or as_json):
        print()
        for cells in table.rows.values():
            for cell in cells:
                if cell.text == "if":
                    print(printable(cell.why))


@workflow.command("page")
def write_page(
    file: _File,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The page to write.", metavar="FILE.html")
    ] = "process.html",
    as_json: _Json = False,
) -> None:
    """Write one page: the process drawn with its parties as lanes, and all tables, explained.

    It needs no network. Every cell says why when it is pointed at or reached by the keyboard.

    [bold]Example[/bold]

    \b
      sordino workflow page process.yaml -o process.html
    """
    from sordino.workflow import Process
    from sordino.workflow.page import write_process_page

    text = write_process_page(Process.load(Path(file)), name=Path(file).stem)
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"{output} cannot be written: {str(error.strerror).lower()}") from None
    if as_json:
        print_json({"page": output, "bytes": len(text.encode())})
    else:
        print(f"written: {output}")


def _print(table: FlowTable, *, as_csv: bool, as_json: bool) -> None:
    if as_csv and as_json:
        raise ParameterError("give --csv or --json, not both")
    if as_json:
        print_json(table.to_dict())
        return
    if as_csv:
        print(table.to_csv(), end="")
        return
    for line in str(table).split("\n"):
        print(printable(line))
    print(f"\n{table.legend}")
    for warning in table.warnings:
        print(f"warning: {printable(warning)}")


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _solver(
    schema: str | None, timeout: float
) -> Callable[[Mapping[str, str]], Mapping[str, Mapping[str, int | None]]] | None:
    if schema is None:
        return None
    path = Path(schema)
    is_policy = path.suffix.casefold() in (".yaml", ".yml", ".json")
    try:
        given: str | Path = path if is_policy else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ParameterError(f"{schema} cannot be read as text") from None

    def solve(queries: Mapping[str, str]) -> Mapping[str, Mapping[str, int | None]]:
        from sordino.sql.solver import workflow_sensitivity

        return workflow_sensitivity(queries, given, timeout=timeout)

    return solve
