"""Private top-k of nodes: what leaves, what is refused, and what the degree bound means."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.graphs import METRICS, Graph, project, top_k
from sordino.graphs.top_k import MECHANISMS, delta_per_edge, resolve


@pytest.fixture(scope="module")
def star_and_clique() -> Graph:
    """Node 0 is the centre of a star of 30 leaves; nodes 31..38 are a clique that hangs on it."""
    star = [(0, leaf) for leaf in range(1, 31)]
    clique = [(i, j) for i in range(31, 39) for j in range(i + 1, 39)]
    return Graph.from_edges(np.array([*star, *clique, (0, 31)]))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_large_budget_finds_the_broker(star_and_clique, mechanism):
    release = top_k(star_and_clique, 1, epsilon=1e5, mechanism=mechanism)
    assert release.value == [0]
    assert "one edge added or removed between existing nodes" in str(release)


@pytest.mark.parametrize(
    ("metric", "best"), [("triangles", 31), ("core_number", None), ("degree", 0), ("ego_edges", None)]
)
def test_every_metric_ranks_by_itself(star_and_clique, metric, best):
    release = top_k(star_and_clique, 8, epsilon=1e5, metric=metric)
    truth = METRICS[metric].scores(star_and_clique)
    assert sorted(truth[release.value]) == sorted(np.sort(truth)[-8:])
    if best is not None:
        assert release.value[0] == best or truth[release.value[0]] == truth.max()


def test_labels_are_released_not_positions():
    graph = Graph.of(np.array([["ann", "bob"], ["ann", "cat"], ["ann", "dan"]]))
    assert top_k(graph, 1, epsilon=1e5, metric="degree").value == ["ann"]


def test_auto_looks_at_public_parameters_only():
    between = METRICS["ego_betweenness"]
    assert resolve("auto", between, 0.01)[1].name == "degree"
    assert resolve("auto", between, 1.0)[1].name == "brokerage"
    assert resolve("auto", METRICS["clustering"], 1.0) == ("local_dampening", METRICS["clustering"])
    assert resolve("degree_proxy", between, 1.0)[1].name == "degree"


def test_a_declared_degree_that_is_exceeded_is_refused_without_a_number(star_and_clique):
    with pytest.raises(sd.PrivateDataError, match="max_degree = 10") as caught:
        top_k(star_and_clique, 1, epsilon=1, max_degree=10)
    assert "31" not in str(caught.value)


def test_a_declared_degree_is_part_of_the_printed_guarantee(star_and_clique):
    promised = top_k(star_and_clique, 1, epsilon=1, max_degree=35)
    assert "among graphs of degree at most 35" in str(promised)
    assert "among graphs" not in str(top_k(star_and_clique, 1, epsilon=1))


def test_projection_costs_three_times_and_says_so(star_and_clique):
    release = top_k(star_and_clique, 1, epsilon=3, max_degree=10, excess="project", metric="degree")
    assert release.guarantee.epsilon == pytest.approx(3)
    assert "projection" in release.guarantee.theorem
    approximate = top_k(
        star_and_clique, 5, epsilon=1, delta=1e-6, max_degree=10, excess="project", metric="degree"
    )
    assert approximate.guarantee.delta <= 1e-6
    assert int(project(star_and_clique, 10).degrees.max()) == 10


@pytest.mark.parametrize("epsilon", [700, 709.7, 710, 2000, 1e9, 1e300])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-6])
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip", "local_dampening"])
def test_a_projection_at_a_very_large_budget_keeps_its_word(star_and_clique, epsilon, delta, mechanism):
    release = top_k(
        star_and_clique, 3, epsilon=epsilon, delta=delta, max_degree=10, excess="project", mechanism=mechanism
    )
    assert len(set(release.value)) == 3
    assert release.guarantee.epsilon == epsilon
    assert release.guarantee.delta in (0.0, delta)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), 0.7, 1, 1 / 3])
def test_the_stated_epsilon_of_a_projection_is_the_one_that_was_asked(star_and_clique, epsilon):
    stated = top_k(star_and_clique, 1, epsilon=epsilon, max_degree=10, excess="project").guarantee.epsilon
    assert math.nextafter(stated, 0) < Fraction(epsilon) <= Fraction(stated)


@settings(max_examples=200)
@given(st.floats(0, 1, exclude_max=True), st.floats(1e-300, 1e4))
def test_three_edges_of_a_projection_spend_no_more_than_delta(delta, epsilon):
    """Group privacy, from its definition: δ₁(1 + e^ε + e^{2ε}) ≤ δ."""
    each = delta_per_edge(delta, epsilon, 3)
    before = ctx.prec
    ctx.prec = 256
    try:
        rate, given_delta, edge = (arb(fmpq(*Fraction(x).as_integer_ratio())) for x in (epsilon, delta, each))
        spent = edge * (1 + rate.exp() + (2 * rate).exp())
        assert not spent > given_delta
        if delta > 1e-100 and epsilon < 100:
            assert spent > given_delta * (1 - 2.0**-39)
    finally:
        ctx.prec = before
    assert delta_per_edge(delta, epsilon, 1) == delta


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("metric", METRICS)
def test_graphs_with_next_to_nothing_are_answered(nodes, edges, mechanism, metric):
    graph = Graph.from_edges(edges if nodes > 1 else [], nodes=nodes)
    for more in ({}, {"max_degree": 1, "excess": "project"}):
        assert len(top_k(graph, 1, epsilon=1, metric=metric, mechanism=mechanism, **more).value) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be >= 1"),
        ({"k": 40}, "at most the number of nodes"),
        ({"k": 2.5}, "whole number"),
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "finite"),
        ({"delta": 1}, "delta must be in"),
        ({"metric": "pagerank"}, "metric must be one of"),
        ({"metric": "triangle"}, "did you mean 'triangles'"),
        ({"mechanism": "smooth_noisy_max"}, "mechanism must be one of"),
        ({"max_degree": 0}, "max_degree must be >= 1"),
        ({"max_degree": "many"}, "whole number"),
        ({"excess": "ignore"}, "excess must be one of"),
    ],
)
def test_bad_input(star_and_clique, change, message):
    given = {"k": 1, "epsilon": 1.0} | change
    with pytest.raises(sd.ParameterError, match=message):
        top_k(star_and_clique, given.pop("k"), **given)
