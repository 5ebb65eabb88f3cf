"""Graph counts on all graphs of up to five nodes: values, profiles, and the laws of all mechanisms.

Neighbours differ in one edge. The oracles count subgraphs by listing them and take sensitivities from a walk over the
whole universe, so no formula under test is used. Every proof comes with a mutant that it must refuse.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sordino.audit import check_profile, prove
from sordino.graphs.counts import COUNTS, count_law, local_sensitivity_profile
from sordino.graphs.counts.degree_histogram import count_degrees
from sordino.graphs.counts.k_triangles import bound_k_triangles, count_k_triangles, find_triangle_level
from sordino.graphs.counts.subgraph_count import MECHANISMS
from sordino.graphs.graph import Graph
from sordino.mechanisms.noise import RoundedLaw, noise_law
from sordino.mechanisms.noise.ladder import ladder_law
from sordino.mechanisms.noise.rungs import LadderLaw, Rungs
from sordino.sensitivity import Profile
from tests.oracles import local_sensitivity, universe

# --- the definitions ---------------------------------------------------------------------------------------------


def adjacent(edges, i, j):
    return (min(i, j), max(i, j)) in edges


def near(edges, n, v):
    return [u for u in range(n) if u != v and adjacent(edges, u, v)]


def list_edges(edges, n, k):
    return sum(adjacent(edges, i, j) for i, j in itertools.combinations(range(n), 2))


def list_triangles(edges, n, k):
    triples = itertools.combinations(range(n), 3)
    return sum(all(adjacent(edges, i, j) for i, j in itertools.combinations(three, 2)) for three in triples)


def list_k_stars(edges, n, k):
    return sum(1 for v in range(n) for _ in itertools.combinations(near(edges, n, v), k))


def list_k_triangles(edges, n, k):
    """An edge and k further nodes, each adjacent to both of its ends."""
    return sum(
        all(adjacent(edges, v, i) and adjacent(edges, v, j) for v in others)
        for i, j in edges
        for others in itertools.combinations([v for v in range(n) if v not in (i, j)], k)
    )


def most_triangles_after_one_addition(edges, n):
    """a_H, from the definition: over all ways to add at most one edge, the most triangles on an edge."""
    missing = [pair for pair in itertools.combinations(range(n), 2) if pair not in edges]
    later = [edges | {pair} for pair in missing] or [edges]
    return max(
        (len(set(near(graph, n, i)) & set(near(graph, n, j))) for graph in later for i, j in graph), default=0
    )


LISTED = {
    "edges": list_edges,
    "triangles": list_triangles,
    "k_stars": list_k_stars,
    "k_triangles": list_k_triangles,
}
EXACT = [("edges", None), ("triangles", None), ("k_stars", 2), ("k_stars", 3), ("k_stars", 4)]
BOUNDED = [("k_triangles", 2), ("k_triangles", 3)]
LISTS = [*EXACT, *BOUNDED]


@cache
def space(n):
    return universe.graphs(n)


@cache
def graph_of(edges, n):
    return Graph.from_edges(np.array(sorted(edges), dtype=np.int64).reshape(-1, 2), nodes=n)


@cache
def values(n, what, k):
    return space(n).table(lambda edges: LISTED[what](edges, n, k))


@cache
def local(n, what, k):
    return local_sensitivity.local_sensitivity(space(n), values(n, what, k))


@cache
def profile_of(edges, n, what, k):
    return local_sensitivity_profile(graph_of(edges, n), what, k=k)


def table_of(n, what, k):
    """[graph, t] of the profile under test."""
    steps = space(n).diameter + 1
    return np.array([[profile_of(g, n, what, k).at(t) for t in range(steps)] for g in space(n).databases])


# --- values and sensitivities --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "k"), LISTS, ids=str)
def test_counts_are_the_numbers_of_listed_subgraphs(what, k):
    n = 5
    for edges, value in zip(space(n).databases, values(n, what, k), strict=True):
        graph = graph_of(edges, n)
        found = graph.edges if what == "edges" else COUNTS[what].value(graph, k)
        assert found == value


def test_the_degree_histogram_counts_nodes():
    for edges in space(4).databases:
        degrees = [len(near(edges, 4, v)) for v in range(4)]
        for most in (1, 2, 3):
            listed = [sum(min(d, most) == j for d in degrees) for j in range(most + 1)]
            assert count_degrees(graph_of(edges, 4), most).tolist() == listed


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(("what", "k"), EXACT, ids=str)
def test_exact_profiles_are_the_local_sensitivity_at_every_distance(n, what, k):
    found, expected = table_of(n, what, k), local(n, what, k)
    if expected.max() == 0:  # a count that is always 0 has the least bound there is
        expected = expected + (found > 0)
    assert (found == expected).all()
    bound = profile_of(frozenset(), n, what, k).bound
    assert bound == max(1, local_sensitivity.global_sensitivity(space(n), values(n, what, k)))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(("what", "k"), BOUNDED, ids=str)
def test_bounds_on_k_triangles_dominate_and_are_admissible(n, what, k):
    found, expected = table_of(n, what, k), local(n, what, k)
    assert (found >= expected).all()
    assert local_sensitivity.is_admissible(space(n), values(n, what, k), found[:, :, None])
    assert max(1, expected.max()) == profile_of(frozenset(), n, what, k).bound
    if n == 5:
        assert (found == expected).mean() > 0.5  # a bound that says something
        # one less is refused, by the prover of profiles too
        assert not local_sensitivity.is_admissible(
            space(n), values(n, what, k), np.maximum(found - 1, 0)[:, :, None]
        )


@pytest.mark.parametrize(("what", "k"), [("triangles", None), ("k_stars", 3), ("k_triangles", 2)], ids=str)
def test_the_auditor_accepts_the_profiles_and_refuses_them_shifted(what, k):
    n = 4

    def score(edges):
        return LISTED[what](edges, n, k)

    def shifted(edges):
        original = profile_of(edges, n, what, k)
        return Profile.from_table([original.at(max(0, t - 1)) for t in range(12)], bound=original.bound)

    def holds(profile):
        return check_profile(profile, space(n).databases, space(n).neighbours, score, horizon=8).holds

    assert holds(lambda edges: profile_of(edges, n, what, k))
    assert not holds(shifted)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_level_of_k_triangles_is_its_definition_and_moves_by_one(n):
    levels = space(n).table(lambda g: find_triangle_level(graph_of(g, n)))
    assert (levels == space(n).table(lambda g: most_triangles_after_one_addition(g, n))).all()
    assert all(abs(levels[x] - levels[y]) <= 1 for x, y in space(n).pairs())


def test_the_bound_on_k_triangles_holds_on_larger_random_graphs():
    rng = np.random.default_rng(7)
    attained = 0
    for trial in range(60):
        n = int(rng.integers(6, 9))
        pairs = list(itertools.combinations(range(n), 2))
        edges = frozenset(pair for pair in pairs if rng.random() < (0.3, 0.6, 0.9)[trial % 3])
        graph, k = graph_of(edges, n), 2 + trial % 3
        value, level = count_k_triangles(graph, k), find_triangle_level(graph)
        assert value == list_k_triangles(edges, n, k)
        assert level == most_triangles_after_one_addition(edges, n)
        bound = (2 * k + 1) * math.comb(level, k)
        for pair in pairs:
            other = edges ^ {pair}
            assert abs(most_triangles_after_one_addition(other, n) - level) <= 1
            assert abs(list_k_triangles(other, n, k) - value) <= bound
        attained += bound == bound_k_triangles(n, k)
    assert attained


# --- six nodes: all 32 768 graphs as bits, one graph of each shape handed to the code under test -------------------

SIX = 6
PAIRS = list(itertools.combinations(range(SIX), 2))
BIT = {pair: 1 << e for e, pair in enumerate(PAIRS)} | {(j, i): 1 << e for e, (i, j) in enumerate(PAIRS)}
EVERY = np.arange(1 << len(PAIRS))


def has(*pairs):
    """Which graphs hold all of these edges."""
    mask = sum(BIT[pair] for pair in pairs)
    return (mask & EVERY) == mask


@cache
def six_values(what, k):
    """The listing of subgraphs, for all graphs at once."""
    nodes = set(range(SIX))
    if what == "triangles":
        listed = [((a, b), (b, c), (a, c)) for a, b, c in itertools.combinations(range(SIX), 3)]
    elif what == "k_stars":
        listed = [
            [(v, u) for u in rays] for v in nodes for rays in itertools.combinations(sorted(nodes - {v}), k)
        ]
    else:
        listed = [
            [(i, j), *((i, v) for v in tips), *((j, v) for v in tips)]
            for i, j in PAIRS
            for tips in itertools.combinations(sorted(nodes - {i, j}), k)
        ]
    return sum(has(*pairs).astype(np.int64) for pairs in listed)


def six_neighbours(table):
    """The largest of a table's rows over all neighbours."""
    return np.max([table[EVERY ^ BIT[pair]] for pair in PAIRS], axis=0)


