"""What commands write: one JSON document, or text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sordino.core import EngineError
from sordino.core.json_form import json_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from sordino.curator.description import Description, TableDescription

_PIPE_WIDTH = 132


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


def print_description(described: Description | TableDescription, as_json: bool) -> None:
    """What may be asked about, as text or as one JSON document."""
    if as_json:
        print_json(described.to_dict())
        return
    for line in str(described).split("\n"):
        print(printable(line))


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


def printable(text: str) -> str:
    """Text from a file as one line without control characters."""
    return text if text.isprintable() else repr(text)
