"""From a file of edges to a private top 10, and how fast a large file is read."""

from __future__ import annotations

import json
import subprocess
import sys
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


# A process of its own, so that its peak is its own; the first, small file loads the compiled code.
_READ = """
import json, resource, sys, time
from sordino.graphs import Graph
Graph.read(sys.argv[1])
times = []
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    Graph.read(sys.argv[2])
    times.append(time.perf_counter() - start)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": sorted(times)[len(times) // 2], "peak": peak / 1024}))
"""


def large_file(quick: bool) -> Report:
    """Random edges between a million nodes, written to a temporary folder."""
    size = 10**5 if quick else 10**7
    generator = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as name:
        file, small = Path(name) / "edges.txt", Path(name) / "small.txt"
        small.write_text("0 1\n1 2\n")
        with file.open("wb") as stream:
            for _ in range(10):
                part = generator.integers(0, 10**6, (size // 10, 2))
                stream.write("\n".join(f"{a} {b}" for a, b in part.tolist()).encode() + b"\n")
        megabytes = file.stat().st_size / 1e6
        arguments = [str(small), str(file), "1" if quick else "3"]
        done = subprocess.run(
            [sys.executable, "-c", _READ, *arguments], check=True, capture_output=True, text=True
        )
        found = json.loads(done.stdout)
    seconds, peak = found["seconds"], found["peak"]
    million = f"{size / seconds / 1e6:.1f} million"
    rows = [
        [f"{size:,}".replace(",", " "), f"{megabytes:.0f} MB", f"{seconds:.2f} s", million, f"{peak:.0f} MB"]
    ]
    checks = [
        Check("10⁷ edges within 10 s", f"{seconds:.2f} s", seconds < 10),
        Check("within 2 GB", f"{peak:.0f} MB", peak < 2048),
    ]
    header = ["edges", "text file", "time", "edges per second", "peak memory of the process"]
    return Report("graph-reading", header, rows, checks, found)


def run(quick: bool = False) -> list[Report]:
    return [top_k_times(quick), large_file(quick)]
