"""From a file of edges to a private top 10, and how fast a large file is read."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from graph_files import graph_files
from report import Check, Report, interleaved, medians

from sordino.graphs import Graph, top_k

MECHANISMS = ("auto", "degree_proxy", "local_dampening", "shifted_dampening")


def end_to_end(file: Path, mechanism: str) -> float:
    start = time.perf_counter()
    top_k(Graph.read(file), 10, epsilon=10.0, mechanism=mechanism)
    return time.perf_counter() - start


def top_k_times(quick: bool) -> Report:
    header = ["graph", "read only", *MECHANISMS]
    rows, raw, slowest = [], {}, 0.0
    for name, file in graph_files().items():
        methods = {kind: lambda kind=kind, file=file: end_to_end(file, kind) for kind in MECHANISMS}
        methods["read"] = lambda file=file: reading(file)
        found = medians(interleaved(methods, 1 if quick else 5))
        slowest = max(slowest, found["auto"])
        raw[name] = found
        rows.append([name, *(f"{found[kind]:.3f} s" for kind in ("read", *MECHANISMS))])
    if not rows:
        return Report(
            "graph-top-k", header, [["skipped: the graphs are not there", *[""] * len(MECHANISMS), ""]]
        )
    check = Check("file to top 10 within a second by default", f"at most {slowest:.2f} s", slowest < 1)
    return Report("graph-top-k", header, rows, [check], raw)


def reading(file: Path) -> float:
    start = time.perf_counter()
    Graph.read(file)
    return time.perf_counter() - start


def large_file(quick: bool) -> Report:
    """Random edges between a million nodes, written to a temporary folder."""
    size = 10**5 if quick else 10**7
    generator = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "edges.txt"
        with file.open("wb") as stream:
            for _ in range(10):
                part = generator.integers(0, 10**6, (size // 10, 2))
                stream.write("\n".join(f"{a} {b}" for a, b in part.tolist()).encode() + b"\n")
        megabytes = file.stat().st_size / 1e6
        seconds = float(np.median([reading(file) for _ in range(1 if quick else 3)]))
    rows = [[f"{size:.0e}", f"{megabytes:.0f} MB", f"{seconds:.2f} s", f"{size / seconds:.2g}"]]
    check = Check("10⁷ edges within 10 s", f"{seconds:.2f} s for {size:.0e}", seconds < 10)
    return Report(
        "graph-reading",
        ["edges", "text file", "time", "edges per second"],
        rows,
        [check],
        {"seconds": seconds},
    )


def run(quick: bool = False) -> list[Report]:
    return [top_k_times(quick), large_file(quick)]
