"""`sordino demo`: private answers on public data, and one HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli.output import console, plain_table, print_json
from sordino.core import ParameterError
from sordino.core.parameters import positive
from sordino.display.progress import show_progress

if TYPE_CHECKING:
    from rich.table import Table

    from sordino.demo.questions import Answer

_WORK = 8  # seven questions and the report


def demo(
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The privacy loss of each question.")
    ] = 1.0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the report goes.")] = Path(
        "sordino-report.html"
    ),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write the HTML report.")] = False,
) -> None:
    """Answer several private questions on public data, and write one self-contained HTML report.

    Every error stands beside that of the usual mechanism at the same ε,
    which is named. They are exact, from the laws, and may be shown because
    the data are public; on your own data they would be confidential.

    [bold]Examples[/bold]

    \b
      sordino demo
      sordino demo --epsilon 0.5 --output report.html
      sordino demo --json --no-report
    """
    positive("epsilon", epsilon)
    if not no_report and (output.is_dir() or not output.resolve().parent.is_dir()):
        raise ParameterError(f"--output must be a file in a directory that exists, got {output}")
    from sordino.demo.questions import answers

    found: list[Answer] = []
    with show_progress("demo", quiet=0.0) as step:
        step(0, _WORK, "")
        for answer in answers(epsilon):
            found.append(answer)
            step(len(found), _WORK, answer.question)
        if not no_report:
            from sordino.demo.report import html_report

            _write(output, html_report(found, epsilon))
    if as_json:
        print_json(
            {
                "epsilon": epsilon,
                "data_is_public": True,
                "answers": [answer.to_dict() for answer in found],
                "report": None if no_report else str(output),
            }
        )
        return
    _print(found, epsilon, None if no_report else output)


def _guarantees(found: list[Answer]) -> Table:
    from rich.table import Table
    from rich.text import Text

    lines = Table.grid(padding=(0, 1))
    lines.add_column(justify="right")
    lines.add_column()
    for number, answer in enumerate(found, start=1):
        how = f"{answer.mechanism}, against: {answer.baseline} ({answer.measure})"
        lines.add_row(str(number), Text(how))
        if answer.sql:
            lines.add_row("", Text(answer.sql))
        lines.add_row("", Text(str(answer.guarantee), style="dim"))
        if answer.remark:
            lines.add_row("", Text(answer.remark, style="italic"))
    return lines


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"cannot write {path}: {(error.strerror or 'refused').lower()}") from None


def _print(found: list[Answer], epsilon: float, report: Path | None) -> None:
    from sordino.demo.questions import text_of

    table = plain_table(f"Private answers, ε = {epsilon:g} each")
    table.add_column("", justify="right")
    table.add_column("question")
    table.add_column("private\nanswer", justify="right", style="bold", no_wrap=True)
    table.add_column("\nexact", justify="right", style="dim", no_wrap=True)
    table.add_column("error,\nSordino", justify="right", no_wrap=True)
    table.add_column("error,\nusual", justify="right", no_wrap=True)
    table.add_column("Sordino's\nerror is", justify="right", no_wrap=True)
    for number, answer in enumerate(found, start=1):
        colour = "green" if answer.ratio > 1.02 else "yellow" if answer.ratio >= 0.98 else "red"
        table.add_row(
            str(number),
            answer.question,
            text_of(answer.answer),
            text_of(answer.exact),
            answer.shown(answer.error),
            answer.shown(answer.baseline_error),
            f"[{colour}]{answer.verdict}[/{colour}]",
        )
    out = console()
    out.print(table)
    out.print("\nUsual: the mechanism named below after 'against', at the same ε.")
    out.print(
        "The exact answers and errors are shown because the demo's data are public. On private data they are "
        "confidential: only the private answer and its guarantee may leave.\n"
    )
    out.print("[bold]How, and with what guarantee[/bold]")
    out.print(_guarantees(found))
    out.print("\nAnswers about the same data add up: two questions at ε cost 2ε.")
    if report is not None:
        out.print(f"Report: {report}", markup=False, soft_wrap=True)
