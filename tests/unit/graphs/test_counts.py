"""Counts of a graph: golden values, the ladder's law and draws, defaults, releases, and bad input."""

from __future__ import annotations

import csv
import itertools
import math
import os
from fractions import Fraction
from pathlib import Path

import igraph
import networkx
import numpy as np
import pytest

from sordino.core import (
    CalibrationError,
    ParameterError,
    PrivateDataError,
    UnsupportedError,
    flip_edge,
)
from sordino.graphs import ego_betweenness, max_codegree, project, top_k, triangles_per_node
from sordino.graphs.counts import COUNTS, count, count_law, local_sensitivity_profile
from sordino.graphs.counts.edge_triangles import count_triangles_per_edge
from sordino.graphs.counts.k_stars import count_k_stars
from sordino.graphs.counts.k_triangles import find_triangle_level, make_k_triangle_levels
from sordino.graphs.counts.subgraph_count import round_up_to_float
from sordino.graphs.graph import Graph
from sordino.mechanisms.noise import Levels, calibrate_levels
from sordino.mechanisms.noise.ladder import add_ladder_noise, ladder_law
from sordino.sampling.refined_uniform import RefinedUniform
from sordino.sensitivity import Profile
from sordino.testing import seeded

DATA = Path(os.environ.get("SORDINO_DATA", Path(__file__).parents[3].parent / "shared" / "data"))
GOLDEN = DATA / "reference-values" / "triangle_local_sensitivity.csv"
needs_data = pytest.mark.skipif(
    not GOLDEN.exists(), reason="the graphs of ../shared/data are not here: set SORDINO_DATA"
)


def random_graph(nodes, probability, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < probability, 1)
    return Graph.from_edges(np.argwhere(upper), nodes=nodes)


FIELD = random_graph(40, 0.3, 1)


# --- golden values -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", ["ca-GrQc", "facebook_combined", "email-Enron"])
def test_triangles_and_their_local_sensitivity_are_the_reference_values(name):
    with GOLDEN.open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["graph"] == name)
    graph = Graph.read(DATA / "graphs" / f"{name}.txt")
    assert (graph.nodes, graph.edges) == (int(row["nodes"]), int(row["edges"]))
    profile = local_sensitivity_profile(graph, "triangles")
    assert [profile.at(t) for t in range(21)] == [float(row[f"LS_at_distance_{t}"]) for t in range(21)]
    release = count(graph, "triangles", epsilon=1.0)
    assert release.details.reveal()["exact"] == int(row["triangles"])


@needs_data
def test_star_profiles_of_a_large_graph_start_at_its_two_largest_degrees():
    graph = Graph.read(DATA / "graphs" / "ca-GrQc.txt")
    degrees = np.sort(graph.degrees)[::-1].tolist()
    for k in (2, 3):
        start = local_sensitivity_profile(graph, "k_stars", k=k).at(0)
        assert math.comb(degrees[0] - 1, k - 1) + math.comb(degrees[1] - 1, k - 1) <= start
        assert start <= math.comb(degrees[0], k - 1) + math.comb(degrees[1], k - 1)


def test_example_22_on_the_levels_of_example_23():
    """Levels of 2-triangles by a_H from 2 on grow by more than 1 + t/2, so the printed total error is exact."""
    epsilon, delta, nodes = 1.0, 1e-3, 20
    t = epsilon / math.log(1 / delta)
    bounds = make_k_triangle_levels(nodes, 2).bounds
    assert bounds == tuple(max(1.0, 2.5 * a * (a - 1)) for a in range(nodes - 1))
    levels = Levels.chain(bounds[2:])
    assert all(after >= (1 + t / 2) * before for before, after in itertools.pairwise(bounds[2:]))
    noise = calibrate_levels(levels, epsilon=epsilon, delta=delta, method="theorem14", fallback=False)
    r = len(levels.bounds)
    printed = 2 * levels.largest / epsilon * (1 + 2 / t) * (1 - (1 + t / 2) ** -r)
    assert noise.expected_errors().sum() == pytest.approx(printed, rel=1e-6)


