"""The error of a question against ε; matplotlib is imported when it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def draw_error_curve(points: Sequence[Mapping[str, Any]], *, title: str = "", warning: str = "") -> Any:
    """A matplotlib figure of what `explain` tells under ``error_against_epsilon``: both axes are logarithmic."""
    from sordino.display.figure import ShownFigure

    measure = "rho" if points and "rho" in points[0] else "epsilon"
    figure = ShownFigure(figsize=(5.6, 4.0), layout="constrained")
    axes = figure.add_subplot()
    budgets = [float(point[measure]) for point in points]
    for name in points[0]["error"] if points else ():
        axes.plot(
            budgets, [float(point["error"][name]) for point in points], marker="o", label=f"within, {name}"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("ρ" if measure == "rho" else "ε")
    axes.set_ylabel("largest error")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
    if title:
        axes.set_title(title.replace("$", r"\$"), fontsize=9, wrap=True)
    if warning:
        figure.suptitle(warning.replace("$", r"\$"), color="#b00020", fontsize=9, wrap=True)
    return figure
