"""Node metrics with proved profiles: a new one is a file and a line here.

PageRank, closeness and the betweenness of the whole graph are absent for a reason: one edge can move them by an amount
that depends on the graph far beyond the node's neighbourhood. An edge at a node of large PageRank diverts a constant
share of it to one other node, whoever that is, so that every node's sensitivity is of the order of the largest score;
no profile below that is known to us, and at that sensitivity a private ranking says nothing.
"""

from sordino.graphs.metrics.brokerage import Brokerage
from sordino.graphs.metrics.clustering import Clustering
from sordino.graphs.metrics.core_number import CoreNumber
from sordino.graphs.metrics.degree import Degree
from sordino.graphs.metrics.ego_betweenness import EgoBetweenness
from sordino.graphs.metrics.metric import Metric
from sordino.graphs.metrics.triangles import EgoEdges, Triangles

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        EgoBetweenness(),
        Brokerage(),
        Degree(),
        Triangles(),
        EgoEdges(),
        CoreNumber(),
        Clustering(),
    )
}

__all__ = [
    "METRICS",
    "Brokerage",
    "Clustering",
    "CoreNumber",
    "Degree",
    "EgoBetweenness",
    "EgoEdges",
    "Metric",
    "Triangles",
]
