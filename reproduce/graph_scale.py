"""DBLP is not at hand: a power-law graph of its size (317 080 nodes, 1 049 866 edges, degree 343) shows scale."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import output
from graph_data import power_law

from sordino.graphs import Graph, count, ego_betweenness, max_codegree, top_k

NODES, EDGES, LARGEST = 317_080, 1_049_866, 343


def main() -> None:
    lines: list[list[str]] = []

    def timed(label: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        lines.append([label, f"{time.perf_counter() - start:.2f} s"])
        return result

    ego_betweenness(Graph.from_edges([(0, 1), (1, 2)]))  # compile, or load what was compiled
    max_codegree(Graph.from_edges([(0, 1), (1, 2)]))
    edges = power_law(NODES, EDGES, largest=LARGEST)
    graph = timed("build the graph", lambda: Graph.from_edges(edges, nodes=NODES))
    timed("ego betweenness of all nodes", lambda: ego_betweenness(graph))
    timed("largest codegree of all nodes", lambda: max_codegree(graph))
    timed("top_k, k = 10, ε = 10, auto", lambda: top_k(graph, 10, epsilon=10.0))
    for mechanism in ("local_dampening", "shifted_dampening"):
        timed(
            f"top_k, k = 10, {mechanism} (codegree profile)",
            lambda name=mechanism: top_k(graph, 10, epsilon=1.0, mechanism=name),
        )
    timed("private triangle count (ladder)", lambda: count(graph, "triangles", epsilon=1.0))
    lines.insert(
        0,
        ["nodes, edges, largest degree", f"{graph.nodes}, {graph.edges}, {int(np.max(graph.degrees))}"],
    )
    output.rewrite("graph-scale", output.table(["a graph of DBLP's size", "measured"], lines))


if __name__ == "__main__":
    main()
