"""Which score should answer the ego betweenness question? Degree or brokerage, by the ε of one selection.

The overlap of both over a grid of ε/k, on four graphs and k = 5, 10, 20; then, for every threshold on ε/k, what the
rule "degree below, brokerage from there on" loses against the better of the two, on average and at worst.
"""

from __future__ import annotations

import graph_data
import numpy as np
import output
from graph_overlap import SIZES, Floats, brokerages, degree_proxy, overlaps
from matplotlib.figure import Figure

from sordino.graphs import ego_betweenness

SHARES = np.logspace(-2.5, 1.5, 17)
RUNS = 300
DEGREE = "degree proxy"
COLOURS = {
    DEGREE: "#2ca02c",
    "brokerage(0.3)": "#9ecae1",
    "brokerage(0.5)": "#1f77b4",
    "brokerage(0.7)": "#08306b",
}


def losses(means: dict[str, dict[tuple[str, int], Floats]], score: str, threshold: int) -> Floats:
    """By case and ε/k: the better overlap of the two minus that of the rule with the threshold at this place."""
    rows = []
    for found in means.values():
        for k in SIZES:
            low, high = found[DEGREE, k], found[score, k]
            rule = np.where(np.arange(len(SHARES)) < threshold, low, high)
            rows.append(np.maximum(low, high) - rule)
    return np.array(rows)


def draw(means: dict[str, dict[tuple[str, int], Floats]]) -> None:
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


def main() -> None:
    means: dict[str, dict[tuple[str, int], Floats]] = {}
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
    lines = []
    for place in range(len(SHARES) + 1):
        label = "degree always" if place == len(SHARES) else f"{SHARES[place]:.2g}"
        cells = []
        for score in list(COLOURS)[1:]:
            found = losses(means, score, place)
            cells.append(f"{found.mean():.4f}, {found.max():.2f}")
        lines.append([label, *cells])
    header = ["brokerage from ε/k =", *(f"{score}: mean loss, worst" for score in list(COLOURS)[1:])]
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


if __name__ == "__main__":
    main()