def test_example_23_levels_by_edges_gain_nothing_and_levels_by_triangles_do():
    """With k edges a_H may be min(n - 2, ⌊k/2⌋): at the top from 2(n - 2) edges on, whatever the graph holds."""
    nodes, epsilon, delta = 200, 1.0, 1e-2
    graph = random_graph(nodes, 0.05, 3)
    assert graph.edges > 2 * (nodes - 2)
    level = find_triangle_level(graph)
    assert level < 12
    noise = calibrate_levels(make_k_triangle_levels(nodes, 2), epsilon=epsilon, delta=delta)
    assert not noise.pure
    top = make_k_triangle_levels(nodes, 2).largest
    assert float(noise.scales[level]) < top / epsilon / 4
    # the pure ladder over the same bound is better at the δ that people use
    ladder = count_law(graph, "k_triangles", epsilon=epsilon, mechanism="ladder").expected_error()
    small = calibrate_levels(make_k_triangle_levels(nodes, 2), epsilon=epsilon, delta=1e-6, fallback=False)
    assert ladder < float(small.scales[level])


def test_levels_that_do_not_pay_are_plain_laplace_noise():
    release = count(FIELD, "k_triangles", epsilon=0.01, delta=1e-9, mechanism="levels")
    assert release.guarantee.delta == 0
    assert release.guarantee.theorem == "Laplace mechanism"


# --- numbers -------------------------------------------------------------------------------------------------------


def test_triangles_per_edge_follow_the_edge_list():
    sets = [set(FIELD.neighbours_of(v).tolist()) for v in range(FIELD.nodes)]
    expected = [len(sets[u] & sets[v]) for u, v in FIELD.edge_list().tolist()]
    assert count_triangles_per_edge(FIELD).tolist() == expected


def test_counts_past_the_floats_are_exact():
    star = Graph.from_edges([(0, v) for v in range(1, 400)], nodes=400)
    value = count_k_stars(star, 60)
    assert value == math.comb(399, 60)
    assert value > 2**200
    release = count(star, "k_stars", k=60, epsilon=1.0, mechanism="ladder")
    assert release.details.reveal()["exact"] == value
    assert isinstance(release.value, int)
    assert count(star, "k_stars", k=60, epsilon=1.0, mechanism="student_t").guarantee.epsilon == 1.0


@pytest.mark.parametrize("value", [0, 1, 2**53, 2**53 + 1, 2**80 + 1, 3**190])
def test_rounding_up_is_never_below(value):
    assert int(round_up_to_float(value)) >= value
    assert int(math.nextafter(round_up_to_float(value), -math.inf)) < value or value == 0


def test_star_profiles_where_the_largest_degrees_are_adjacent():
    """A double star: hubs 0 and 1 adjacent, each with its own leaves; a leaf is the best stranger of either."""
    edges = [(0, 1), *((0, v) for v in range(2, 9)), *((1, v) for v in range(9, 14))]
    profile = local_sensitivity_profile(Graph.from_edges(edges, nodes=14), "k_stars", k=4)

    def cost(x, y):
        return math.comb(x, 3) + math.comb(y, 3)

    assert profile.at(0) == max(cost(7, 5), cost(8, 1))  # 8 with a stranger of degree 1 wins
    assert profile.at(0) == cost(8, 1)
    assert profile.at(4) == cost(12, 1)
    assert profile.at(6) == max(cost(12, 3), cost(12, 6)) == cost(12, 6)


def test_a_regular_graph_is_settled_without_looking_at_all_pairs():
    ring = Graph.from_edges([(v, (v + 1) % 50_000) for v in range(50_000)], nodes=50_000)
    assert local_sensitivity_profile(ring, "k_stars", k=2).at(0) == 4


# --- the ladder ----------------------------------------------------------------------------------------------------

STEEP = Profile.from_table([1.0, 1.0, 2.0, 4.0, 5.0], bound=6.0)
RUNS = 20_000
RISK = 5e-10  # one side of one outcome: below 1e-6 over all outcomes of all tests here, whatever the seed


def frequencies(law, first, last, seed=4):
    with seeded(seed):
        draws = np.array([law.draw() for _ in range(RUNS)])
    inside = draws[(draws >= first) & (draws <= last)]
    return np.bincount(inside - first, minlength=last - first + 1) / RUNS


def allowed(law):
    """Bernstein: P(|f - p| > a) <= 2 exp(-N a²/(2p(1-p) + 2a/3))."""
    log_term = math.log(1 / RISK) / RUNS
    return log_term / 3 + np.sqrt((log_term / 3) ** 2 + 2 * log_term * law * (1 - law))


