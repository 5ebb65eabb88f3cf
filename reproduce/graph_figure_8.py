"""Local dampening, Fig. 8: how a node's ego betweenness goes with its sensitivity, on Enron.

Beside the paper's δ(0), which depends on the degree only, the one from common neighbours, and the correlations.
"""

from __future__ import annotations

import graph_data
import numpy as np
import output
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from sordino.graphs import ego_betweenness
from sordino.graphs.metrics import EgoBetweenness

PROFILES = {"degree (the paper's)": False, "codegree": True}


def main() -> None:
    lines, rows = [], []
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for name in graph_data.FILES:
        graph = graph_data.graph(name)
        truth = ego_betweenness(graph)
        best = np.argsort(-truth, kind="stable")[:20]
        for axes, (label, by_codegree) in zip(panels, PROFILES.items(), strict=True):
            profile = EgoBetweenness(by_codegree=by_codegree).profile(graph, graph.nodes - 1)
            start = np.asarray(profile.at(0))
            some = truth > 0
            lines.append(
                [
                    name,
                    label,
                    f"{np.corrcoef(truth, start)[0, 1]:.2f}",
                    f"{spearmanr(truth[some], start[some]).statistic:.2f}",
                    f"{np.median(start[best] / truth[best]):.2g}",
                ]
            )
            rows += [
                (name, label, int(node), float(truth[node]), float(start[node]))
                for node in np.flatnonzero(some)
            ]
            if name == "Enron":
                axes.loglog(truth[some], start[some], ".", markersize=3, color="#1f77b4", alpha=0.4)
                axes.loglog(truth[best], start[best], "o", markersize=5, color="#d62728", label="true top 20")
                axes.set(xlabel="ego betweenness (log scale)", title=f"Enron, profile from {label}")
                axes.grid(alpha=0.3)
                axes.legend(loc="lower right")
    panels[0].set_ylabel("δ(0) (log scale)")
    output.save_figure("graph_figure_8", figure)
    output.write_csv("graph_figure_8", ["graph", "profile", "node", "ego_betweenness", "delta_0"], rows)
    header = [
        "graph",
        "profile",
        "correlation",
        "rank correlation (EBC > 0)",
        "δ(0)/EBC of the true top 20, median",
    ]
    output.rewrite("graph-figure-8", output.table(header, lines))


if __name__ == "__main__":
    main()
