"""Private counts of edges and small subgraphs, and the degree histogram."""

from sordino.graphs.counts.count import COUNTS, count, count_law, local_sensitivity_profile

__all__ = ["COUNTS", "count", "count_law", "local_sensitivity_profile"]
