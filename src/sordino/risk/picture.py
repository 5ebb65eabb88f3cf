"""A picture of a trade-off: misses against false alarms, beside what blind guessing has."""

from __future__ import annotations

from typing import Any

import numpy as np

from sordino.risk.trade_off import TradeOff


def draw_trade_off(*curves: TradeOff) -> Any:
    """A matplotlib figure: one line per curve; the dashed one guesses blindly."""
    from sordino.display.figure import ShownFigure

    figure = ShownFigure(figsize=(5.6, 5.0), layout="constrained")
    axes = figure.add_subplot()
    rates = np.linspace(0, 1, 401)
    axes.plot(rates, 1 - rates, color="0.6", ls="--", lw=1, label="nothing is told")
    for curve in curves:
        axes.plot(rates, curve.misses(rates), lw=2, label=f"{curve.name}: advantage {curve.advantage:.3f}")
    axes.set_xlabel("false alarms: said to be in, and is not")
    axes.set_ylabel("misses at least: said to be out, and is in")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