@pytest.mark.parametrize("first_bits", [64, 1])
@pytest.mark.parametrize("variant", ["smooth", "zhang"])
def test_ladder_draws_follow_the_law(variant, first_bits, monkeypatch):
    """N = 20 000 draws, 61 outcomes; one first bit makes nearly every draw ask for more bits."""
    monkeypatch.setattr(
        "sordino.mechanisms.noise.rungs.RefinedUniform", lambda: RefinedUniform(bits=first_bits)
    )
    law = ladder_law(10, STEEP, epsilon=1.5, variant=variant)
    masses = np.exp(law.log_masses(-20, 40))
    assert (np.abs(frequencies(law, -20, 40) - masses) <= allowed(masses)).all()


@pytest.mark.parametrize("variant", ["smooth", "zhang"])
def test_the_ladder_of_another_budget_or_value_is_told_apart(variant):
    found = frequencies(ladder_law(10, STEEP, epsilon=1.5, variant=variant), -20, 40)
    for other in (
        ladder_law(10, STEEP, epsilon=1.8, variant=variant),
        ladder_law(11, STEEP, epsilon=1.5, variant=variant),
        ladder_law(10, Profile.constant(3.0), epsilon=1.5, variant=variant),
    ):
        masses = np.exp(other.log_masses(-20, 40))
        assert (np.abs(found - masses) > allowed(masses)).any()


def test_the_zhang_ladder_is_its_definition():
    """P(y) ∝ e^{-(ε/2)·rung}, rung by rung from the profile."""
    epsilon, value = 0.9, 3
    widths = [1, 1, 2, 4, 5, *([6] * 400)]
    ends = np.cumsum([0, *widths])
    weights = {}
    for y in range(value - 1500, value + 1501):
        rung = int(np.searchsorted(ends, abs(y - value)))
        weights[y] = math.exp(-epsilon / 2 * rung)
    total = math.fsum(weights.values())
    law = ladder_law(value, STEEP, epsilon=epsilon, variant="zhang")
    expected = [math.log(weights[y] / total) for y in range(-200, 201)]
    assert np.allclose(law.log_masses(-200, 200), expected, rtol=1e-11, atol=1e-11)
    error = math.fsum(abs(y - value) * w for y, w in weights.items()) / total
    assert law.expected_error() == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("variant", ["smooth", "zhang"])
