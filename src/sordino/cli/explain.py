"""`sordino explain`: what a question would reveal, cost and miss; for the owner of the data."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from sordino.cli import question_options as ask
from sordino.cli.output import console, owners_words, plain_table, print_json, printable
from sordino.cli.query import (
    Analyses,
    Delta,
    ErrorShare,
    FiltersOption,
    Mechanism,
    NoiseOption,
    PolicyFile,
    Rho,
    Sql,
    Target,
    print_rows,
    shown,
    take_sql,
)
from sordino.core import ParameterError
from sordino.mechanisms.names import GridNoiseName, SqlMechanismName


def explain(
    target: Target,
    sql: Sql,
    policy: PolicyFile,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The privacy loss; must be > 0.")
    ] = None,
    delta: Delta = 0.0,
    rho: Rho = None,
    mechanism: Mechanism = None,
    noise: NoiseOption = None,
    error_share: ErrorShare = 0.0,
    analyses: Analyses = None,
    filters: FiltersOption = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Only the first lines, which say what matters.")
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option(
            help="Write a picture of the error against epsilon: FILE.png, .svg or .pdf.", metavar="FILE"
        ),
    ] = None,
    as_json: ask.Json = False,
) -> None:
    """Show the exact answer, the bounds and the noise of a question.

    NOT PRIVATE: for the owner of the data, who chooses epsilon by it. It
    spends nothing and writes nothing.

    [bold]Examples[/bold]

    \b
      sordino explain shop/ "SELECT COUNT(*) FROM orders JOIN items \\
          USING (order_id)" --policy shop.yaml --epsilon 0.5
      sordino explain shop/ "SELECT COUNT(*) FROM orders" \\
          -p shop.yaml -e 0.1 --brief
    """
    from pathlib import Path

    from sordino.curator import connect
    from sordino.sql.answering.brief import summarize

    if plot is not None and Path(plot).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ParameterError(f"a picture is written to FILE.png, FILE.svg or FILE.pdf, got {plot!r}")
    with owners_words(), connect(target, policy=Path(policy)) as curator:
        secret = curator.explain(
            take_sql(sql),
            epsilon,
            delta,
            rho=rho,
            mechanism=cast(SqlMechanismName | None, mechanism),
            noise=cast(GridNoiseName | None, noise),
            error_share=error_share,
            analyses=analyses or None,
            filters=filters,
        )
    facts = secret.reveal()
    if plot is not None:
        _write_plot(plot, facts)
    summary = summarize(facts)
    if as_json:
        kept = {"warning": facts["warning"]} if brief else facts
        print_json(kept | {"brief": summary.to_dict()})
        return
    print(facts["warning"])
    for line in summary.lines():
        print(printable(line))
    if not brief:
        print()
        _print(facts)


def _write_plot(name: str, facts: dict[str, Any]) -> None:
    from sordino.display.error_curve import draw_error_curve

    points = [point for point in facts["error_against_epsilon"] if all(point["error"].values())]
    figure = draw_error_curve(points, title=" ".join(facts["sql"].split()), warning=facts["warning"])
    try:
        figure.savefig(name, dpi=150)
    except OSError as error:
        raise ParameterError(f"{name} cannot be written: {str(error.strerror).lower()}") from None


def _print(facts: dict[str, Any]) -> None:
    if isinstance(facts["exact"], list):
        print("exact answer:")
        print_rows(facts["exact"])
    else:
        print(f"exact answer: {shown(facts['exact'])}")
    if "continuous" in facts and facts["continuous"] != facts["exact"]:
        print(f"continuous version, filters {facts['filters']}: {facts['continuous']}")
    for file in facts["files"]:
        if file["rows"] != file["lines"]:
            print(
                f"table {file['table']}: {file['lines']} lines make {file['rows']} rows. A quoted cell may span "
                "lines; a line with fewer cells than the header, or not in UTF-8, is left out"
            )
    print(f"{facts['mechanism']}: {facts['guarantee']}")
    print(f"budget: {facts['budget']}")
    if facts["risk"] is not None:
        print(f"risk: {facts['risk']}")
    _print_numbers(facts["numbers"])
    for number in facts["numbers"]:
        if number.get("bounds"):
            _print_bounds(number)
        if number.get("bounds_by_beta"):
            _print_bounds_by_beta(number)
    _print_epsilons(facts["error_against_epsilon"])
    count = len(facts["statements"])
    print(f"{count} statement{'s' if count > 1 else ''} in {facts['seconds']:.3f} s:")
    for statement in facts["statements"]:
        print(f"\n-- {statement['seconds']:.3f} s")
        print(statement["sql"])


def _print_numbers(numbers: list[dict[str, Any]]) -> None:
    table = plain_table("noise")
    errors = list(numbers[0]["error"])
    filtered = any(number.get("approximation") for number in numbers)
    for column in (
        "number",
        "continuous" if filtered else "exact",
        *(["off by filters"] if filtered else []),
        "smooth bound",
        "beta",
        "scale",
        *(f"error {name}" for name in errors),
        "global",
    ):
        table.add_column(column, overflow="fold")
    for number in numbers:
        table.add_row(
            _name(number),
            _shown(number["exact"]),
            *([_shown(number.get("approximation", 0.0))] if filtered else []),
            *(_shown(number[field]) for field in ("smooth_bound", "beta", "noise_scale")),
            *(_shown(number["error"][name]) for name in errors),
            _shown(number["global_sensitivity"]),
        )
    console().print(table)


def _print_bounds_by_beta(number: dict[str, Any]) -> None:
    """Where contents of cells are protected: c of every table."""
    bounds = number["bounds_by_beta"]
    table = plain_table(f"bounds of {_name(number)} by beta")
    for column in ("beta", *bounds):
        table.add_column(column, overflow="fold")
    for beta in next(iter(bounds.values())):
        table.add_row(beta, *(_shown(found[beta]) for found in bounds.values()))
    console().print(table)


def _print_bounds(number: dict[str, Any]) -> None:
    table = plain_table(f"bounds of {_name(number)}")
    for column in ("table", "analysis", "local bound", "smooth bound"):
        table.add_column(column, overflow="fold")
    for row in number["bounds"]:
        table.add_row(*(_shown(row.get(field)) for field in ("table", "analysis", "local", "smooth")))
    console().print(table)


def _print_epsilons(rows: list[dict[str, Any]]) -> None:
    measure = "rho" if rows and "rho" in rows[0] else "epsilon"
    table = plain_table(f"largest error against {measure}")
    table.add_column(measure)
    names = list(rows[0]["error"]) if rows else []
    for name in names:
        table.add_column(f"error {name}")
    for row in rows:
        table.add_row(_shown(row[measure]), *(_shown(row["error"][name]) for name in names))
    console().print(table)


def _name(number: dict[str, Any]) -> str:
    from rich.markup import escape

    group = ", ".join(f"{key} = {value}" for key, value in number["group"].items())
    return escape(printable(f"{number['aggregate']} where {group}" if group else number["aggregate"]))


def _shown(value: Any) -> str:
    from rich.markup import escape

    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, int | float) else escape(printable(str(value)))
