"""Which score should answer the ego betweenness question? Degree or brokerage, by the ε of one selection.

The overlap of both over a grid of ε/k, on four graphs and k = 5, 10, 20; then, for every threshold on ε/k, the
mean overlap of the rule "degree below, brokerage from there on", and the most it loses against the best of all.
"""

from __future__ import annotations

import graph_data
import numpy as np
import output
from graph_overlap import SIZES, Floats, brokerages, degree_proxy, overlaps
from matplotlib.figure import Figure

from sordino.graphs import ego_betweenness

SHARES = np.logspace(-2.5, 1.5, 17)
RUNS = 200
DEGREE = "degree proxy"
COLOURS = {
    DEGREE: "#2ca02c",
    "brokerage(0.3)": "#9ecae1",
    "brokerage(0.5)": "#1f77b4",
    "brokerage(0.7)": "#08306b",
}


Means = dict[str, dict[tuple[str, int], Floats]]


def rule(means: Means, score: str, threshold: int) -> tuple[float, float]:
    """Degree before the threshold's place and the score from there on: mean overlap, and the most it loses anywhere."""
    overlap, lost = [], 0.0
    for found in means.values():
        for k in SIZES:
            taken = np.where(np.arange(len(SHARES)) < threshold, found[DEGREE, k], found[score, k])
            best = np.max([found[method, k] for method in COLOURS], axis=0)
            overlap.append(taken.mean())
            lost = max(lost, float((best - taken).max()))
    return float(np.mean(overlap)), lost


def draw(means: Means) -> None:
    figure = Figure(figsize=(12, 11), layout="constrained")
    panels = figure.subplots(len(means), len(SIZES), sharex=True, sharey=True)
    for row, (name, found) in zip(panels, means.items(), strict=True):
        for axes, k in zip(row, SIZES, strict=True):
            for method, colour in COLOURS.items():
                axes.plot(SHARES, found[method, k], color=colour, label=method, linewidth=1.8)
            axes.set(xscale="log", ylim=(-0.02, 1.02), title=f"{name}, k = {k}")
            axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("ε/k (log scale)")
    for axes in panels[:, 0]:
        axes.set_ylabel("mean overlap")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    output.save_figure("graph_default", figure)


def report(means: Means) -> None:
    lines = []
    for place in range(len(SHARES) + 1):
        label = "degree always" if place == len(SHARES) else f"{SHARES[place]:.2g}"
        results = [rule(means, score, place) for score in list(COLOURS)[1:]]
        lines.append([label, *(f"{mean:.3f}, {lost:.2f}" for mean, lost in results)])
    header = [
        "brokerage from ε/k =",
        *(f"{score}: mean overlap, largest loss" for score in list(COLOURS)[1:]),
    ]
    output.rewrite("graph-default", output.table(header, lines))
    lines = []
    for name, found in means.items():
        for k in SIZES:
            cells = []
            for score in list(COLOURS)[1:]:
                ahead = found[score, k] >= found[DEGREE, k] - 0.005
                behind = np.flatnonzero(~ahead)
                start = 0 if not len(behind) else int(behind[-1]) + 1
                cells.append("never" if start == len(SHARES) else f"{SHARES[start]:.2g}")
            lines.append(
                [name, str(k), f"{found[DEGREE, k][-1]:.2f}"]
                + [
                    f"{cell} ({found[score, k][-1]:.2f})"
                    for cell, score in zip(cells, list(COLOURS)[1:], strict=True)
                ]
            )
    header = ["graph", "k", "degree, large ε"]
    header += [f"{score} not behind from ε/k (at large ε)" for score in list(COLOURS)[1:]]
    output.rewrite("graph-default-cases", output.table(header, lines))


def main() -> None:
    means: Means = {}
    for number, name in enumerate(graph_data.FILES):
        graph = graph_data.graph(name)
        truth = ego_betweenness(graph)
        grid = {k: SHARES * k for k in SIZES}
        runs = overlaps([degree_proxy(graph), *brokerages(graph)], truth, grid, RUNS, 100 + number)
        means[name] = {key: found.mean(axis=1) for key, found in runs.items()}
        print(f"   {name}", flush=True)
    output.write_csv(
        "graph_default",
        ["graph", "k", "epsilon_per_selection", *COLOURS],
        (
            (name, k, float(share), *(float(found[method, k][place]) for method in COLOURS))
            for name, found in means.items()
            for k in SIZES
            for place, share in enumerate(SHARES)
        ),
    )
    draw(means)
    report(means)


if __name__ == "__main__":
    main()
