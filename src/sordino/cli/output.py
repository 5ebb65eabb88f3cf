"""What commands write: one JSON document, or text; progress only where a person watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from sordino.core import EngineError
from sordino.core.json_form import json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PIPE_WIDTH = 132


class Step(Protocol):
    """Tells the progress bar how far the work is."""

    def __call__(self, done: float, total: float, text: str) -> None:
        """Show ``done`` of ``total``."""


@contextmanager
def owners_words() -> Iterator[None]:
    """For commands that only the owner runs: what an engine itself said goes to standard error too."""
    try:
        yield
    except EngineError as error:
        if words := error.details.reveal():
            print(f"the engine's own words (they may hold data): {printable(words)}", file=sys.stderr)
        raise


def print_json(content: dict[str, Any]) -> None:
    """One document on standard output (`core/json_form.py`)."""
    print(json_text(content))


def console() -> Console:
    """Standard output through rich: as wide as the terminal, and wide enough for the tables in a pipe."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def plain_table(title: str) -> Table:
    """A table without vertical lines, so that it fits a narrow terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        collapse_padding=True,
        pad_edge=False,
    )


@contextmanager
def progress(title: str) -> Iterator[Step]:
    """A bar on standard error if that is a terminal, nothing otherwise."""
    if not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, text="")

        def step(done: float, total: float, text: str) -> None:
            bar.update(task, completed=done, total=total, text=text)

        yield step


def printable(text: str) -> str:
    """Text from a file as one line without control characters."""
    return text if text.isprintable() else repr(text)
