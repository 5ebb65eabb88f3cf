"""Ego betweenness of all nodes of musae-github, beside networkx and igraph.

The peers compute one node at a time from its ego net, so they are timed on a sample of random nodes, drawn within
classes of degree, and the whole is estimated class by class. Nodes of degree above 1000 are left out of the sample and
count as nothing: the estimate is a lower bound on what the peers would take.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
from graph_files import graph_files
from numpy.typing import NDArray
from peers import Peer
from report import Check, Report

from sordino.graphs import Graph, ego_betweenness

CLASSES = ((2, 10), (11, 100), (101, 1000))
PER_CLASS = (150, 80, 12)

# A process of its own, so that its peak is its own: read, compute once to load the compiled code, compute again.
_OURS = """
import json, resource, sys, time
from sordino.graphs import Graph, ego_betweenness
graph = Graph.read(sys.argv[1])
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
times = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    ego_betweenness(graph)
    times.append(time.perf_counter() - start)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"times": times, "before": base / 1024, "peak": peak / 1024}))
"""


def ours(file: Path, rounds: int) -> dict[str, float]:
    """Median seconds of the rounds after the first, the first, and the peak memory of the process in MB."""
    done = subprocess.run(
        [sys.executable, "-c", _OURS, str(file), str(rounds)], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    return {
        "first": found["times"][0],
        "seconds": float(np.median(found["times"][1:])),
        "peak": found["peak"],
        "before": found["before"],
    }


def by_networkx(graph: nx.Graph, nodes: list[int]) -> tuple[float, list[float]]:
    start = time.perf_counter()
    values = [
        float(nx.betweenness_centrality(nx.ego_graph(graph, node), normalized=False)[node]) for node in nodes
    ]
    return time.perf_counter() - start, values


def sample(degrees: NDArray[np.int64], quick: bool) -> list[NDArray[np.int64]]:
    generator = np.random.default_rng(3)
    chosen = []
    for (low, high), size in zip(CLASSES, PER_CLASS, strict=True):
        members = np.flatnonzero((degrees >= low) & (degrees <= high))
        wanted = max(2, size // 10) if quick else size
        chosen.append(generator.choice(members, min(wanted, len(members)), replace=False))
    return chosen


def run(quick: bool = False) -> Report | list[Report]:
    files = graph_files()
    header = ["method", "nodes timed", "all nodes of musae-github", "beside Sordino", "peak memory"]
    if "GitHub" not in files:
        return Report("graph-centrality", header, [["skipped: the graph is not there", "", "", "", ""]])
    mine = ours(files["GitHub"], 3 if quick else 6)
    graph = Graph.read(files["GitHub"])
    truth, degrees = ego_betweenness(graph), graph.degrees
    theirs = nx.Graph(graph.edge_list().tolist())
    edges = graph.edge_list()
    whole = {"networkx": 0.0, "igraph": 0.0}
    worst, timed = 0.0, 0
    with Peer("igraph") as igraph:
        igraph.ask(op="load", nodes=graph.nodes, edges=edges.tolist())
        for (low, high), nodes in zip(CLASSES, sample(degrees, quick), strict=True):
            members = int(((degrees >= low) & (degrees <= high)).sum())
            slow, values = by_networkx(theirs, nodes.tolist())
            answer = igraph.ask(op="ego", nodes=nodes.tolist())
            whole["networkx"] += slow / len(nodes) * members
            whole["igraph"] += answer["seconds"] / len(nodes) * members
            exact = truth[nodes]
            for found in (values, answer["results"]):
                worst = max(worst, float(np.max(np.abs(np.array(found) - exact) / np.maximum(exact, 1))))
            timed += len(nodes)
    rows = [
        [
            "Sordino",
            "all, exactly",
            f"{mine['seconds']:.3f} s",
            "1×",
            f"{mine['peak']:.0f} MB ({mine['before']:.0f} MB before)",
        ]
    ]
    rows += [
        [name, str(timed), f"≥ {seconds:.4g} s (estimated)", f"≥ {seconds / mine['seconds']:.0f}×", ""]
        for name, seconds in whole.items()
    ]
    ratio = whole["networkx"] / mine["seconds"]
    checks = [
        Check("all nodes within 5 s", f"{mine['seconds']:.2f} s (at first {mine['first']:.2f} s)", mine["seconds"] < 5),
        Check("within 1 GB", f"{mine['peak']:.0f} MB", mine["peak"] < 1024),
        Check("at least 300× networkx", f"at least {ratio:.0f}×", ratio >= 300),
        Check("the same values as networkx and igraph", f"largest relative difference {worst:.1g}", worst < 1e-9),
    ]  # fmt: skip
    return Report("graph-centrality", header, rows, checks, {"sordino": mine, "whole": whole})
