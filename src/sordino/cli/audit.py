"""`sordino audit`: prove the shipped mechanisms, refute the broken ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli.output import Step, console, plain_table, print_json, progress

if TYPE_CHECKING:
    from sordino.audit.zoo import Verdict

_FAILED = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict beside what was expected; numbers are None where the auditor has none."""

    family: str
    name: str
    universe: str
    passed: bool
    verdict: str
    pairs: int | None
    worst_epsilon: float | None
    claimed_epsilon: float | None
    delta: float | None
    slack: float | None


def audit(
    zoo: Annotated[bool, typer.Option("--zoo", help="Only the zoo of broken mechanisms.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller universes; under a minute.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Prove the shipped mechanisms on small universes, and refute a zoo of broken ones.

    A proof enumerates every pair of neighbouring databases of a small
    universe and compares the exact output laws. Each animal of the zoo must
    be refuted and its repaired sibling accepted: an auditor that cannot fail
    proves nothing. Exit code 1 if any check does not come out as it should.

    [bold]Examples[/bold]

    \b
      sordino audit --quick
      sordino audit --zoo
      sordino audit --json > audit.json
    """
    rows = []
    with progress("audit") as step:
        tasks = list(_tasks(zoo=zoo, quick=quick))
        for index, (name, task) in enumerate(tasks):
            step(index, len(tasks), name)
            rows.append(task(_within(step, index, len(tasks), name)))
    passed = all(row.passed for row in rows)
    if as_json:
        print_json({"passed": passed, "checks": [asdict(row) for row in rows]})
    else:
        _print_table(rows)
    if not passed:
        raise typer.Exit(_FAILED)


Report = Callable[[int, int], None]
Task = Callable[[Report], Row]


def _within(step: Step, index: int, count: int, name: str) -> Report:
    """The progress of one check as a part of the whole."""
    return lambda done, total: step(index + done / total, count, name)


def _tasks(*, zoo: bool, quick: bool) -> Iterator[tuple[str, Task]]:
    from sordino.audit.zoo import Specimen, specimens
    from sordino.cli.proofs import Check, ProfileClaim, checks

    def proved(check: Check | ProfileClaim) -> Task:
        return lambda report: _row(
            "shipped", check.name, check.universe.name, check.run(report), expected=True
        )

    def refuted(specimen: Specimen) -> Task:
        return lambda report: _row("broken", specimen.name, specimen.claim, specimen.refute(), expected=False)

    def repaired(specimen: Specimen) -> Task:
        return lambda report: _row(
            "repaired", specimen.name, specimen.claim, specimen.repaired(), expected=True
        )

    if not zoo:
        for check in checks(quick=quick):
            yield check.name, proved(check)
    for specimen in specimens():
        yield specimen.name, refuted(specimen)
        yield specimen.name, repaired(specimen)


def _row(family: str, name: str, universe: str, verdict: Verdict, *, expected: bool) -> Row:
    from sordino.audit import Attack, ProfileCheck

    passed = verdict.holds is expected
    match verdict:
        case ProfileCheck():
            text = "bound holds" if verdict.holds else "bound too small"
            return Row(family, name, universe, passed, text, verdict.pairs, None, None, None, None)
        case Attack():
            text = "not refuted" if verdict.holds else "refuted by attack"
            found, claimed = verdict.epsilon_lower_bound, verdict.claimed
            slack = None if claimed is None else claimed - found
            return Row(family, name, universe, passed, text, None, found, claimed, verdict.delta, slack)
    text = "proved" if verdict.holds else "refuted"
    return Row(
        family,
        name,
        universe,
        passed,
        text,
        verdict.pairs,
        verdict.worst_epsilon,
        verdict.epsilon,
        verdict.delta,
        verdict.slack,
    )


def _print_table(rows: list[Row]) -> None:
    out = console()
    shipped = [row for row in rows if row.family == "shipped"]
    if shipped:
        _print_part("Shipped mechanisms: every neighbouring pair of a small universe", shipped, "universe")
    _print_part("The zoo: broken mechanisms must be refuted, their repaired siblings accepted", rows, "kind")
    pairs = sum(row.pairs or 0 for row in rows)
    failed = [row for row in rows if not row.passed]
    found = (
        "all as they should be" if not failed else f"[bold red]{len(failed)} not as they should be[/bold red]"
    )
    out.print(f"{len(rows)} checks over {pairs:,} ordered pairs: {found}.")
    for row in failed:
        out.print(f"[red]failed:[/red] {row.family} {row.name}: {row.verdict}")


def _print_part(title: str, rows: list[Row], second: str) -> None:
    table = plain_table(title)
    table.add_column("mechanism")
    table.add_column(second, style="dim")
    for name in ("pairs", "worst ε", "claimed ε", "δ", "slack"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        if (row.family == "shipped") == (second == "universe"):
            colour = "green" if row.passed else "bold red"
            table.add_row(
                row.name,
                row.universe if second == "universe" else row.family,
                "" if row.pairs is None else f"{row.pairs:,}",
                _number(row.worst_epsilon),
                _number(row.claimed_epsilon),
                "" if not row.delta else f"{row.delta:g}",
                _slack(row.slack),
                f"[{colour}]{row.verdict}[/{colour}]",
            )
    console().print(table)


def _number(value: float | None) -> str:
    return "" if value is None else "∞" if value == float("inf") else f"{value:.4f}"


def _slack(value: float | None) -> str:
    if value is None:
        return ""
    if value == float("-inf"):
        return "-∞"
    return "0" if abs(value) < 5e-7 else f"{value:.2g}"
