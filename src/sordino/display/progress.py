"""A progress bar where a person watches: a terminal or a notebook. Pipes and files see nothing."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from sordino.display.html import join_html, render_bar

_QUIET_SECONDS = 1.0
_TICK_SECONDS = 0.1
_one_bar = threading.Lock()


class Step(Protocol):
    """Tells the bar how far the work is."""

    def __call__(self, done: float, total: float, text: str = "") -> None:
        """Show ``done`` of ``total``."""


class Bar(Protocol):
    """A place where a bar is shown."""

    def show(self, done: float, total: float, text: str) -> None:
        """Draw it."""

    def close(self) -> None:
        """Leave nothing behind."""


@contextmanager
def show_progress(title: str, *, wanted: bool | None = None, quiet: float | None = None) -> Iterator[Step]:
    """A bar for the work inside, once it has taken ``quiet`` seconds (1 unless given); it goes away with the work.

    ``wanted``: None shows it on terminals and in notebooks, True everywhere (as text on the error stream), False
    nowhere. The work says how far it is by calling what it is given, as often as it likes.
    """
    make_bar = None if wanted is False else _find_place(wanted)
    if make_bar is None or not _one_bar.acquire(blocking=False):  # work within work that has a bar has none
        yield lambda done, total, text="": None
        return
    patience = _QUIET_SECONDS if quiet is None else quiet
    started = shown = time.monotonic()
    bar: Bar | None = None

    def step(done: float, total: float, text: str = "") -> None:
        nonlocal bar, shown
        now = time.monotonic()
        if now - started < patience or (bar is not None and now - shown < _TICK_SECONDS):
            return
        if bar is None:
            bar = make_bar(title, started)
        shown = now
        bar.show(done, total, text)

    try:
        yield step
    finally:
        _one_bar.release()
        if bar is not None:
            bar.close()


def _find_place(wanted: bool | None) -> Callable[[str, float], Bar] | None:
    if in_notebook():
        return NotebookBar
    return TerminalBar if wanted or sys.stderr.isatty() else None


def in_notebook() -> bool:
    """Whether this is a notebook's kernel: an IPython that has a kernel, and not a terminal."""
    loaded = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded is not None and hasattr(loaded, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """A bar below the cell that is running: IPython alone is needed for it, no widgets."""

    def __init__(self, title: str, started: float) -> None:
        from IPython.display import HTML, display

        self._title = title
        self._started = started
        self._html = HTML
        self._handle: Any = display(HTML(""), display_id=True)

    def show(self, done: float, total: float, text: str) -> None:
        """Draw it anew."""
        share = done / total if total else 0.0
        seconds = time.monotonic() - self._started
        label = f"{self._title}  {share:.0%}  {seconds:.0f} s  {text}"
        self._handle.update(self._html(join_html(render_bar(share, label))))

    def close(self) -> None:
        """An empty output."""
        self._handle.update(self._html(""))


class TerminalBar:
    """A bar on the error stream."""

    def __init__(self, title: str, started: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[text]}"),
            console=Console(stderr=True, force_terminal=True, force_jupyter=False),
            transient=True,
        )
        self._progress.start()
        self._task = self._progress.add_task(title, total=1.0, text="")
        self._progress.tasks[0].start_time = started

    def show(self, done: float, total: float, text: str) -> None:
        """Move it on."""
        self._progress.update(self._task, completed=done, total=total, text=text)

    def close(self) -> None:
        """Wipe it away."""
        self._progress.stop()
