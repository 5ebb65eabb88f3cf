"""Graph metrics by brute force, and their sensitivities on all graphs of a few nodes.

Neighbours differ in one edge, added or removed between existing nodes; the node set is fixed.

The first half reads each metric off its definition for one graph, a frozenset of edges (i, j), i < j, as
`universe.graphs` makes them. The second half holds a metric for *all* graphs on n nodes at once: graph g has edge
number e of `edge_list(n)` iff bit e of g is set, so that flipping an edge is g ^ (1 << e).
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, lcm

import numpy as np

Edge = tuple[int, int]
Graph = frozenset[Edge]


# --- one graph, from the definitions ---------------------------------------------------------------------------------


def edge(i: int, j: int) -> Edge:
    return (i, j) if i < j else (j, i)


def is_adjacent(graph: Graph, i: int, j: int) -> bool:
    return edge(i, j) in graph


def neighbours(graph: Graph, v: int) -> frozenset[int]:
    return frozenset(j if i == v else i for i, j in graph if v in (i, j))


def degree(graph: Graph, v: int) -> int:
    return len(neighbours(graph, v))


def common_neighbours(graph: Graph, i: int, j: int) -> frozenset[int]:
    return neighbours(graph, i) & neighbours(graph, j)


def ego_betweenness(graph: Graph, v: int) -> Fraction:
    """Sum over non-adjacent pairs of neighbours of 1/(1 + their common neighbours among the neighbours of v)."""
    return ego_betweenness_ignoring(graph, v, frozenset())


def ego_betweenness_ignoring(graph: Graph, v: int, ignored: frozenset[int]) -> Fraction:
    """The same, where the nodes of `ignored` count as ends of a pair but not as a way round v."""
    near = neighbours(graph, v)
    total = Fraction(0)
    for x, y in itertools.combinations(sorted(near), 2):
        if not is_adjacent(graph, x, y):
            total += Fraction(1, 1 + len((common_neighbours(graph, x, y) & near) - ignored))
    return total


def ego_betweenness_by_paths(graph: Graph, v: int) -> Fraction:
    """Betweenness of v inside the graph induced by v and its neighbours, by counting shortest paths."""
    ego = neighbours(graph, v) | {v}
    inside = frozenset(e for e in graph if e[0] in ego and e[1] in ego)
    reached = {s: _shortest_paths(inside, s) for s in ego}
    total = Fraction(0)
    for s, t in itertools.combinations(sorted(ego - {v}), 2):
        (from_s, ways_s), (from_v, ways_v) = reached[s], reached[v]
        if from_s[v] + from_v[t] == from_s[t]:
            total += Fraction(ways_s[v] * ways_v[t], ways_s[t])
    return total


def _shortest_paths(graph: Graph, source: int) -> tuple[dict[int, int], dict[int, int]]:
    """Distance from the source and number of shortest paths, for every node reached."""
    distance, ways = {source: 0}, {source: 1}
    queue = deque([source])
    while queue:
        i = queue.popleft()
        for j in neighbours(graph, i):
            if j not in distance:
                distance[j], ways[j] = distance[i] + 1, 0
                queue.append(j)
            if distance[j] == distance[i] + 1:
                ways[j] += ways[i]
    return distance, ways


def hub_tolerant_betweenness(graph: Graph, v: int, price: Fraction) -> Fraction:
    """Most that EBC can be when nodes may be ignored as ways round v, each for `price` times the degree of v.

    At price 0 it is the number of open wedges, from (d - 1)/4 on EBC itself.
    """
    near = sorted(neighbours(graph, v))
    choices = itertools.chain.from_iterable(itertools.combinations(near, k) for k in range(len(near) + 1))
    return max(ego_betweenness_ignoring(graph, v, frozenset(s)) - price * len(near) * len(s) for s in choices)


def open_wedges(graph: Graph, v: int) -> int:
    """Pairs of neighbours that are not adjacent."""
    return sum(
        not is_adjacent(graph, x, y) for x, y in itertools.combinations(sorted(neighbours(graph, v)), 2)
    )


def triangles_at(graph: Graph, v: int) -> int:
    return sum(is_adjacent(graph, x, y) for x, y in itertools.combinations(sorted(neighbours(graph, v)), 2))


def ego_edges(graph: Graph, v: int) -> int:
    """Edges among v and its neighbours."""
    ego = neighbours(graph, v) | {v}
    return sum(i in ego and j in ego for i, j in graph)


def clustering(graph: Graph, v: int) -> Fraction:
    """Share of the pairs of neighbours that are adjacent; 0 for fewer than two neighbours."""
    d = degree(graph, v)
    return Fraction(2 * triangles_at(graph, v), d * (d - 1)) if d >= 2 else Fraction(0)


def max_codegree(graph: Graph, v: int, nodes: int) -> int:
    """Most common neighbours of v with any other node, adjacent to it or not."""
    return max((len(common_neighbours(graph, v, b)) for b in range(nodes) if b != v), default=0)


def touching_one(graph: Graph, i: int, j: int, nodes: int) -> int:
    """b_ij: how many other nodes are adjacent to exactly one of i and j."""
    return sum(is_adjacent(graph, i, w) != is_adjacent(graph, j, w) for w in range(nodes) if w not in (i, j))


def triangles(graph: Graph, nodes: int) -> int:
    return sum(
        all(edge(*pair) in graph for pair in itertools.combinations(three, 2))
        for three in itertools.combinations(range(nodes), 3)
    )


def stars(graph: Graph, nodes: int, k: int) -> int:
    """A centre and k of its neighbours; for k = 1 every edge counts twice, once per end."""
    return sum(comb(degree(graph, v), k) for v in range(nodes))


def triangles_on(graph: Graph, i: int, j: int) -> int:
    """a_e for an edge: triangles it lies on."""
    return len(common_neighbours(graph, i, j))


def k_triangles(graph: Graph, k: int) -> int:
    """Sum over edges of C(a_e, k): k triangles that share an edge (k = 1 counts each triangle three times)."""
    return sum(comb(triangles_on(graph, i, j), k) for i, j in graph)


def degree_histogram(graph: Graph, nodes: int) -> tuple[int, ...]:
    """How many nodes have degree 0, 1, ..., nodes - 1."""
    degrees = [degree(graph, v) for v in range(nodes)]
    return tuple(degrees.count(d) for d in range(nodes))


def most_triangles_on_an_edge_after_one_addition(graph: Graph, nodes: int) -> int:
    """a_H: the largest a_e of any edge of the graph or of the graph with one more edge."""
    additions = [graph | {e} for e in itertools.combinations(range(nodes), 2) if e not in graph]
    return max((triangles_on(g, i, j) for g in [graph, *additions] for i, j in g), default=0)


def project(graph: Graph, bound: int, order: Sequence[Edge]) -> Graph:
    """Keep an edge iff it is among the first `bound` edges at each of its ends, in a public order of all pairs."""
    seen: dict[int, int] = {}
    kept = set()
    for i, j in order:
        if (i, j) in graph:
            seen[i], seen[j] = seen.get(i, 0) + 1, seen.get(j, 0) + 1
            if max(seen[i], seen[j]) <= bound:
                kept.add((i, j))
    return frozenset(kept)


def project_greedily(graph: Graph, bound: int, order: Sequence[Edge]) -> Graph:
    """Keep an edge iff both of its ends have kept fewer than `bound` so far."""
    kept_at: dict[int, int] = {}
    kept = set()
    for i, j in order:
        if (i, j) in graph and max(kept_at.get(i, 0), kept_at.get(j, 0)) < bound:
            kept_at[i], kept_at[j] = kept_at.get(i, 0) + 1, kept_at.get(j, 0) + 1
            kept.add((i, j))
    return frozenset(kept)


# --- all graphs on n nodes at once -----------------------------------------------------------------------------------


def edge_list(n: int) -> list[Edge]:
    return list(itertools.combinations(range(n), 2))


def graph_of(index: int, n: int) -> Graph:
    return frozenset(e for bit, e in enumerate(edge_list(n)) if index >> bit & 1)


def index_of(graph: Graph, n: int) -> int:
    return sum(1 << bit for bit, e in enumerate(edge_list(n)) if e in graph)


@lru_cache(maxsize=4)
def adjacency(n: int) -> np.ndarray:
    """[i, j, graph]: 0 or 1."""
    indices = np.arange(1 << comb(n, 2))
    result = np.zeros((n, n, len(indices)), dtype=np.int16)
    for bit, (i, j) in enumerate(edge_list(n)):
        result[i, j] = result[j, i] = indices >> bit & 1
    result.setflags(write=False)
    return result


def flips(n: int, values: np.ndarray) -> Iterator[tuple[Edge, np.ndarray]]:
    """For every edge, the values after it is flipped; `values` has one row per graph."""
    indices = np.arange(len(values))
    for bit, e in enumerate(edge_list(n)):
        yield e, values[indices ^ (1 << bit)]


def unit(n: int) -> int:
    """What EBC is multiplied by to be an integer on n nodes: a multiple of 1..n-2."""
    return lcm(*range(1, max(n, 3) - 1)) if n > 2 else 1


def all_degrees(n: int) -> np.ndarray:
    """[graph, node]."""
    return adjacency(n).sum(axis=1).T.astype(np.int64)


def all_codegrees(n: int) -> np.ndarray:
    """[i, j, graph]: common neighbours."""
    a = adjacency(n)
    return np.einsum("iwg,jwg->ijg", a, a)


def all_max_codegrees(n: int) -> np.ndarray:
    """[graph, node]."""
    codegrees = all_codegrees(n).copy()
    codegrees[np.arange(n), np.arange(n)] = 0
    return codegrees.max(axis=1).T.astype(np.int64)


def all_ego_betweenness(n: int) -> np.ndarray:
    """[graph, node], exact, in units of 1 / unit(n)."""
    a, scale = adjacency(n), unit(n)
    share = np.array([scale // (1 + c) if scale % (1 + c) == 0 else 0 for c in range(n)])
    result = np.zeros((a.shape[2], n), dtype=np.int64)
    for v in range(n):
        others = [w for w in range(n) if w != v]
        for x, y in itertools.combinations(others, 2):
            pair = a[v, x] & a[v, y] & (1 - a[x, y])
            ways = sum((a[v, z] & a[x, z] & a[y, z] for z in others if z not in (x, y)), np.zeros_like(pair))
            result[:, v] += pair * share[ways]
    return result


def all_hub_tolerant_betweenness(n: int, price: float) -> np.ndarray:
    """[graph, node]: the largest of EBC with some nodes ignored, less price times degree for each of them."""
    a, degrees = adjacency(n), all_degrees(n)
    result = np.full(degrees.shape, -np.inf)
    for v in range(n):
        others = [w for w in range(n) if w != v]
        pairs = list(itertools.combinations(others, 2))
        open_ = [a[v, x] & a[v, y] & (1 - a[x, y]) for x, y in pairs]
        way = {(x, y, z): a[v, z] & a[x, z] & a[y, z] for x, y in pairs for z in others if z not in (x, y)}
        for size in range(n):
            for ignored in itertools.combinations(others, size):
                total = -price * size * degrees[:, v]
                for (x, y), pair in zip(pairs, open_, strict=True):
                    ways = sum(way[x, y, z] for z in others if z not in (x, y, *ignored))
                    total = total + pair / (1 + ways)
                np.maximum(result[:, v], total, out=result[:, v])
    return result


def all_triangles_at(n: int) -> np.ndarray:
    """[graph, node]."""
    a = adjacency(n)
    result = np.zeros((a.shape[2], n), dtype=np.int64)
    for i, j, k in itertools.combinations(range(n), 3):
        closed = a[i, j] & a[j, k] & a[i, k]
        for v in (i, j, k):
            result[:, v] += closed
    return result


def all_ego_edges(n: int) -> np.ndarray:
    return all_degrees(n) + all_triangles_at(n)


def all_clustering(n: int) -> np.ndarray:
    """[graph, node], in units of 1 / lcm(1..C(n-1, 2))."""
    scale = clustering_unit(n)
    degrees, closed = all_degrees(n), all_triangles_at(n)
    pairs = np.maximum(degrees * (degrees - 1) // 2, 1)
    return closed * (scale // pairs)


def clustering_unit(n: int) -> int:
    return lcm(*(comb(d, 2) for d in range(2, max(n, 3))))


def all_triangles(n: int) -> np.ndarray:
    """[graph, 1], as the other counts."""
    return all_triangles_at(n).sum(axis=1, keepdims=True) // 3


def all_stars(n: int, k: int) -> np.ndarray:
    return _choose(all_degrees(n), k).sum(axis=1, keepdims=True)


def all_k_triangles(n: int, k: int) -> np.ndarray:
    a, codegrees = adjacency(n), all_codegrees(n)
    return sum(a[e] * _choose(codegrees[e].astype(np.int64), k) for e in edge_list(n))[:, None]


def all_degree_histograms(n: int) -> np.ndarray:
    """[graph, degree]."""
    degrees = all_degrees(n)
    return np.stack([(degrees == d).sum(axis=1) for d in range(n)], axis=1)


def all_most_triangles_after_one_addition(n: int) -> np.ndarray:
    """[graph]: a_H."""
    a, codegrees = adjacency(n), all_codegrees(n)
    here = (
        np.max([a[e] * codegrees[e] for e in edge_list(n)], axis=0) if n > 1 else np.zeros(1, dtype=np.int16)
    )
    result = here.copy()
    for bit, _ in enumerate(edge_list(n)):
        np.maximum(result, here[np.arange(len(here)) | (1 << bit)], out=result)
    return result.astype(np.int64)


def _choose(values: np.ndarray, k: int) -> np.ndarray:
    table = np.array([comb(i, k) for i in range(int(values.max(initial=0)) + 1)], dtype=np.int64)
    return table[values]


def one_step(n: int, values: np.ndarray) -> np.ndarray:
    """[graph, candidate]: largest change by one flip, LS(G, 0)."""
    return np.maximum.reduce([np.abs(after - values) for _, after in flips(n, values)])


def local_sensitivity_table(
    n: int, metric: Callable[[int], np.ndarray] | np.ndarray, horizon: int
) -> np.ndarray:
    """LS(G, t, candidate) for t = 0..horizon as [t, graph, candidate]; the metric by name or its [graph, candidate]."""
    values = metric(n) if callable(metric) else metric
    tables = [one_step(n, values)]
    for _ in range(horizon):
        tables.append(np.maximum.reduce([tables[-1], *(after for _, after in flips(n, tables[-1]))]))
    return np.stack(tables)


def covers(n: int, values: np.ndarray, delta: np.ndarray) -> bool:
    """Whether delta[0] >= LS(G, 0), element by element."""
    return bool((delta[0] >= one_step(n, values)).all())


def steps_up(n: int, delta: np.ndarray) -> bool:
    """Whether delta[t+1](x) >= delta[t](y) for all neighbours x, y."""
    return all(
        (delta[t + 1] >= after).all() for t in range(len(delta) - 1) for _, after in flips(n, delta[t])
    )


def is_admissible_profile(n: int, values: np.ndarray, delta: np.ndarray) -> bool:
    """Both conditions of an admissible sensitivity function, for delta as [t, graph, candidate]."""
    return covers(n, values, delta) and steps_up(n, delta)