@cache
def six_shapes():
    """For every graph the least of all graphs that equal it up to the names of the nodes."""
    least = EVERY.copy()
    for order in itertools.permutations(range(SIX)):
        renamed = np.zeros_like(EVERY)
        for e, (i, j) in enumerate(PAIRS):
            renamed |= ((EVERY >> e) & 1) * BIT[order[i], order[j]]
        np.minimum(least, renamed, out=least)
    return np.unique(least, return_inverse=True)


def six_table(function):
    """A function of a Graph, for all graphs by their shapes."""
    shapes, of = six_shapes()
    edges = [[pair for pair in PAIRS if shape & BIT[pair]] for shape in shapes.tolist()]
    return np.array([function(graph_of(frozenset(pairs), SIX)) for pairs in edges])[of]


@pytest.mark.parametrize(
    ("what", "k"), [("triangles", None), ("k_stars", 2), ("k_stars", 3), *BOUNDED], ids=str
)
def test_counts_and_profiles_on_all_graphs_of_six_nodes(what, k):
    steps = len(PAIRS) + 1
    value = six_values(what, k)
    assert (six_table(lambda graph: COUNTS[what].value(graph, k)) == value).all()

    def profile(graph):
        found = local_sensitivity_profile(graph, what, k=k)
        return [found.at(t) for t in range(steps)]

    table = six_table(profile)
    sensitivity = np.max([np.abs(value[EVERY ^ BIT[pair]] - value) for pair in PAIRS], axis=0)
    if what == "k_triangles":
        assert (table[:, 0] >= sensitivity).all()
        assert (table[:, 1:] >= six_neighbours(table)[:, :-1]).all()
        return
    for t in range(steps):
        assert (table[:, t] == sensitivity).all()
        sensitivity = np.maximum(sensitivity, six_neighbours(sensitivity))


