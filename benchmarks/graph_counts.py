"""Triangles under edge privacy: expected error of every mechanism at the same ε, from the exact laws.

The default is flared Laplace noise with the best β of its grid. The ladder's error is summed over its law. For noise
scaled to a bound it is E|Z| of the noise's shape times its scale (the lattice's step, 1, is far below every scale); for
discrete Laplace noise 2a/(1 − a²) with a = e^(−ε/(n−2)).
"""

from __future__ import annotations

import math

from graph_files import graph_files
from report import Check, Report

from sordino.graphs import Graph, count_law
from sordino.graphs.counts.triangles import count_triangles

EPSILONS = (0.1, 1.0)
DELTA = 1e-6
# E|Z| of the shapes: Student-t with 3 degrees, 1/(1 + z⁴), Laplace
MOMENTS = {"student_t": 2 * math.sqrt(3) / math.pi, "cauchy": 1 / math.sqrt(2), "laplace": 1.0}
NAMES = {
    "default": "default (flared Laplace)",
    "ladder": "ladder",
    "zhang_ladder": "ladder of Zhang et al.",
    "student_t": "smooth, Student-t",
    "cauchy": "smooth, Cauchy(4)",
    "laplace": "smooth, Laplace (δ = 10⁻⁶)",
    "global": "global, Laplace",
}


def expected_error(graph: Graph, mechanism: str, epsilon: float) -> float:
    if mechanism == "global":
        decay = math.exp(-epsilon / (graph.nodes - 2))
        return 2 * decay / (1 - decay**2)
    delta = DELTA if mechanism == "laplace" else 0.0
    asked = None if mechanism == "default" else mechanism
    law = count_law(graph, "triangles", epsilon=epsilon, delta=delta, mechanism=asked)
    if mechanism == "default":
        return float(law.scale) * law.shape.mean_size
    return float(law.expected_error() if "ladder" in mechanism else law.scale * MOMENTS[mechanism])


def run(quick: bool = False) -> Report:
    header = ["graph", "triangles", "ε", *NAMES.values(), "default / best other pure", "default / global"]
    rows, raw, beaten, worst, global_worst = [], {}, [], 0.0, 0.0
    for name, file in list(graph_files().items())[: 1 if quick else None]:
        graph = Graph.read(file)
        exact = count_triangles(graph)
        for epsilon in EPSILONS:
            errors = {kind: expected_error(graph, kind, epsilon) for kind in NAMES}
            best = min(errors[kind] for kind in ("ladder", "zhang_ladder", "student_t", "cauchy", "global"))
            ratio = errors["default"] / best
            worst = max(worst, ratio)
            global_worst = max(global_worst, errors["default"] / errors["global"])
            if errors["laplace"] < errors["ladder"]:
                beaten.append(f"{name}, ε = {epsilon:g}")
            raw[f"{name}, {epsilon}"] = errors
            cells = [f"{error:.4g} ({error / exact:.2g})" for error in errors.values()]
            rows.append(
                [
                    name,
                    str(exact),
                    f"{epsilon:g}",
                    *cells,
                    f"{ratio:.2f}",
                    f"{errors['ladder'] / errors['global']:.4f}",
                ]
            )
    if not rows:
        return Report(
            "graph-triangles", header, [["skipped: the graphs are not there", *[""] * (len(header) - 1)]]
        )
    checks = [
        Check("the default is the best pure mechanism", f"at most {worst:.2f} of the best other", worst <= 1),
        Check(
            "the default is not behind smooth Laplace noise, which spends δ",
            "behind it on " + "; ".join(beaten) if beaten else "never behind",
            not beaten,
        ),
    ]  # fmt: skip
    return Report("graph-triangles", header, rows, checks, raw)
