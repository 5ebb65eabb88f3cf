"""`sordino audit`: prove the shipped mechanisms, refute the broken ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sordino.cli.exit_codes import FAILED_CLAIM
from sordino.cli.output import console, plain_table, print_json
from sordino.display.progress import Step, show_progress

if TYPE_CHECKING:
    from rich.table import Table

    from sordino.audit.zoo import Verdict


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
    with show_progress("audit", quiet=0.0) as step:
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
        raise typer.Exit(FAILED_CLAIM)


Report = Callable[[int, int], None]
Task = Callable[[Report], Row]


def _within(step: Step, index: int, count: int, name: str) -> Report:
    """The progress of one check as a part of the whole."""
    return lambda done, total: step(index + done / total, count, name)


def _tasks(*, zoo: bool, quick: bool) -> Iterator[tuple[str, Task]]:
    from sordino.audit.zoo import Specimen, specimens
    from sordino.testing.claims import Check, ProfileClaim, checks

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
            text = "holds" if verdict.holds else "too small"
            return Row(family, name, universe, passed, text, verdict.pairs, None, None, None, None)
        case Attack():
            text = "survived" if verdict.holds else "refuted"
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
    if any(row.family == "shipped" for row in rows):
        out.print(_shipped_table([row for row in rows if row.family == "shipped"]))
        out.print()
    broken = [row for row in rows if row.family == "broken"]
    out.print(_zoo_table(broken, [row for row in rows if row.family == "repaired"]))
    pairs = sum(row.pairs or 0 for row in rows)
    failed = [row for row in rows if not row.passed]
    found = (
        "all as they should be" if not failed else f"[bold red]{len(failed)} not as they should be[/bold red]"
    )
    out.print(f"\n{len(rows)} checks over {pairs:,} ordered pairs: {found}.")
    for row in failed:
        out.print(f"[red]failed:[/red] {row.family} {row.name}: {row.verdict}")


def _shipped_table(rows: list[Row]) -> Table:
    table = plain_table("Shipped mechanisms: every neighbouring pair of a small universe")
    table.add_column("mechanism")
    for name in ("pairs", "worst ε", "claimed", "slack", "verdict"):
        table.add_column(name, justify="right", no_wrap=True)
    universe = ""
    for row in rows:
        if row.universe != universe:
            universe = row.universe
            table.add_row(f"[italic dim]{universe}[/italic dim]")
        claimed = "" if row.claimed_epsilon is None else f"{row.claimed_epsilon:g}"
        table.add_row(
            f"  {row.name}",
            "" if row.pairs is None else f"{row.pairs:,}",
            _number(row.worst_epsilon),
            f"{claimed}, δ {row.delta:g}" if row.delta else claimed,
            _slack(row.slack),
            _coloured(row),
        )
    return table


def _zoo_table(broken: list[Row], repaired: list[Row]) -> Table:
    table = plain_table("The zoo: broken mechanisms must be refuted, their repaired siblings accepted")
    table.add_column("mechanism")
    for name in ("pairs", "claimed\nε", "broken:\nworst ε", "\nverdict", "repaired:\nworst ε", "\nverdict"):
        table.add_column(name, justify="right", no_wrap=True)
    for one, other in zip(broken, repaired, strict=True):
        table.add_row(
            one.name,
            "" if one.pairs is None else f"{one.pairs:,}",
            "" if one.claimed_epsilon is None else f"{one.claimed_epsilon:g}",
            _number(one.worst_epsilon),
            _coloured(one),
            _number(other.worst_epsilon),
            _coloured(other),
        )
    return table


def _coloured(row: Row) -> str:
    colour = "green" if row.passed else "bold red"
    return f"[{colour}]{row.verdict}[/{colour}]"


def _number(value: float | None) -> str:
    return "" if value is None else "∞" if value == float("inf") else f"{value:.4f}"


def _slack(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if abs(value) < 5e-7 else f"{value:.2g}"