def test_the_level_of_k_triangles_moves_by_one_on_six_nodes():
    level = six_table(find_triangle_level)
    assert (np.abs(six_neighbours(level) - level) <= 1).all()
    assert (six_neighbours(-level) + level <= 1).all()


@pytest.mark.parametrize("beta", [0.05, 0.4, 1.5])
@pytest.mark.parametrize(("what", "k"), LISTS, ids=str)
def test_smooth_bounds_are_smooth_and_dominate(what, k, beta):
    n = 5 if beta == 0.4 else 4
    smooth = np.array([profile_of(g, n, what, k).smooth(beta) for g in space(n).databases])
    least = local_sensitivity.smooth_sensitivity(space(n), values(n, what, k), beta)
    assert (smooth >= least).all()
    assert local_sensitivity.is_smooth(space(n), smooth, beta)
    if (what, k) in EXACT and least.max() > 0:
        assert smooth == pytest.approx(least, rel=1e-12)


# --- laws ----------------------------------------------------------------------------------------------------------


def law_of(n, what, k, mechanism, epsilon, delta=0.0, **options):
    return lambda g: count_law(
        graph_of(g, n), what, k=k, mechanism=mechanism, epsilon=epsilon, delta=delta, **options
    )


def with_rate(law, rate):
    """A ladder on the same rungs that spends more on them."""

    def mutant(g):
        original = law(g)
        rungs = original.rungs
        widths = np.diff(rungs.ends).tolist()
        faster = Rungs(widths, rungs.top, Fraction(rate), cells=rungs.cells)
        return LadderLaw(original.value, faster, original.multiple)

    return mutant


