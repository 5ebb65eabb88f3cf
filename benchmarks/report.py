"""Tables of results, the targets they are held against, and the page they go to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    *(
        ROOT / "docs" / "benchmarks" / page
        for page in ("index.md", "sql.md", "users.md", "trees.md", "series.md", "logs.md", "server.md")
    ),
    ROOT / "docs" / "theory" / "solver.md",
)


@dataclass(frozen=True, slots=True)
class Check:
    """A target and what was measured."""

    target: str
    measured: str
    met: bool

    def line(self) -> str:
        return f"{'met' if self.met else '**missed**'}: {self.target}: {self.measured}"


@dataclass(frozen=True, slots=True)
class Report:
    """One question's table."""

    marker: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    checks: Sequence[Check] = ()
    raw: dict[str, Any] = field(default_factory=dict)

    def markdown(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        checks = "\n".join(f"* {check.line()}" for check in self.checks)
        return f"{table}\n\n{checks}" if checks else table


def interleaved(
    methods: dict[str, Callable[[], float]], rounds: int, *, warm_up: bool = True
) -> dict[str, list[float]]:
    """Seconds per round of every method, taking turns so that what else the machine does hits all alike."""
    if warm_up:  # imports, caches, page faults
        interleaved(methods, 1, warm_up=False)
    times: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name, method in methods.items():
            times[name].append(method())
    return times


def medians(times: dict[str, list[float]]) -> dict[str, float]:
    return {name: median(found) for name, found in times.items()}


def rewrite(marker: str, text: str) -> None:
    """Put a text between its markers in the pages that have them."""
    pattern = re.compile(f"(<!-- {marker} -->\n).*?(\n<!-- /{marker} -->)", re.DOTALL)
    found = [page for page in PAGES if pattern.search(page.read_text())]
    if not found:
        raise SystemExit(f"no page has a place marked {marker}")
    for page in found:
        page.write_text(pattern.sub(lambda match: match.group(1) + text + match.group(2), page.read_text()))
