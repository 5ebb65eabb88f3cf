"""The demo's data: public, made by fixed recipes without randomness, or a graph that networkx ships."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.graphs import Graph

_GOLDEN = (5**0.5 - 1) / 2  # multiples of it, modulo 1, fill the unit interval evenly

SALARY_BOUNDS = (0.0, 250_000.0)
SALARY_STEP = 100.0
BILL_BOUNDS = (0.0, 10_000.0)

VOTES = {
    "Alder": 402,
    "Birch": 390,
    "Cedar": 389,
    "Elm": 389,
    "Fir": 388,
    "Hazel": 388,
    "Larch": 387,
    "Maple": 387,
    "Oak": 386,
    "Pine": 386,
    "Rowan": 385,
    "Willow": 385,
}


def salaries(count: int = 1000) -> NDArray[np.float64]:
    """A skewed column: log-normal quantiles, in hundreds."""
    from scipy.special import ndtri

    evenly = (np.arange(1, count + 1) * _GOLDEN) % 1
    return np.asarray(np.round(np.exp(10.6 + 0.45 * ndtri(evenly)) / SALARY_STEP) * SALARY_STEP)


def bills(count: int = 300) -> NDArray[np.float64]:
    """Seven in ten between 200 and 300, the others between 4 000 and 9 000."""
    place = np.arange(1, count + 1)
    evenly = (place * _GOLDEN) % 1
    values = np.where(place % 10 < 7, 200 + 100 * evenly, 4000 + 5000 * evenly)
    return np.asarray(np.round(values), dtype=np.float64)


def social_graph() -> tuple[Graph, str]:
    """The characters of Les Misérables if networkx is there, a graph with hubs of our own otherwise; and what it is."""
    try:
        import networkx
    except ImportError:
        graph = _graph_with_hubs(60)
        return graph, f"a graph of {graph.nodes} nodes with hubs, made by a fixed recipe"
    graph = Graph.of(networkx.les_miserables_graph())
    return graph, f"{graph.nodes} characters of Les Misérables who meet (Knuth 1993)"


def _graph_with_hubs(nodes: int) -> Graph:
    """Node i joins three earlier ones, mostly early ones."""
    edges = [
        (node, int(node * ((node * root) % 1) ** power))
        for node in range(1, nodes)
        for root, power in ((2**0.5, 1.6), (3**0.5, 2.5), (5**0.5, 3.5))
    ]
    return Graph.from_edges(edges, labels=[f"node {node}" for node in range(nodes)])


CITIES = ("Rome", "Oslo", "Lima")
SHOP_POLICY = {
    "version": 1,
    "dataset": "demo shop",
    "protects": "row",
    "tables": {
        "customers": {"columns": {"city": {"domain": list(CITIES)}}},
        "orders": {},
        "items": {},
    },
}


def shop_tables() -> dict[str, pa.Table]:
    """Customers, their orders (a few customers have many), and items: large orders are of customers with few orders."""
    customers, orders, items = 3000, 20_000, 60_000
    evenly = (np.arange(1, orders + 1) * _GOLDEN) % 1
    owner = (customers * evenly**1.3).astype(np.int64)
    largest_first = np.argsort(-owner, kind="stable")
    order = largest_first[(orders * ((np.arange(1, items + 1) * 2**0.5) % 1) ** 1.3).astype(np.int64)]
    city = [CITIES[place % len(CITIES)] for place in range(customers)]
    return {
        "customers": pa.table({"id": np.arange(customers), "city": city}),
        "orders": pa.table({"id": np.arange(orders), "customer": owner}),
        "items": pa.table({"order_id": order}),
    }
