"""Common neighbours and triangles of graphs with hubs, of 10⁷ edges (quick: 10⁶), beside walking all wedges.

Every question is asked in a process of its own, for its own peak of memory, of a graph kept in a temporary folder.
Processor time is printed beside wall time: it tells the work apart from what else the machine does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hub_graphs import MAKERS
from report import Check, Report

_ASK = """
import json, re, sys, time
from hashlib import sha256
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
from all_wedges import keep_frontier, walk_all_wedges
from sordino.graphs import Graph, count, max_codegree
from sordino.graphs.codegree import find_codegree_frontier
def read_peak():  # of this program alone; getrusage begins with what the parent had
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
QUESTIONS = {
    "walk": lambda graph: (lambda most, widest: (keep_frontier(widest), most))(*walk_all_wedges(graph)),
    "frontier": find_codegree_frontier,
    "codegree": max_codegree,
    "triangles": lambda graph: count(graph, "triangles", epsilon=1.0),
    "k_triangles": lambda graph: count(graph, "k_triangles", epsilon=1.0),
}
ask = QUESTIONS[sys.argv[3]]
ask(Graph.from_edges([(0, 1), (1, 2), (0, 2)]))  # loads the compiled code
stored = np.load(sys.argv[2])
graph = Graph(stored["offsets"], stored["neighbours"])
before = read_peak()
start, work = time.perf_counter(), time.process_time()
found = ask(graph)
seconds, work = time.perf_counter() - start, time.process_time() - work
peak = read_peak()
kept = found if isinstance(found, tuple) else (found,) if isinstance(found, np.ndarray) else ()
answer = [sha256(array.tobytes()).hexdigest() for array in kept]
print(json.dumps({"seconds": seconds, "work": work, "before": before / 1024, "peak": peak / 1024, "answer": answer}))
"""

TITLES = {
    "frontier": "common neighbours of all pairs (frontier)",
    "codegree": "largest codegree of every node",
    "triangles": 'count(graph, "triangles")',
    "k_triangles": 'count(graph, "k_triangles")',
}


def ask(file: Path, question: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _ASK, str(Path(__file__).parent), str(file), question],
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(json.loads(done.stdout))


def run(quick: bool = False) -> Report:
    times = ["wall time", "processor time", "all wedges take", "peak memory"]
    header = ["graph", "edges", "largest degree", "question", *times]
    rows, raw, same, slowest = [], {}, True, 0.0
    least = dict.fromkeys(TITLES, float("inf"))
    size = 10**6 if quick else 10**7
    for name, make in MAKERS.items():
        graph = make(size)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.npz"
            np.savez(file, offsets=graph.offsets, neighbours=graph.neighbours)
            found = {question: ask(file, question) for question in ("walk", *TITLES)}
        same &= found["walk"]["answer"] == found["frontier"]["answer"] + found["codegree"]["answer"]
        raw[f"{name}, {size}"] = found
        for question, title in TITLES.items():
            mine = found[question]
            ratio = found["walk"]["work"] / mine["work"]
            slowest = max(slowest, mine["seconds"])
            least[question] = min(least[question], ratio)
            rows.append(
                [
                    name,
                    f"{graph.edges:,}".replace(",", " "),
                    str(int(graph.degrees.max())),
                    title,
                    f"{mine['seconds']:.2f} s",
                    f"{mine['work']:.2f} s",
                    f"{found['walk']['work']:.1f} s ({ratio:.1f}×)",
                    f"{mine['peak']:.0f} MB ({mine['before']:.0f} MB before)",
                ]
            )
    checks = [Check("the same as walking all wedges", "the same" if same else "different", same)]
    if not quick:
        checks += [
            Check(
                f"{TITLES[question]}: at least 5× less work than all wedges",
                f"at least {ratio:.1f}×",
                ratio >= 5,
            )
            for question, ratio in least.items()
        ]
        checks.append(Check("10⁷ edges within 30 s", f"at most {slowest:.1f} s", slowest < 30))
    return Report("graph-hubs", header, rows, checks, raw)
