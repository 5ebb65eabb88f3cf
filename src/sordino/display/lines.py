"""Lines over time with bands; matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_COLOURS = ("#4c78a8", "#e4572e", "#54a24b", "#b279a2")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: where its points are, how high, and how far off each may be (None: not known)."""

    name: str
    places: Sequence[Any]
    values: Sequence[float]
    radii: Sequence[float] | None = None


def draw_lines(
    lines: Sequence[Line], *, title: str = "", note: str = "", warning: str = "", label: str = "time"
) -> Any:
    """Lines in one chart, bands where radii are known; a matplotlib figure."""
    from sordino.display.figure import ShownFigure

    figure = ShownFigure(figsize=(8.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        if line.radii is not None:
            low = [value - radius for value, radius in zip(line.values, line.radii, strict=True)]
            high = [value + radius for value, radius in zip(line.values, line.radii, strict=True)]
            axes.fill_between(line.places, low, high, color=colour, alpha=0.18, lw=0)
        mark = "." if len(line.values) <= 80 and number == 0 else ""
        width = 1.0 if number == 0 else 1.8
        axes.plot(line.places, line.values, color=colour, lw=width, label=line.name, marker=mark, ms=4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(label, fontsize=9)
    axes.set_title(title.replace("$", r"\$"), loc="left", fontsize=10)
    axes.grid(axis="y", color="0.9", lw=0.6)
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=9)
    if warning:
        figure.suptitle(warning, color="#b00020", fontsize=9)
    if note:
        figure.supxlabel(note, fontsize=8, color="0.35")
    return figure