def with_less_noise(law, factor):
    def mutant(g):
        original = law(g)
        return RoundedLaw(original.shape, original.centre, original.scale / Fraction(factor), original.step)

    return mutant


@cache
def shape_of(n):
    """For every graph, the first of all graphs that equal it up to the names of the nodes."""
    orders = [dict(enumerate(order)) for order in itertools.permutations(range(n))]

    def renamed(edges, names):
        return tuple(sorted(tuple(sorted((names[i], names[j]))) for i, j in edges))

    return {edges: frozenset(min(renamed(edges, names) for names in orders)) for edges in space(n).databases}


def proof(n, law, epsilon, delta=0.0):
    """Over all pairs of neighbours, each pair of shapes once: counts and profiles do not read names.

    That they do not is part of the tests of values and profiles, which cover every graph.
    """
    shapes = shape_of(n)

    def neighbours(shape):
        return {shapes[other] for other in space(n).neighbours(shape)} - {shape}

    return prove(law, sorted(set(shapes.values()), key=sorted), neighbours, epsilon, delta)


SUBGRAPHS = [("triangles", None), ("k_stars", 2), ("k_stars", 3), ("k_triangles", 2)]


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("mechanism", ["ladder", "zhang_ladder"])
@pytest.mark.parametrize(("what", "k"), SUBGRAPHS, ids=str)
def test_ladders_keep_epsilon_on_all_graphs_of_five_nodes(what, k, mechanism, epsilon):
    law = law_of(5, what, k, mechanism, epsilon)
    assert proof(5, law, epsilon).holds
    # rungs paid for with all of ε leave nothing for the totals
    assert not proof(5, with_rate(law, epsilon), epsilon).holds


def test_the_ladder_keeps_epsilon_on_every_single_pair_of_five_nodes():
    law = law_of(5, "triangles", None, "ladder", 2.0)
    found = prove(law, space(5).databases, space(5).neighbours, 2.0)
    assert found.holds
    assert found.pairs == 10_240
    assert found.worst_epsilon == pytest.approx(proof(5, law, 2.0).worst_epsilon, rel=1e-9)


@pytest.mark.parametrize("mechanism", ["ladder", "zhang_ladder"])
def test_ladders_keep_epsilon_on_a_coarser_lattice_and_with_another_beta(mechanism):
    options = {"step": 3} | ({"beta": 0.5} if mechanism == "ladder" else {})
    law = law_of(4, "k_stars", 2, mechanism, 1.0, **options)
    assert proof(4, law, 1.0).holds
    assert not proof(4, with_rate(law, 3), 1.0).holds


@pytest.mark.parametrize("variant", ["smooth", "zhang"])
def test_a_ladder_over_the_sensitivity_at_hand_is_refused(variant):
    """The same width on every rung, that of this graph, is not admissible."""

    def law(g):
        i = space(4).position[g]
        own = max(1.0, float(local(4, "triangles", None)[i, 0]))
        value = int(values(4, "triangles", None)[i])
        return ladder_law(value, Profile.from_table([own] * 60, bound=2.0), epsilon=1.0, variant=variant)

    assert not proof(4, law, 1.0).holds


@pytest.mark.parametrize("mechanism", [None, "flared_laplace", "student_t", "cauchy"])
@pytest.mark.parametrize(("what", "k"), SUBGRAPHS, ids=str)
def test_pure_smooth_noise_keeps_epsilon(what, k, mechanism):
    law = law_of(4, what, k, mechanism, 1.0)
    assert proof(4, law, 1.0).holds
    assert not proof(4, with_less_noise(law, 3), 1.0).holds


