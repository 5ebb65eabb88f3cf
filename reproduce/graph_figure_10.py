"""Local dampening, Fig. 10: overlap of the private with the true top-k by ego betweenness, against ε.

Four methods as in the paper, with its Δ from the observed maximum degree (which is private) and from n − 1 (which is
public), beside the degree proxy, brokerage and dampening with the codegree profile.
"""

from __future__ import annotations

import graph_data
import numpy as np
import output
from graph_overlap import (
    SIZES,
    Floats,
    Method,
    brokerages,
    budget_for,
    codegree_methods,
    degree_proxy,
    overlaps,
    paper_methods,
)
from matplotlib.figure import Figure

from sordino.graphs import Graph, ego_betweenness
from sordino.graphs.metrics import EgoBetweenness
from sordino.graphs.top_k import resolve

EPSILONS = np.logspace(-3, 4, 15)
RUNS = 100
OBSERVED, PUBLIC = "D observed", "D = n − 1"
LEVEL = 0.5
DRAWN = {
    f"exponential, {OBSERVED}": ("#7f7f7f", "-"),
    f"exponential, {PUBLIC}": ("#7f7f7f", ":"),
    f"permute-and-flip, {OBSERVED}": ("#000000", "-"),
    f"permute-and-flip, {PUBLIC}": ("#000000", ":"),
    f"LD, {OBSERVED}": ("#ff7f0e", "-"),
    f"SLD, {OBSERVED}": ("#d62728", "-"),
    f"SLD, {PUBLIC}": ("#d62728", ":"),
    "LD, codegree": ("#9467bd", "-"),
    "inverse sensitivity, codegree": ("#8c564b", "--"),
    "degree proxy": ("#2ca02c", "-"),
    "brokerage(0.5)": ("#1f77b4", "-"),
}


def methods(graph: Graph, truth: Floats) -> list[Method]:
    largest = int(graph.degrees.max())
    return [
        *paper_methods(graph, truth, largest + 1, OBSERVED),
        *paper_methods(graph, truth, graph.nodes - 1, PUBLIC),
        degree_proxy(graph),
        *brokerages(graph),
        *codegree_methods(graph, truth),
    ]


def automatic(found: dict[tuple[str, int], Floats], k: int) -> Floats:
    """The runs of what `top_k(mechanism="auto")` takes at every ε."""
    rows = []
    for place, epsilon in enumerate(EPSILONS):
        _, ranked = resolve("auto", EgoBetweenness(), epsilon / k)
        name = "degree proxy" if ranked.name == "degree" else "brokerage(0.5)"
        rows.append(found[name, k][place])
    return np.array(rows)


def draw(name: str, results: dict[str, dict[tuple[str, int], Floats]], graphs: list[str]) -> None:
    figure = Figure(figsize=(12, 3.9 * len(graphs) + 1.1), layout="constrained")
    panels = figure.subplots(len(graphs), len(SIZES), sharex=True, sharey=True)
    for row, graph in zip(panels, graphs, strict=True):
        for axes, k in zip(row, SIZES, strict=True):
            for method, (colour, style) in DRAWN.items():
                mean = results[graph][method, k].mean(axis=1)
                axes.plot(EPSILONS, mean, style, color=colour, label=method, linewidth=1.8)
            axes.set(xscale="log", ylim=(-0.02, 1.02), title=f"{graph}, k = {k}")
            axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("ε (log scale)")
    for axes in panels[:, 0]:
        axes.set_ylabel("mean overlap with the true top-k")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    output.save_figure(name, figure)


def orders(more: float, less: float) -> str:
    """log₁₀ of a ratio of budgets; a budget beyond the grid gives a lower bound."""
    if np.isinf(less):
        return "–"
    return f"> {np.log10(EPSILONS[-1] / less):.1f}" if np.isinf(more) else f"{np.log10(more / less):.1f}"


def shown_budget(value: float) -> str:
    return "> 10⁴" if np.isinf(value) else f"{float(f'{value:.2g}'):g}"


def report(results: dict[str, dict[tuple[str, int], Floats]]) -> None:
    lines, at_lines = [], []
    columns = [
        f"exponential, {OBSERVED}", f"permute-and-flip, {OBSERVED}", f"SLD, {OBSERVED}", f"SLD, {PUBLIC}",
        "degree proxy", "brokerage(0.5)", "LD, codegree",
    ]  # fmt: skip
    for graph, found in results.items():
        for k in SIZES:
            need = {
                name: budget_for(EPSILONS, found[name, k].mean(axis=1), LEVEL)
                for name in [*columns, f"exponential, {PUBLIC}", f"permute-and-flip, {PUBLIC}"]
            }
            gains = [
                orders(need[f"{name}, {bound}"], need[f"SLD, {bound}"])
                for name in ("exponential", "permute-and-flip")
                for bound in (OBSERVED, PUBLIC)
            ]
            lines.append([graph, str(k), *(shown_budget(need[name]) for name in columns), *gains])
    header = ["graph", "k", *columns]
    header += [
        f"orders SLD saves against {name}, {bound}"
        for name in ("exponential", "permute-and-flip")
        for bound in (OBSERVED, PUBLIC)
    ]
    output.rewrite("graph-figure-10-budgets", output.table(header, lines))
    places = [int(np.argmin(np.abs(np.log(EPSILONS / e)))) for e in (0.1, 1, 10, 100, 1000, 1e4)]
    names = [
        f"permute-and-flip, {OBSERVED}", f"LD, {OBSERVED}", f"SLD, {OBSERVED}", f"SLD, {PUBLIC}", "SLD, codegree",
        "degree proxy", "brokerage(0.3)", "brokerage(0.5)", "brokerage(0.7)", "LD, codegree",
        "inverse sensitivity, codegree", "auto",
    ]  # fmt: skip
    for graph, found in results.items():
        for name in names:
            mean = found[name, 10].mean(axis=1)
            at_lines.append([graph, name, *(f"{mean[place]:.2f}" for place in places)])
    header = ["graph", "method", *(f"ε = {EPSILONS[place]:g}" for place in places)]
    output.rewrite("graph-figure-10-overlap", output.table(header, at_lines))


def main() -> None:
    results: dict[str, dict[tuple[str, int], Floats]] = {}
    for number, name in enumerate(graph_data.FILES):
        graph = graph_data.graph(name)
        truth = ego_betweenness(graph)
        found = overlaps(methods(graph, truth), truth, dict.fromkeys(SIZES, EPSILONS), RUNS, number)
        for k in SIZES:
            found["auto", k] = automatic(found, k)
        results[name] = found
        print(f"   {name}: {len(found) // len(SIZES)} methods", flush=True)
    output.write_csv(
        "graph_figure_10",
        ["graph", "method", "k", "epsilon", "mean_overlap", "standard_error"],
        (
            (
                graph,
                method,
                k,
                float(epsilon),
                float(runs.mean()),
                float(runs.std(ddof=1) / np.sqrt(len(runs))),
            )
            for graph, found in results.items()
            for (method, k), table in found.items()
            for epsilon, runs in zip(EPSILONS, table, strict=True)
        ),
    )
    draw("graph_figure_10", results, ["Enron", "GitHub"])
    draw("graph_figure_10_small", results, ["Facebook", "GrQc"])
    report(results)


if __name__ == "__main__":
    main()
