"""Graphs under edge privacy: brute force against the stated profiles and bounds, which live only in this file.

Neighbours differ in one edge, added or removed between existing nodes; the node set is fixed. Enumerated over all
graphs on up to 5 nodes, and on 6 where marked slow. Hubs that matter need more nodes than that, so what concerns them
is also checked on random graphs around a planted hub.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import lru_cache
from math import comb, sqrt

import networkx as nx
import numpy as np
import pytest

from tests.oracles import graphs as oracle
from tests.oracles.local_sensitivity import element_local_sensitivity, is_admissible
from tests.oracles.test_oracles import golden
from tests.oracles.universe import graphs as graph_universe

HORIZON = 6
TIMES = np.arange(HORIZON + 1)[:, None, None]
SIZES = [2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)]
FROM_THREE = SIZES[1:]
ROUNDING = 1e-9


@lru_cache(maxsize=8)
def ebc(n: int) -> np.ndarray:
    return oracle.all_ego_betweenness(n) / oracle.unit(n)


def added(n: int, values: np.ndarray):
    """For every edge: the graphs without it, and by how much their values change when it is added."""
    for bit, (e, after) in enumerate(oracle.flips(n, values)):
        without = np.flatnonzero(np.arange(len(values)) >> bit & 1 == 0)
        yield e, without, (after - values)[without]


def changes_when_added(n: int, values: np.ndarray) -> tuple[float, float]:
    every = [change for _, _, change in added(n, values)]
    return min(c.min() for c in every), max(c.max() for c in every)


def admissible(n: int, values: np.ndarray, delta: np.ndarray) -> bool:
    return oracle.is_admissible_profile(
        n, values - 0.0, delta + ROUNDING * np.arange(1, len(delta) + 1)[:, None, None]
    )


def exact(n: int, values: np.ndarray, delta: np.ndarray) -> bool:
    local = oracle.local_sensitivity_table(n, values, len(delta) - 1)
    return np.allclose(local, delta, rtol=0, atol=ROUNDING)


# --- the oracles against one another ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tables_hold_what_the_definitions_say(n):
    tables = {
        oracle.degree: oracle.all_degrees(n),
        oracle.triangles_at: oracle.all_triangles_at(n),
        oracle.ego_edges: oracle.all_ego_edges(n),
        lambda g, v: oracle.max_codegree(g, v, n): oracle.all_max_codegrees(n),
        lambda g, v: oracle.ego_betweenness(g, v) * oracle.unit(n): oracle.all_ego_betweenness(n),
        lambda g, v: oracle.clustering(g, v) * oracle.clustering_unit(n): oracle.all_clustering(n),
        lambda g, v: float(oracle.hub_tolerant_betweenness(g, v, Fraction(1, 8))): (
            oracle.all_hub_tolerant_betweenness(n, 0.125)
        ),
    }
    counts = {
        lambda g: oracle.triangles(g, n): oracle.all_triangles(n),
        lambda g: oracle.stars(g, n, 2): oracle.all_stars(n, 2),
        lambda g: oracle.k_triangles(g, 2): oracle.all_k_triangles(n, 2) if n > 1 else np.zeros((1, 1)),
        lambda g: oracle.most_triangles_on_an_edge_after_one_addition(g, n): (
            oracle.all_most_triangles_after_one_addition(n)[:, None]
        ),
    }
    for i in range(1 << comb(n, 2)):
        graph = oracle.graph_of(i, n)
        assert oracle.index_of(graph, n) == i
        assert oracle.degree_histogram(graph, n) == tuple(oracle.all_degree_histograms(n)[i])
        for count, table in counts.items():
            assert count(graph) == table[i, 0]
        for metric, table in tables.items():
            assert [metric(graph, v) for v in range(n)] == list(table[i])


@pytest.mark.parametrize("n", [3, 4, 5])
def test_ego_betweenness_is_betweenness_in_the_ego_net(n):
    for i in range(0, 1 << comb(n, 2), 1 if n < 5 else 3):
        graph = oracle.graph_of(i, n)
        assert all(
            oracle.ego_betweenness(graph, v) == oracle.ego_betweenness_by_paths(graph, v) for v in range(n)
        )


def test_ego_betweenness_is_what_networkx_computes():
    for seed in range(5):
        other = nx.gnp_random_graph(11, 0.4, seed=seed)
        graph = frozenset(oracle.edge(i, j) for i, j in other.edges)
        for v in other:
            expected = nx.betweenness_centrality(nx.ego_graph(other, v), normalized=False)[v]
            assert float(oracle.ego_betweenness(graph, v)) == pytest.approx(expected, abs=1e-12)
            assert oracle.triangles_at(graph, v) == nx.triangles(other, v)
            assert float(oracle.clustering(graph, v)) == pytest.approx(nx.clustering(other, v), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_tables_of_sensitivities_agree_with_the_universe(n):
    space = graph_universe(n)
    place = [oracle.index_of(g, n) for g in space.databases]
    for values in (oracle.all_ego_betweenness(n), oracle.all_triangles(n)):
        tables = oracle.local_sensitivity_table(n, values, space.diameter)
        expected = element_local_sensitivity(space, values[place])
        assert (tables[:, place].swapaxes(0, 1) == expected).all()
        for delta in (tables, tables[:, :, :] - (tables == tables.max())):
            mine = oracle.is_admissible_profile(n, values, delta)
            assert mine == is_admissible(space, values[place], delta[:, place].swapaxes(0, 1))


# --- ego betweenness -------------------------------------------------------------------------------------------------


def largest_change(n: int) -> float:
    """Delta with public degree bound D = n - 1 that both neighbours obey."""
    return max((n - 2) * (n - 3) / 4, n - 2)


def by_degree(n: int) -> np.ndarray:
    reach = oracle.all_degrees(n) + TIMES
    return np.maximum(reach * (reach - 1) / 4, reach)


def by_codegree(n: int) -> np.ndarray:
    reach = oracle.all_max_codegrees(n) + TIMES
    return np.maximum(reach * (reach - 1) / 4, oracle.all_degrees(n) + TIMES)


def hub_terms(n: int) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
    """For v and b: (A_b(t), P_b(t)) as [t, graph], what adding or removing b may cost v after t flips.

    M = common neighbours of v and b, c = common neighbours of a pair inside N(v) without b:
    A_b(t) = sum over open pairs in M of 1/((1+c')(2+c')), c' = max(c - t, 0), + t|M|/2 + t(t-1)/4;
    P_b(t) = (open pairs in M + t|M| + t(t-1)/2) / 2.
    """
    a, times = oracle.adjacency(n), np.arange(HORIZON + 1)[:, None]
    result = {}
    for v, b in itertools.permutations(range(n), 2):
        rest = [w for w in range(n) if w not in (v, b)]
        common = {w: a[v, w] & a[b, w] for w in rest}
        grows = times * sum(common.values(), np.zeros(a.shape[2])) / 2 + times * (times - 1) / 4
        fine, coarse = grows.copy(), grows.copy()
        for x, y in itertools.combinations(rest, 2):
            pair = common[x] & common[y] & (1 - a[x, y])
            ways = sum((a[v, z] & a[x, z] & a[y, z] for z in rest if z not in (x, y)), np.zeros(a.shape[2]))
            left = np.maximum(ways - times, 0)
            fine += pair / ((1 + left) * (2 + left))
            coarse += pair / 2
        result[v, b] = fine, coarse
    return result


def gains(n: int) -> np.ndarray:
    """[t, graph, v]: the largest of d' - m + t over b, d' the degree of v without b, and of (d + t)/2."""
    a, degrees, codegrees = oracle.adjacency(n), oracle.all_degrees(n), oracle.all_codegrees(n)
    apart = np.zeros(degrees.shape)
    for v, b in itertools.permutations(range(n), 2):
        np.maximum(apart[:, v], degrees[:, v] - a[v, b] - codegrees[v, b], out=apart[:, v])
    return np.maximum(apart + TIMES, (degrees + TIMES) / 2)


@pytest.mark.parametrize("n", FROM_THREE)
def test_global_sensitivity_of_ego_betweenness(n):
    assert oracle.one_step(n, ebc(n)).max() == largest_change(n)
    assert largest_change(n) < max((n - 1) * (n - 2) / 4, n - 1), (
        "one neighbour may exceed D: strictly larger"
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("profile", [by_degree, by_codegree])
def test_printed_and_codegree_profiles_are_admissible_with_and_without_cap(n, profile):
    delta = profile(n)
    assert admissible(n, ebc(n), delta)
    assert admissible(n, ebc(n), np.minimum(delta, largest_change(n)))


@pytest.mark.parametrize("n", FROM_THREE)
def test_a_profile_one_lower_is_refused(n):
    assert not admissible(n, ebc(n), by_codegree(n) - 1)
    assert not admissible(n, ebc(n), np.minimum(by_codegree(n), largest_change(n) - 1 / 4))


@pytest.mark.parametrize("n", FROM_THREE)
def test_one_flip_of_an_edge_moves_ego_betweenness_as_derived(n):
    """Own edge to b: between -A_b(0) and d - m. Any other edge, when added: between -d/2 and 0, both attained."""
    values, degrees, codegrees, hubs = ebc(n), oracle.all_degrees(n), oracle.all_codegrees(n), hub_terms(n)
    tight = False
    for (i, j), without, change in added(n, values):
        for v, b in ((i, j), (j, i)):
            fine, _ = hubs[v, b]
            gain = change[:, v] + fine[0, without]
            m, d = codegrees[v, b, without], degrees[without, v]
            assert (gain >= -ROUNDING).all()
            assert (gain <= d - m + ROUNDING).all()
            assert np.allclose(gain[m == 0], d[m == 0]), "without common neighbours every new pair counts 1"
            assert (fine[0, without] <= m * (m - 1) / 4 + ROUNDING).all()
        others = [w for w in range(n) if w not in (i, j)]
        assert (change[:, others] <= ROUNDING).all()
        assert (change[:, others] >= -degrees[without][:, others] / 2 - ROUNDING).all()
        tight |= bool(np.isclose(change[:, others].min(), -(n - 1) / 2))
    assert tight


@pytest.mark.parametrize("n", SIZES)
def test_hub_terms_step_up_each_on_its_own(n):
    """A_b(t+1) here >= A_b(t) next door, for every v and b: stronger than the same for their maximum with d + t."""
    for fine, coarse in hub_terms(n).values():
        assert (fine <= coarse + ROUNDING).all()
        for terms in (fine, coarse):
            lifted = terms[:, :, None] + ROUNDING * np.arange(1, HORIZON + 2)[:, None, None]
            assert oracle.steps_up(n, lifted)


@pytest.mark.parametrize("n", SIZES)
def test_profiles_from_hub_terms_are_admissible(n):
    hubs, degrees = hub_terms(n), oracle.all_degrees(n)
    for which in (0, 1):
        worst = np.stack(
            [np.max([hubs[v, b][which] for b in range(n) if b != v], axis=0) for v in range(n)], axis=2
        )
        for gain in (degrees + TIMES, gains(n)):
            delta = np.maximum(worst, gain)
            assert (delta <= by_codegree(n) + ROUNDING).all()
            assert admissible(n, ebc(n), delta)
            assert admissible(n, ebc(n), np.minimum(delta, largest_change(n)))


def matrix_around_a_hub(rng: np.random.Generator, n: int) -> np.ndarray:
    """Nodes 0 and n-1, and sometimes n-2, adjacent to most of the others; between these none, few or many edges."""
    a = rng.random((n, n)) < rng.choice([0.0, 0.0, 0.1, 0.6])
    for hub in (0, n - 1, n - 2)[: rng.integers(2, 4)]:
        a[hub] |= rng.random(n) < rng.choice([0.7, 1.0])
        a[:, hub] |= a[hub]
    a = np.triu(a, 1)
    return (a | a.T).astype(np.int64)


def ebc_of(a: np.ndarray, v: int, ignored: np.ndarray | None = None) -> float:
    near = np.flatnonzero(a[v])
    inside = a[np.ix_(near, near)]
    counted = inside if ignored is None else inside * ~ignored[near]
    share = (1 - inside) / (1.0 + counted @ inside)
    return float(np.triu(share, 1).sum())


def hub_term_of(a: np.ndarray, v: int, b: int, t: int) -> float:
    near = a[v].astype(bool)
    near[b] = False
    common = np.flatnonzero(near & a[b].astype(bool))
    inside = a[np.ix_(common, np.flatnonzero(near))]
    left = np.maximum(inside @ inside.T - t, 0)
    open_pairs = 1 - a[np.ix_(common, common)]
    m = len(common)
    return float(np.triu(open_pairs / ((1 + left) * (2 + left)), 1).sum()) + t * m / 2 + t * (t - 1) / 4


def test_hub_terms_step_up_around_planted_hubs():
    rng, n, active = np.random.default_rng(20), 12, 0
    for _ in range(24):
        a = matrix_around_a_hub(rng, n)
        before = ebc_of(a, 0)
        here = {(b, t): hub_term_of(a, 0, b, t) for b in (n - 1, n - 2, 1) for t in range(5)}
        for i, j in oracle.edge_list(n):
            flipped = a.copy()
            flipped[i, j] = flipped[j, i] = 1 - a[i, j]
            change = abs(ebc_of(flipped, 0) - before)
            bound = max(a[0].sum(), hub_term_of(a, 0, j, 0) if i == 0 else 0)
            assert change <= bound + ROUNDING
            active += change > a[0].sum()
            for (b, t), value in here.items():
                assert hub_term_of(flipped, 0, b, t) <= hub_term_of(a, 0, b, t + 1) + ROUNDING
                assert value <= hub_term_of(flipped, 0, b, t + 1) + ROUNDING
    assert active > 3, "some flips must move EBC by more than the degree, or hubs are not tested"


def test_goldens_of_the_papers_graph():
    entry = golden("graphs", "ld_figure_2a")
    graph, n = frozenset(oracle.edge(i, j) for i, j in entry["inputs"]["edges"]), 8
    assert [float(oracle.ego_betweenness(graph, v)) for v in range(n)] == entry["value"]["ebc"]
    edges = oracle.edge_list(n)
    first = [max(abs(move(graph, e, v)) for e in edges) for v in range(n)]
    assert first == entry["value"]["local_sensitivity_0"]
    second = [max(abs(move(graph ^ {f}, e, v)) for e in edges for f in edges) for v in range(n)]
    assert second == entry["value"]["local_sensitivity_1"]


def test_goldens_of_sensitivities():
    printed = golden("graphs", "printed_global_sensitivity")
    for name, bound in printed["inputs"]["max_degree"].items():
        assert max(bound * (bound - 1) / 4, bound) == printed["value"][name]
    for n, value in golden("graphs", "global_sensitivity_by_nodes")["value"].items():
        assert largest_change(int(n)) == value
    for n, value in golden("graphs", "square_root_sensitivity")["value"].items():
        assert value == pytest.approx(max(moves_of_the_square_root(int(n))), abs=1e-12)


def move(graph: oracle.Graph, e: oracle.Edge, v: int) -> Fraction:
    """Change of EBC(v); nothing moves unless the edge touches v or lies between two of its neighbours."""
    near = oracle.neighbours(graph, v)
    if v not in e and not near.issuperset(e):
        return Fraction(0)
    return oracle.ego_betweenness(graph ^ {e}, v) - oracle.ego_betweenness(graph, v)


# --- scores that keep the order of ego betweenness -------------------------------------------------------------------


def degree_scale(d: np.ndarray, value: np.ndarray, order_from: float) -> np.ndarray:
    """g(d, E) = sqrt(2 rho E) where 2E >= rho d^2, else d - sqrt((1 - rho)(d^2 - 2E)); rho = order_from.

    Ordered by E alone in the first region. Along (d + s, E + ds + s^2/2) its slope is at most 1, and in E at most 1/d.
    """
    d, twice = np.asarray(d, dtype=float), 2 * np.asarray(value, dtype=float)
    below = d - np.sqrt((1 - order_from) * np.maximum(d * d - twice, 0))
    return np.where(twice >= order_from * d * d, np.sqrt(order_from * np.maximum(twice, 0)), below)


def test_degree_scale_grows_by_at_most_one_per_neighbour_and_one_over_d_per_unit():
    for order_from in (0.1, 0.3, 0.5, 0.8, 1.0):
        for d in range(1, 60):
            value = np.linspace(0, d * (d - 1) / 2, 200)
            here = degree_scale(d, value, order_from)
            assert (degree_scale(d + 1, value + d, order_from) <= here + 1 + ROUNDING).all()
            assert (degree_scale(d + 1, value, order_from) >= here - ROUNDING).all()
            assert (np.diff(here) >= -ROUNDING).all()
            assert (np.diff(here) <= np.diff(value) / d + ROUNDING).all()
            assert (here <= d + ROUNDING).all()


@pytest.mark.parametrize("n", FROM_THREE)
def test_square_root_of_ego_betweenness_has_a_sensitivity_that_grows(n):
    """max(sqrt(n-2), (1 - sqrt(1/2)) sqrt(C(n-2, 2))): a lone node joins a clique, or a hub halves a star."""
    assert oracle.one_step(n, np.sqrt(ebc(n))).max() == pytest.approx(sqrt(n - 2))


def moves_of_the_square_root(n: int) -> list[float]:
    """By how much sqrt(EBC(v)) moves when b joins v: a hub of its n - 2 leaves, or a lone node beside its clique."""
    v, b, rest = 0, n - 1, np.arange(1, n - 1)
    star = np.zeros((n, n), dtype=np.int64)
    star[v, rest] = star[rest, v] = 1
    clique = star.copy()
    clique[np.ix_(rest, rest)] = 1 - np.eye(n - 2, dtype=np.int64)
    star[b, rest] = star[rest, b] = 1
    moved = []
    for a in (star, clique):
        joined = a.copy()
        joined[v, b] = joined[b, v] = 1
        moved.append(abs(sqrt(ebc_of(joined, v)) - sqrt(ebc_of(a, v))))
    return moved


@pytest.mark.parametrize("n", [10, 26, 27, 60])
def test_extremes_of_the_square_root_on_larger_graphs(n):
    moved = moves_of_the_square_root(n)
    assert moved == pytest.approx([(1 - sqrt(1 / 2)) * sqrt(comb(n - 2, 2)), sqrt(n - 2)])
    assert (moved[0] > moved[1]) == (n >= 27)


@pytest.mark.parametrize("n", FROM_THREE)
def test_logarithm_of_ego_betweenness_and_degree_has_sensitivity_one(n):
    assert oracle.one_step(n, np.log2(ebc(n) + oracle.all_degrees(n) + 1)).max() == pytest.approx(1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("price", [0.0, 0.05, 0.1, 0.25, 0.5])
def test_hub_tolerant_score_has_sensitivity_one_and_a_small_range(n, price):
    """Up by at most 1, only at an end of the added edge; down by min(2p, p + 1/2), elsewhere by min(1/2, 2p + 1/d)."""
    degrees, tolerant = oracle.all_degrees(n), oracle.all_hub_tolerant_betweenness(n, price)
    assert (tolerant >= ebc(n) - ROUNDING).all()
    assert (tolerant <= degrees * (degrees - 1) / 2 - oracle.all_triangles_at(n) + ROUNDING).all()
    for order_from in (0.3, 0.5, 0.8):
        score = degree_scale(degrees, tolerant, order_from)
        for (i, j), without, change in added(n, score):
            ends, others = change[:, [i, j]], np.delete(change, [i, j], axis=1)
            assert ends.max() <= 1 + ROUNDING
            assert ends.min() >= -min(2 * price, price + 0.5) - ROUNDING
            if n > 2:
                floor = np.minimum(
                    0.5, 2 * price + 1 / np.maximum(np.delete(degrees[without], [i, j], axis=1), 1)
                )
                assert others.max() <= ROUNDING
                assert (others >= -floor - ROUNDING).all()


@pytest.mark.parametrize("price", [0.0, 0.1, 0.5, 1.0])
def test_hub_tolerant_score_around_planted_hubs(price):
    rng, n, ignored_pays, plain = np.random.default_rng(21), 9, 0, 0.0
    subsets = np.array(list(itertools.product([False, True], repeat=n)))
    falls = min(2 * price, price + 0.5)

    def score(a: np.ndarray) -> tuple[float, float]:
        d = int(a[0].sum())
        useful = subsets[~subsets[:, a[0] == 0].any(axis=1)]
        best = max(ebc_of(a, 0, s) - price * d * s.sum() for s in useful)
        return float(degree_scale(d, best, 0.5)), best

    for _ in range(5):
        a = matrix_around_a_hub(rng, n)
        here, best = score(a)
        ignored_pays += best > ebc_of(a, 0) + ROUNDING
        for i, j in oracle.edge_list(n):
            flipped = a.copy()
            flipped[i, j] = flipped[j, i] = 1 - a[i, j]
            change = (score(flipped)[0] - here) * (1 if flipped[i, j] else -1)
            plain = max(plain, abs(ebc_of(flipped, 0) - ebc_of(a, 0)))
            assert -(falls if i == 0 else 0.5) - ROUNDING <= change <= (1 if i == 0 else 0) + ROUNDING
    assert plain > 5
    assert ignored_pays or price >= 0.5


def test_a_hub_costs_ego_betweenness_half_but_the_tolerant_score_its_price():
    """A star of 40 leaves, all adjacent to b: adding b moves sqrt(2 E / 2) by 8, the score by less than 1."""
    d, price = 40, 0.5
    before, after = comb(d, 2), comb(d, 2) / 2
    assert sqrt(before) - sqrt(after) > 8
    tolerant = max(after, before - price * (d + 1))
    fall = degree_scale(d, before, 0.5) - degree_scale(d + 1, tolerant, 0.5)
    assert 0 < fall < 0.5


# --- other metrics of a node -----------------------------------------------------------------------------------------


def reached_codegrees(n: int) -> np.ndarray:
    """[t, graph, v]: most common neighbours of v with another node after t flips, one or two flips for each more."""
    codegrees, a = oracle.all_codegrees(n), oracle.adjacency(n)
    result = np.zeros((HORIZON + 1, a.shape[2], n))
    for v, b in itertools.permutations(range(n), 2):
        one = sum(
            (a[v, w] != a[b, w] for w in range(n) if w not in (v, b)), np.zeros(a.shape[2], dtype=np.int64)
        )
        for t in range(HORIZON + 1):
            reached = np.minimum(codegrees[v, b] + (t + np.minimum(t, one)) // 2, n - 2)
            np.maximum(result[t, :, v], reached, out=result[t, :, v])
    return result


@pytest.mark.parametrize("n", FROM_THREE)
def test_triangles_at_a_node(n):
    values = oracle.all_triangles_at(n)
    open_pair = oracle.all_degrees(n) + TIMES >= 2
    reach = oracle.all_max_codegrees(n) + TIMES
    assert exact(n, values, np.maximum(reached_codegrees(n), open_pair))
    assert admissible(n, values, np.minimum(np.maximum(reach, open_pair), n - 2))
    assert not admissible(n, values, np.minimum(reach, n - 2)), (
        "an edge between two neighbours counts as well"
    )


@pytest.mark.parametrize("n", FROM_THREE)
def test_edges_of_the_ego_net(n):
    values = oracle.all_ego_edges(n)
    assert exact(n, values, reached_codegrees(n) + 1)
    assert admissible(n, values, np.minimum(oracle.all_max_codegrees(n) + TIMES + 1, n - 1))
    assert not admissible(n, values, np.minimum(oracle.all_max_codegrees(n) + TIMES, n - 1))


@pytest.mark.parametrize("n", FROM_THREE)
def test_clustering_coefficient(n):
    values, degrees = oracle.all_clustering(n) / oracle.clustering_unit(n), oracle.all_degrees(n)
    assert admissible(n, values, 2 / np.maximum(2, degrees - TIMES))
    assert not admissible(n, values, 2 / np.maximum(2, degrees + 1 - TIMES))
    local = oracle.one_step(n, values)
    for d in range(2, n):
        assert local[degrees == d].max() == pytest.approx(2 / d)


@pytest.mark.parametrize("n", FROM_THREE)
def test_open_wedges(n):
    degrees = oracle.all_degrees(n)
    values = degrees * (degrees - 1) // 2 - oracle.all_triangles_at(n)
    assert admissible(n, values, degrees + TIMES)
    assert admissible(n, values, np.minimum(np.maximum(degrees + TIMES, 1), n - 2))
    for (i, j), without, change in added(n, values):
        assert (change[:, [i, j]] >= 0).all()
        assert (change[:, [i, j]] <= degrees[without][:, [i, j]]).all()
        others = np.delete(change, [i, j], axis=1)
        assert set(np.unique(others)) <= {-1, 0}


@pytest.mark.parametrize("n", [4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_which_metrics_are_monotone_under_addition(n):
    assert changes_when_added(n, oracle.all_degrees(n)) == (0, 1)
    assert changes_when_added(n, oracle.all_triangles_at(n)) == (0, n - 2)
    assert changes_when_added(n, oracle.all_ego_edges(n)) == (0, n - 1)
    for values in (ebc(n), oracle.all_clustering(n) / oracle.clustering_unit(n)):
        low, high = changes_when_added(n, values)
        assert low < 0 < high
    assert changes_when_added(n, ebc(n)) == (-max((n - 2) * (n - 3) / 4, (n - 1) / 2), n - 2)


# --- counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", FROM_THREE)
def test_triangle_count_has_the_stated_local_sensitivity(n):
    """Nissim, Raskhodnikova and Smith: max over i, j of min(a_ij + floor((t + min(t, b_ij))/2), n - 2)."""
    assert exact(n, oracle.all_triangles(n), reached_codegrees(n).max(axis=2, keepdims=True))


@pytest.mark.parametrize("n", FROM_THREE)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_star_count_has_the_stated_local_sensitivity(n, k):
    """Raise the larger end's other edges to n - 2 first, then the smaller end's; then flip their edge."""
    degrees, a = oracle.all_degrees(n), oracle.adjacency(n)
    stated = np.zeros((HORIZON + 1, len(degrees), 1))
    choose = np.array([comb(x, k - 1) for x in range(n)])
    for i, j in oracle.edge_list(n):
        ends = np.stack([degrees[:, i], degrees[:, j]]) - a[i, j]
        high, low = ends.max(axis=0), ends.min(axis=0)
        for t in range(HORIZON + 1):
            first = np.minimum(t, n - 2 - high)
            second = np.minimum(t - first, n - 2 - low)
            np.maximum(stated[t, :, 0], choose[high + first] + choose[low + second], out=stated[t, :, 0])
    assert exact(n, oracle.all_stars(n, k), stated)


@pytest.mark.parametrize("n", FROM_THREE)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_k_triangles_are_bounded_by_the_level(n, k):
    """LS <= (2k + 1) C(a_H, k), attained; for k = 2 that is (5/2) a_H (a_H - 1). The level moves by at most 1."""
    level = oracle.all_most_triangles_after_one_addition(n)
    local = oracle.one_step(n, oracle.all_k_triangles(n, k))[:, 0]
    bound = (2 * k + 1) * np.array([comb(x, k) for x in range(n)])[level]
    assert (local <= bound).all()
    assert local.max() == (2 * k + 1) * comb(n - 2, k)
    assert oracle.one_step(n, level[:, None]).max() == 1
    delta = (2 * k + 1) * np.array([comb(x, k) for x in range(n)])[
        np.minimum(level[None, :, None] + TIMES, n - 2)
    ]
    assert admissible(n, oracle.all_k_triangles(n, k), delta)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_golden_sensitivity_of_k_triangles(k):
    entry = golden("graphs", "k_triangle_sensitivity")
    assert oracle.one_step(6, oracle.all_k_triangles(6, k)).max() == entry["value"][str(k)]


@pytest.mark.parametrize("n", FROM_THREE)
def test_degree_histogram(n):
    values = oracle.all_degree_histograms(n)
    assert max(np.abs(after - values).sum(axis=1).max() for _, after in oracle.flips(n, values)) == 4
    assert oracle.one_step(n, values).max() == 2


# --- projection to a degree bound ------------------------------------------------------------------------------------


def public_orders(n: int) -> list[list[oracle.Edge]]:
    edges, rng = oracle.edge_list(n), np.random.default_rng(5)
    shuffled = [[edges[i] for i in rng.permutation(len(edges))] for _ in range(2)]
    return [edges, edges[::-1], sorted(edges, key=lambda e: (sum(e), e)), *shuffled]


def projected(n: int, bound: int, order: list[oracle.Edge], projection=oracle.project) -> np.ndarray:
    """[graph]: the index of its projection."""
    every = range(1 << comb(n, 2))
    return np.array([oracle.index_of(projection(oracle.graph_of(i, n), bound, order), n) for i in every])


def edges_that_differ(n: int, images: np.ndarray) -> int:
    return max(int(np.bitwise_count(after ^ images).max()) for _, after in oracle.flips(n, images))


@pytest.mark.parametrize(("n", "bound"), [(n, bound) for n in (3, 4, 5) for bound in range(1, n)])
def test_projections_of_neighbours_differ_in_at_most_three_edges(n, bound):
    """An added edge is at most kept itself and pushes out one edge at each end; ranks elsewhere do not move."""
    degrees = oracle.all_degrees(n)
    worst = 0
    for order in public_orders(n):
        images = projected(n, bound, order)
        assert degrees[images].max() <= bound
        within = (degrees <= bound).all(axis=1)
        assert (images[within] == np.flatnonzero(within)).all(), "a graph that obeys the bound is left alone"
        worst = max(worst, edges_that_differ(n, images))
        after = degrees[images]
        assert max(np.abs(other - after).sum(axis=1).max() for _, other in oracle.flips(n, after)) <= 2
        assert oracle.one_step(n, after).max() <= 2
        assert oracle.one_step(n, after.sum(axis=1, keepdims=True) // 2).max() <= 1
        assert oracle.one_step(n, oracle.all_triangles(n)[images]).max() <= 2 * (bound - 1)
    assert worst <= 3
    if n > 3 and bound < n - 1:
        assert worst == 3


def test_greedy_projection_has_no_such_bound():
    worst = max(
        edges_that_differ(5, projected(5, 2, order, oracle.project_greedily)) for order in public_orders(5)
    )
    assert 3 < worst <= golden("graphs", "greedy_projection_breaks")["value"]
    n = 12
    path = [(i, i + 1) for i in range(n - 1)]
    with_first, without = frozenset(path), frozenset(path[1:])
    images = [oracle.project_greedily(g, 1, path) for g in (with_first, without)]
    assert len(images[0] ^ images[1]) == n - 1, "keeping or not alternates along a path"
    assert len(oracle.project(with_first, 1, path) ^ oracle.project(without, 1, path)) <= 3


def test_projected_triangles_can_fall_at_both_ends():
    """Two triangles, joined by an edge that comes first: with bound 2 both are broken and none is made."""
    apart = frozenset([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)])
    order = [(0, 3), *(e for e in oracle.edge_list(6) if e != (0, 3))]
    counts = [oracle.triangles(oracle.project(g, 2, order), 6) for g in (apart, apart | {(0, 3)})]
    assert counts == [2, 0]
