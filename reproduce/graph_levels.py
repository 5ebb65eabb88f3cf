"""Instance-based noise, Examples 22 and 23: noise by levels of local sensitivity, on a chain and on 2-triangles."""

from __future__ import annotations

import math

import graph_data
import output

from sordino.graphs import count_law
from sordino.graphs.counts.k_triangles import bound_k_triangles, find_triangle_level
from sordino.mechanisms.noise import Levels
from sordino.mechanisms.noise.levels import calibrate_levels

RATIO = 1.5  # between neighbouring levels; at least 1 + t/2
CHAINS = (10, 100, 1000)
DELTA = 1e-6


def chain_row(levels: int, delta: float) -> list[str]:
    """Total error over one database of every level, in units of LS_r/ε, at ε = 1."""
    rate = 1 / math.log(1 / delta)
    chain = Levels.chain([RATIO ** (place - levels + 1) for place in range(levels)])
    closed = 2 * (1 + 2 / rate) * (1 - (1 + rate / 2) ** -levels)
    measured = [
        float(
            calibrate_levels(chain, epsilon=1.0, delta=delta, method=method, fallback=False)
            .expected_errors()
            .sum()
        )
        for method in ("theorem14", "best")
    ]
    return [
        str(levels),
        f"{delta:.0e}",
        f"{levels * rate:.2f}",
        f"{levels}",
        f"{closed:.2f}",
        f"{measured[0]:.2f}",
        f"{4 * math.log(levels):.1f}" if math.isclose(delta, 1 / levels) else "",
        f"{measured[1]:.2f}",
    ]  # fmt: skip


def layers_error(nodes: int, edges: int, epsilon: float) -> float:
    """As printed: level = number of edges, with at most min(n − 2, ⌊edges/2⌋) triangles on an edge and (5/2)a²."""
    growth = 1 + epsilon / math.log(1 / DELTA) / 2
    full = 2 * (nodes - 2)
    here = 2.5 * min(nodes - 2, edges // 2) ** 2
    above = 2.5 * (nodes - 2) ** 2 * growth ** -max(0, full - edges)
    return 2 * max(here, above) / epsilon


def main() -> None:
    rows = [chain_row(levels, delta) for levels in CHAINS for delta in (1 / levels, DELTA)]
    header = [
        "levels r", "δ", "rt", "Laplace", "closed form of the print", "Theorem 14, computed", "4 ln r (print)",
        "best calibration",
    ]  # fmt: skip
    output.rewrite("graph-levels", output.table(header, rows))
    lines, records = [], []
    for name in graph_data.FILES:
        graph = graph_data.graph(name)
        exact = int(count_law(graph, "k_triangles", epsilon=1.0, mechanism="global").centre)
        for epsilon in (0.1, 1.0):
            plain = bound_k_triangles(graph.nodes, 2) / epsilon
            by_layers = layers_error(graph.nodes, graph.edges, epsilon)
            levels = count_law(graph, "k_triangles", epsilon=epsilon, delta=DELTA, mechanism="levels")
            ladder = count_law(graph, "k_triangles", epsilon=epsilon, mechanism="ladder").expected_error()
            errors = (plain, by_layers, float(levels.scale), float(ladder))
            records.append((name, epsilon, exact, find_triangle_level(graph), *errors))
            lines.append(
                [
                    name,
                    f"{epsilon:g}",
                    f"{exact:.4g}",
                    str(find_triangle_level(graph)),
                    *(f"{error:.3g} ({error / exact:.2g})" for error in errors),
                ]
            )
    header = [
        "graph",
        "epsilon",
        "two_triangles",
        "level",
        "global_laplace",
        "levels_by_edges",
        "levels_by_a",
        "ladder",
    ]
    output.write_csv("graph_two_triangles", header, records)
    header = [
        "graph", "ε", "2-triangles", "a", "global Laplace", "levels by edges, as printed", "levels by a",
        "ladder over the same bound",
    ]  # fmt: skip
    output.rewrite("graph-two-triangles", output.table(header, lines))


if __name__ == "__main__":
    main()
