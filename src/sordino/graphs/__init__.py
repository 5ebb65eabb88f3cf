"""Graphs under edge privacy: one edge added or removed between existing nodes; the node set is public."""

from sordino.graphs.codegree import max_codegree, triangles_per_node
from sordino.graphs.counts.count import count, count_law, local_sensitivity_profile
from sordino.graphs.ego_betweenness import ego_betweenness
from sordino.graphs.graph import Graph
from sordino.graphs.metrics import METRICS, Metric
from sordino.graphs.node_list import read_nodes
from sordino.graphs.projection import project
from sordino.graphs.top_k import top_k

__all__ = [
    "METRICS",
    "Graph",
    "Metric",
    "count",
    "count_law",
    "ego_betweenness",
    "local_sensitivity_profile",
    "max_codegree",
    "project",
    "read_nodes",
    "top_k",
    "triangles_per_node",
]
