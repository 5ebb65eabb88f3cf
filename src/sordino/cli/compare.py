"""`sordino compare`: the exact errors of every selection mechanism on one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.cli import question_options as ask
from sordino.cli.output import console, plain_table, print_json

if TYPE_CHECKING:
    from sordino.mechanisms.selection import Comparison

_CONFIDENTIAL = (
    "Confidential: this table is computed from the data without noise. Study it on data you may see; choose a "
    "mechanism by public reasons, or on other data."
)


def compare(
    file: ask.File,
    epsilon: ask.Epsilon,
    score: ask.Score = None,
    sensitivity: ask.Sensitivity = None,
    profile: ask.ProfileFile = None,
    bound: ask.Bound = None,
    label: ask.Label = None,
    monotone: ask.Monotone = False,
    delta: ask.Delta = 0.0,
    step: ask.Step = None,
    distance: ask.NeighboursOption = ask.Neighbours.ADD_REMOVE,
    as_json: ask.Json = False,
) -> None:
    """Exact errors of every selection mechanism on one question. The table is [bold]confidential[/bold].

    Nothing is drawn and nothing is spent: the errors are computed from the
    exact laws on the data as they are.

    [bold]Examples[/bold]

    \b
      sordino compare votes.csv --score votes --sensitivity 1 --epsilon 1
      sordino compare nodes.csv --score centrality --label node \\
          --profile delta.csv --bound 7.5 --epsilon 2
      sordino compare votes.csv --score votes --sensitivity 1 \\
          --epsilon 1 --delta 1e-6 --monotone --json

    --label is used only to match the rows of --profile.
    """
    candidates = ask.read_candidates(
        file,
        score,
        label,
        sensitivity=sensitivity,
        profile=profile,
        bound=bound,
        distance=distance.distance,
    )
    from sordino.mechanisms.selection import compare as compare_all

    comparison = compare_all(
        candidates.scores,
        profile=candidates.profile,
        epsilon=epsilon,
        delta=delta,
        monotone=monotone,
        step=step,
        distance=distance.distance,
    )
    if as_json:
        print_json(
            {"confidential": True, "candidates": len(candidates.scores), "entries": comparison.to_dicts()}
        )
        return
    _print_table(comparison, len(candidates.scores))


def _print_table(comparison: Comparison, candidates: int) -> None:
    from rich.text import Text

    table = plain_table(f"Exact errors among {candidates} candidates, best first")
    table.add_column("mechanism")
    table.add_column("expected\nerror", justify="right")
    table.add_column("95 %\nerror", justify="right")
    table.add_column("P(best)", justify="right")
    table.add_column("loss", style="dim", no_wrap=True)
    for entry in comparison:
        if entry.expected_error is not None:
            table.add_row(
                f"{entry.mechanism} [dim]{_values(entry.options)}[/dim]",
                f"{entry.expected_error:.4g}",
                f"{entry.error_95:.4g}",
                f"{entry.best_probability:.3f}",
                entry.guarantee,
            )
    out = console()
    out.print(table)
    refused = [entry for entry in comparison if entry.reason is not None]
    if refused:
        out.print("Not applicable here:")
        for entry in refused:
            options = f" ({entry.options})" if entry.options else ""
            out.print(Text(f"  {entry.mechanism}{options}: {entry.reason}", style="dim"))
    out.print(Text(_CONFIDENTIAL, style="bold"))


def _values(options: str) -> str:
    """The choices without their names, which the values tell."""
    return ", ".join(choice.split(" ", 1)[-1] for choice in options.split(", "))