def test_a_large_budget_gives_the_value_itself(variant):
    profile = Profile.from_function(lambda t: np.minimum(400 + t, 30_000), bound=30_000)
    errors = [ladder_law(0, profile, epsilon=e, variant=variant).expected_error() for e in (5, 20, 80, 3000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[1] < 10
    assert errors[2] < 1e-9
    law = ladder_law(7, profile, epsilon=3000.0, variant=variant)
    assert {law.draw() for _ in range(20)} == {7}
    assert np.exp(law.log_masses(*law.window())).sum() == pytest.approx(1)


def test_a_bound_that_is_no_whole_number_is_reached_alike_by_all_ladders():
    """Past its list a ladder has the width that listed steps at the bound have."""
    listed = ladder_law(0, Profile.from_table([0.5, 2.3, 2.3, 2.3], bound=2.3), epsilon=1.0, variant="zhang")
    bare = ladder_law(0, Profile.from_table([0.5], bound=2.3), epsilon=1.0, variant="zhang")
    assert listed.rungs.ends == bare.rungs.ends
    assert listed.rungs.top == bare.rungs.top == 5


def test_smooth_rungs_grow_by_e_to_the_beta_at_most_and_bound_the_profile():
    beta = 0.15
    law = ladder_law(0, STEEP, epsilon=1.5, beta=beta)
    rungs = law.rungs
    widths = [*np.diff(rungs.ends).tolist(), rungs.top, rungs.top]
    assert rungs.rate == Fraction(1.5) - Fraction(beta)
    assert all(after <= math.exp(beta) * before for before, after in itertools.pairwise(widths))
    sizes = np.array(widths) / rungs.cells
    assert all(sizes[t] >= STEEP.at(t) for t in range(len(sizes)))
    # no wider than the smooth sensitivity by more than rounding up to cells, once per rung
    assert sizes[0] <= STEEP.smooth(beta) + 1 / 16 + 1 / rungs.cells


@pytest.mark.parametrize("variant", ["smooth", "zhang"])
@pytest.mark.parametrize("step", [1, 3])
def test_ladder_masses_sum_to_one_and_tails_are_bounds(variant, step):
    law = ladder_law(-7, STEEP, epsilon=0.8, variant=variant, step=step)
    first, last = law.window()
    masses = np.exp(law.log_masses(first, last))
    assert masses.sum() == pytest.approx(1, abs=1e-11)
    for cut in (20, 40, 60):
        outside = masses.sum() - np.exp(law.log_masses(-cut, cut)).sum()
        assert law.tail_mass(-cut, cut) == pytest.approx(outside, rel=1e-6)
    assert law.tail_mass(50, 60) == 1.0


def test_numbers_too_large_for_machine_words_have_a_law():
    bound = 2.0**70
    law = ladder_law(2**90, Profile.from_table([1.0, bound / 2], bound=bound), epsilon=1.0, step=2**66)
    first, last = law.window()
    assert np.exp(law.log_masses(first, last)).sum() == pytest.approx(1, abs=1e-9)
    with seeded(2):
        assert abs(law.draw() * law.step - 2**90) < 200 * 2**70


def test_the_smooth_ladder_has_less_error_than_the_original_and_than_student_t():
    profile = Profile.from_function(lambda t: np.minimum(60 + t, 5000), bound=5000)
    for epsilon in (0.5, 1.0, 2.0):
        smooth = ladder_law(0, profile, epsilon=epsilon).expected_error()
        assert smooth < 0.7 * ladder_law(0, profile, epsilon=epsilon, variant="zhang").expected_error()
        assert smooth < 0.95 * profile.smooth(epsilon / 8) * 1.52 / epsilon  # E|T₃|/α at its default β


@pytest.mark.parametrize(
    ("call", "problem", "says"),
    [
        (lambda: ladder_law(1.5, STEEP, epsilon=1), PrivateDataError, "whole number"),
        (lambda: ladder_law(1, STEEP, epsilon=0), ParameterError, "epsilon must be > 0"),
        (lambda: ladder_law(1, STEEP, epsilon=1, beta=1), CalibrationError, "beta must be < epsilon"),
        (lambda: ladder_law(1, STEEP, epsilon=1, variant="smoth"), ParameterError, "did you mean 'smooth'"),
        (lambda: ladder_law(1, STEEP, epsilon=1, variant="zhang", beta=0.1), ParameterError, "no beta"),
        (lambda: ladder_law(1, STEEP, epsilon=1, step=0.5), ParameterError, "step"),
        (
            lambda: ladder_law(1, Profile.from_table([[1.0], [1.0]], bound=2), epsilon=1),
            ParameterError,
            "several candidates",
        ),
        (
            lambda: ladder_law(1, Profile.from_table([1.0], bound=math.inf), epsilon=1),
            UnsupportedError,
            "finite bound",
        ),
    ],
)
def test_bad_ladders_are_refused(call, problem, says):
    with pytest.raises(problem, match=says):
        call()


def test_laws_of_different_ladders_are_not_compared():
    one, two = ladder_law(0, STEEP, epsilon=1.0), ladder_law(0, STEEP, epsilon=1.1)
    with pytest.raises(UnsupportedError, match="one rate"):
        one.tail_loss(two, -50, 50)
    with pytest.raises(UnsupportedError, match="two ladders"):
        one.tail_loss("law", -50, 50)
    assert one.tail_loss(ladder_law(400, STEEP, epsilon=1.0), -50, 50) == math.inf
    assert repr(one) == "LadderLaw(<secret>, step=1)"


def test_ladder_release():
    with seeded(3):
        release = add_ladder_noise(100, STEEP, epsilon=1.0, distance=flip_edge())
    assert isinstance(release.value, int)
    assert not release.private
    assert release.guarantee.distance == flip_edge()
    details = release.details.reveal()
    assert details["realised_error"] == release.value - 100
    assert details["beta"] == pytest.approx(0.125)


# --- releases ------------------------------------------------------------------------------------------------------

ASKED = [
    ("edges", {}),
    ("triangles", {}),
    ("triangles", {"mechanism": "zhang_ladder"}),
    ("triangles", {"mechanism": "student_t"}),
    ("triangles", {"mechanism": "cauchy", "step": 5}),
    ("triangles", {"mechanism": "laplace", "delta": 1e-6}),
    ("triangles", {"mechanism": "lln", "delta": 1e-6}),
    ("triangles", {"mechanism": "global", "step": 10}),
    ("k_stars", {"k": 2}),
    ("k_stars", {"k": 3, "mechanism": "global"}),
    ("k_triangles", {}),
    ("k_triangles", {"k": 3, "beta": 0.05}),
    ("k_triangles", {"mechanism": "levels", "delta": 1e-3}),
    ("degree_histogram", {}),
    ("degree_histogram", {"mechanism": "bins", "max_degree": 5}),
]


@pytest.mark.parametrize(("what", "options"), ASKED, ids=str)
def test_every_release_states_its_guarantee_and_keeps_its_details(what, options):
    release = count(FIELD, what, epsilon=1.0, **options)
    assert release.guarantee.distance == flip_edge()
    assert release.guarantee.epsilon == 1.0
    assert release.guarantee.delta <= options.get("delta", 0.0)
    assert "one edge added or removed between existing nodes" in str(release)
    assert release.private
    assert str(release.details) == "<secret>"
    assert "exact" in release.details.reveal()
    assert "secret" not in str(release.to_dict())
    step = options.get("step", 1)
    assert np.all(np.asarray(release.value) % step == 0)


@pytest.mark.parametrize("what", COUNTS)
def test_a_graph_without_edges_and_the_smallest_graph_are_fine(what):
    options = {"k": 2} if what == "k_stars" else {}
    for nodes in (2, 3, 30):
        empty = Graph.from_edges(np.empty((0, 2), dtype=np.int64), nodes=nodes)
        release = count(empty, what, epsilon=1.0, **options)
        assert release.guarantee.epsilon == 1.0
        if what == "degree_histogram":
            assert len(release.value) == nodes


def test_the_default_depends_on_public_parameters_only():
    full = Graph.from_edges([(i, j) for i in range(40) for j in range(i)], nodes=40)
    empty = Graph.from_edges(np.empty((0, 2), dtype=np.int64), nodes=40)
    for epsilon in (0.001, 0.1, 1.0, 10.0):
        names = {count(graph, "triangles", epsilon=epsilon).mechanism for graph in (full, empty, FIELD)}
        assert len(names) == 1
    assert count(FIELD, "triangles", epsilon=1.0).mechanism == "flared_laplace noise"
    assert count(FIELD, "triangles", epsilon=0.001).mechanism == "discrete_laplace noise"


def test_histograms_add_up_and_can_be_made_non_negative():
    with seeded(5):
        plain = np.array(count(FIELD, "degree_histogram", epsilon=0.2).value)
        tidy = np.array(count(FIELD, "degree_histogram", epsilon=0.2, non_negative=True).value)
        bins = np.array(
            count(FIELD, "degree_histogram", epsilon=0.2, mechanism="bins", non_negative=True).value
        )
    assert plain.sum() == tidy.sum() == FIELD.nodes
    assert plain.min() < 0
    assert tidy.min() >= 0
    assert bins.min() >= 0


@pytest.mark.parametrize("epsilon", [1e-17, 1e-18, 1e-19, 1e-60])
@pytest.mark.parametrize("mechanism", ["cumulative", "bins"])
@pytest.mark.parametrize("non_negative", [False, True])
def test_histograms_hold_noise_beyond_machine_words(epsilon, mechanism, non_negative):
    release = count(
        FIELD, "degree_histogram", epsilon=epsilon, mechanism=mechanism, non_negative=non_negative
    )
    assert all(type(value) is int for value in release.value)
    if mechanism == "cumulative":
        assert sum(release.value) == FIELD.nodes
    if non_negative:
        assert min(release.value) >= 0


def test_cumulative_histograms_have_half_the_variance():
    errors = {}
    for mechanism in ("cumulative", "bins"):
        with seeded(6):
            releases = [count(FIELD, "degree_histogram", epsilon=1.0, mechanism=mechanism) for _ in range(60)]
        exact = releases[0].details.reveal()["exact"]
        errors[mechanism] = np.mean([(np.array(release.value) - exact) ** 2 for release in releases])
    assert errors["cumulative"] < 0.7 * errors["bins"]


@pytest.mark.parametrize(
    ("what", "options", "problem", "says"),
    [
        ("triangels", {}, ParameterError, "did you mean 'triangles'"),
        ("triangles", {"epsilon": 0}, ParameterError, "epsilon must be > 0, got 0"),
        ("triangles", {"epsilon": -0.5}, ParameterError, "epsilon must be > 0, got -0.5"),
        ("triangles", {"epsilon": math.nan}, ParameterError, "epsilon must be finite"),
        (
            "triangles",
            {"epsilon": 5e-324},
            ParameterError,
            "between 1e-100 and 1e\\+100 for a count, got 5e-324",
        ),
        ("triangles", {"epsilon": 5e-324, "mechanism": "zhang_ladder"}, ParameterError, "between 1e-100 and"),
        (
            "k_triangles",
            {"epsilon": 5e-324, "mechanism": "levels", "delta": 1e-9},
            ParameterError,
            "between 1e-100",
        ),
        ("edges", {"epsilon": 5e-324}, ParameterError, "between 1e-100 and"),
        ("degree_histogram", {"epsilon": 1e300}, ParameterError, "between 1e-100 and"),
        ("triangles", {"delta": 1.0}, ParameterError, "delta must be in"),
        ("triangles", {"mechanism": "leder"}, ParameterError, "did you mean 'ladder'"),
        ("triangles", {"mechanism": "laplace"}, CalibrationError, "needs delta > 0"),
        ("triangles", {"mechanism": "levels", "delta": 0.1}, ParameterError, "mechanism must be one of"),
        ("triangles", {"k": 3}, ParameterError, "takes no k"),
        ("triangles", {"step": 0}, ParameterError, "step must be >= 1"),
        ("triangles", {"step": 0.5}, ParameterError, "step must be a whole number"),
        ("triangles", {"beta": 0}, ParameterError, "beta must be > 0"),
        ("triangles", {"beta": 2.0}, CalibrationError, "beta = 2 is too large"),
        ("triangles", {"beta": 0.1, "mechanism": "global"}, ParameterError, "no beta"),
        ("triangles", {"max_degree": 3}, ParameterError, "takes no max_degree"),
        ("triangles", {"non_negative": True}, ParameterError, "takes no non_negative"),
        ("k_stars", {}, ParameterError, "needs k"),
        ("k_stars", {"k": 1}, ParameterError, "k must be >= 2, got 1"),
        ("k_stars", {"k": 2.5}, ParameterError, "k must be a whole number"),
        ("k_triangles", {"k": 0}, ParameterError, "k must be >= 2, got 0"),
        ("k_triangles", {"mechanism": "levels"}, CalibrationError, "need delta > 0"),
        ("edges", {"mechanism": "ladder"}, ParameterError, "mechanism must be one of discrete_laplace"),
        ("edges", {"step": 5}, ParameterError, "takes no step"),
        ("degree_histogram", {"max_degree": 0}, ParameterError, "max_degree must be >= 1"),
        ("degree_histogram", {"mechanism": "ladder"}, ParameterError, "mechanism must be one of"),
    ],
)
def test_bad_questions_are_refused_before_anything_is_drawn(what, options, problem, says, monkeypatch):
    def never(count):
        raise AssertionError("randomness was touched")

    monkeypatch.setattr("sordino.sampling.source.random_bytes", never)
    with pytest.raises(problem, match=says):
        count(FIELD, what, **({"epsilon": 1.0} | options))


def test_what_is_no_graph_or_too_small_is_refused():
    with pytest.raises(ParameterError, match="at least 2 nodes, got 1"):
        count(Graph.from_edges(np.empty((0, 2), dtype=np.int64), nodes=1), "edges", epsilon=1.0)
    with pytest.raises(ParameterError, match=r"edges must be .* a networkx .* graph, .* got int"):
        count(7, "edges", epsilon=1.0)
    with pytest.raises(ParameterError, match="at least 2 nodes"):
        local_sensitivity_profile(Graph.from_edges(np.empty((0, 2), dtype=np.int64), nodes=1), "triangles")


def test_stars_too_large_for_any_noise_are_refused():
    wide = Graph.from_edges(np.empty((0, 2), dtype=np.int64), nodes=5000)
    with pytest.raises(UnsupportedError, match="give a smaller k"):
        count(wide, "k_stars", k=400, epsilon=1.0)


@pytest.mark.parametrize(
    "given",
    [
        networkx.karate_club_graph(),
        networkx.to_scipy_sparse_array(networkx.karate_club_graph()),
        networkx.to_pandas_edgelist(networkx.karate_club_graph()),
        igraph.Graph.from_networkx(networkx.karate_club_graph()),
    ],
    ids=lambda given: type(given).__name__,
)
def test_graphs_of_other_libraries_are_counted_as_they_are(given):
    own = Graph.of(networkx.karate_club_graph())
    asked = {"epsilon": 1e6, "mechanism": "ladder"}
    assert count(given, "triangles", **asked).value == 45  # networkx.triangles of the same graph, over 3
    law, other = (count_law(graph, "triangles", epsilon=1.0) for graph in (given, own))
    assert law.log_masses(40, 50).tolist() == other.log_masses(40, 50).tolist()
    for function in (triangles_per_node, max_codegree, ego_betweenness):
        assert function(given).tolist() == function(own).tolist()
    assert project(given, 3).edges == project(own, 3).edges
    assert top_k(given, 1, epsilon=1e6, metric="degree").value == [33]
