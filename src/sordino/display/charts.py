"""Charts of plain numbers; matplotlib is imported when one is drawn. No figure is kept open anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_BLUE, _LIGHT, _DARK = "#4c78a8", "#d9e2ec", "#333333"
_MOST_BARS = 60


@dataclass(frozen=True, slots=True)
class Bars:
    """One chart of bars: their names, how long they are, and how far off each may be (None: not known)."""

    title: str
    names: Sequence[str]
    values: Sequence[float | None]
    errors: Sequence[float | None] | None = None


def draw_bars(charts: Sequence[Bars], *, note: str = "", warning: str = "") -> Any:
    """Charts of bars from top to bottom, with whiskers where errors are known; a matplotlib figure.

    Of a long chart the first bars are drawn, and a line says how many are not.
    """
    from sordino.display.figure import ShownFigure

    most = max((min(len(chart.names), _MOST_BARS) for chart in charts), default=1)
    longest = max((len(name) for chart in charts for name in chart.names[:_MOST_BARS]), default=0)
    size = (min(5.5 + 0.08 * longest, 14.0), len(charts) * (0.9 + 0.28 * most) + 0.5)
    figure = ShownFigure(figsize=size, layout="constrained")
    for axes, chart in zip(figure.subplots(len(charts), 1, squeeze=False)[:, 0], charts, strict=True):
        _draw_chart(axes, chart)
    if warning:
        figure.suptitle(_plain(warning), color="#b00020", fontsize=9)
    if note:
        figure.supxlabel(_plain(note), fontsize=8, color="0.35")
    return figure


def _draw_chart(axes: Any, chart: Bars) -> None:
    shown = slice(0, _MOST_BARS)
    names = [_plain(name) for name in chart.names[shown]]
    heights = [0.0 if value is None else value for value in chart.values[shown]]
    places = range(len(names))
    axes.barh(places, heights, color=_BLUE, height=0.7)
    for place, error in zip(places, (chart.errors or [None] * len(chart.names))[shown], strict=True):
        if error is not None and chart.values[place] is not None:
            axes.errorbar(heights[place], place, xerr=error, color=_DARK, capsize=3, lw=1)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.axvline(0, color=_DARK, lw=0.8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    left_out = len(chart.names) - len(names)
    axes.set_title(
        _plain(chart.title) + (f" (and {left_out:,} more bars)" if left_out else ""), loc="left", fontsize=10
    )


def draw_share(filled: float, whole: float, *, title: str, label: str) -> Any:
    """One bar of a ``whole`` with its label, ``filled`` so far; a matplotlib figure."""
    from sordino.display.figure import ShownFigure

    figure = ShownFigure(figsize=(7.0, 1.3), layout="constrained")
    axes = figure.add_subplot()
    axes.barh([0], [whole], color=_LIGHT, height=0.5)
    axes.barh([0], [filled], color=_BLUE, height=0.5)
    axes.set_xlim(0, max(whole, filled) or 1.0)
    axes.set_ylim(-0.4, 0.4)
    axes.set_yticks([])
    axes.set_xticks([0.0, whole], ["0", _plain(label)])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(_plain(title), loc="left", fontsize=10)
    return figure


def _plain(text: str) -> str:
    """Text as it is: a pair of dollar signs is no formula."""
    return text.replace("$", r"\$")