@pytest.mark.parametrize("mechanism", ["laplace", "levels"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (3.0, 0.05)])
def test_approximate_noise_keeps_delta(mechanism, epsilon, delta):
    what, k = ("k_triangles", 2) if mechanism == "levels" else ("triangles", None)
    law = law_of(4, what, k, mechanism, epsilon, delta)
    assert proof(4, law, epsilon, delta).holds
    assert not proof(4, with_less_noise(law, 4), epsilon, delta).holds


def test_levels_that_pay_keep_delta_on_five_nodes():
    law = law_of(5, "k_triangles", 2, "levels", 6.0, 0.2)
    scales = {law(g).scale for g in space(5).databases}
    assert len(scales) > 1  # not the fallback
    assert proof(5, law, 6.0, 0.2).holds
    assert not proof(5, with_less_noise(law, 3), 6.0, 0.2).holds


def test_student_t_keeps_epsilon_on_five_nodes_and_unsmoothed_it_does_not():
    assert proof(5, law_of(5, "triangles", None, "student_t", 2.0), 2.0).holds

    def unsmoothed(g):
        i = space(5).position[g]
        own = max(0.25, float(local(5, "triangles", None)[i, 0]))
        value = int(values(5, "triangles", None)[i])
        scale = noise_law(value, own, epsilon=2.0, noise="student_t", step=1)
        return scale

    assert not proof(5, unsmoothed, 2.0).holds


@pytest.mark.parametrize(("what", "k"), [("edges", None), *SUBGRAPHS], ids=str)
def test_global_noise_and_edges_keep_epsilon(what, k):
    mechanism = "global" if what != "edges" else "discrete_laplace"
    found = proof(5, law_of(5, what, k, mechanism, 0.7), 0.7)
    assert found.holds
    assert found.worst_epsilon == pytest.approx(0.7, rel=1e-9)
    assert not proof(5, law_of(5, what, k, mechanism, 0.71), 0.7).holds


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("what", "k"), SUBGRAPHS, ids=str)
def test_the_default_keeps_epsilon(what, k, epsilon):
    assert proof(4, law_of(4, what, k, None, epsilon), epsilon).holds


@pytest.mark.parametrize(("mechanism", "n"), [("cumulative", 4), ("bins", 4), ("cumulative", 5)])
@pytest.mark.parametrize("max_degree", [None, 2])
def test_the_degree_histogram_keeps_epsilon(mechanism, n, max_degree):
    """The joint law of all coordinates, each clamped to 0 … n: a clamped geometric law attains the same loss."""
    epsilon = 1.0

    def joint(spent):
        def law(g):
            parts = count_law(
                graph_of(g, n),
                "degree_histogram",
                mechanism=mechanism,
                epsilon=spent,
                max_degree=max_degree,
            )
            result = np.ones(1)
            for part in parts:
                below, above = part.log_masses(-400, 0), part.log_masses(n, n + 400)
                inside = np.exp(part.log_masses(1, n - 1))
                clamped = np.concatenate([[np.exp(below).sum()], inside, [np.exp(above).sum()]])
                result = np.outer(result, clamped).ravel()
            return result

        return law

    found = proof(n, joint(epsilon), epsilon)
    assert found.holds
    if not (mechanism == "bins" and max_degree == 2):
        assert found.worst_epsilon == pytest.approx(epsilon, rel=1e-6)
    assert not proof(n, joint(1.6 * epsilon), epsilon).holds


def test_every_mechanism_is_proved_here():
    assert set(MECHANISMS) == {
        "ladder",
        "zhang_ladder",
        "flared_laplace",
        "student_t",
        "cauchy",
        "laplace",
        "lln",
        "global",
    }  # lln: its law is proved in test_noise_smooth_bounds on all pairs that a smooth bound allows
