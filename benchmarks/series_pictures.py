"""The pictures of docs/series.md: ``python benchmarks/series_pictures.py`` draws them anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sordino as sd
from sordino.display.lines import Line, draw_lines

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "img"


def draw_totals() -> None:
    """A year of daily changes, ε = 1 for all of it, and a Kalman filter on top."""
    days = np.arange(365)
    changes = np.random.default_rng(2).poisson(6 + 4 * np.sin(2 * np.pi * days / 365))
    changes -= np.random.default_rng(3).poisson(5, 365)
    tree = sd.series.SubtractionTree(horizon=365, epsilon=1.0)
    release = tree.extend(changes)
    noises = (tree.deviations(release.times) ** 2).tolist()
    smoothed = sd.series.Kalman(step_variance=12.0, noise_variance=noises).filter(release.value.tolist())
    figure = release.plot(
        smoothed=smoothed.estimates, title="members of a club, day by day: subtraction tree, ε = 1"
    )
    figure.savefig(IMAGES / "series_totals.png", dpi=110)


def draw_errors() -> None:
    """The deviation of every total up to the horizon, by mechanism."""
    horizon, times = 365, np.arange(1, 366)
    trees = {
        "block tree, base 2": sd.series.BlockTree(horizon, 1.0, base=2),
        "block tree, base 20 (auto)": sd.series.BlockTree(horizon, 1.0),
        "subtraction tree, base 28 (auto)": sd.series.SubtractionTree(horizon, 1.0),
    }
    lines = [Line(name, times.tolist(), tree.deviations(times).tolist()) for name, tree in trees.items()]
    lines.append(Line("every change by itself", times.tolist(), np.sqrt(times * 1.84).tolist()))
    figure = draw_lines(
        lines, title="standard deviation of a running total, ε = 1 for 365 times", label="time"
    )
    figure.savefig(IMAGES / "series_errors.png", dpi=110)


if __name__ == "__main__":
    draw_totals()
    draw_errors()
