"""igraph's side of the benchmarks; runs in igraph's environment."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import igraph

loaded: dict[str, Any] = {}


def ego_betweenness(graph: Any, node: int) -> float:
    """The betweenness of a node in its ego net, in which nodes keep their order."""
    members = sorted([node, *graph.neighbors(node)])
    net = graph.induced_subgraph(members)
    return float(net.betweenness(vertices=[members.index(node)], directed=False)[0])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "load":
        loaded["graph"] = igraph.Graph(n=request["nodes"], edges=request["edges"])
        return {}
    start = time.perf_counter()
    found = [ego_betweenness(loaded["graph"], node) for node in request["nodes"]]
    return {"seconds": time.perf_counter() - start, "results": found}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
