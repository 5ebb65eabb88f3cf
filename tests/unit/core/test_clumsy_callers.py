"""Slips that newcomers made, each with the sentence it gets now."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sordino as sd
from sordino.graphs import Graph

SCORES = [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sd.select(SCORES, profile=1, epsilon=1, distance=sd.replace_row),
            "such as sd.replace_row()",
        ),
        (lambda: sd.select(SCORES, profile=1, epsilon=1, distance="row"), "must be a Distance"),
        (
            lambda: sd.quantile([1.0], 0.5, bounds=(0, 2), step=1, epsilon=1, distance="replace"),
            "must be a Distance",
        ),
        (lambda: sd.add_noise(5, 1, epsilon=1, step=1, distance=sd.replace_row), "must be a Distance"),
        (lambda: sd.add_ladder_noise(5, 1, epsilon=1, distance="row"), "must be a Distance"),
        (lambda: sd.Profile.from_table([1.0], bound=2, distance="row"), "must be a Distance"),
        (lambda: sd.select(SCORES, sensitivity=1, epsilon=1), "did you mean 'profile'"),
        (lambda: sd.select(SCORES, profile=1, epsilom=1), "did you mean 'epsilon'"),
        (lambda: sd.select(SCORES, epsilon=1), "profile= is missing"),
        (lambda: sd.select(SCORES, profile=1), "epsilon= is missing"),
        (lambda: sd.select(SCORES, profile=None, epsilon=1), "profile must be a Profile, or a number"),
        (lambda: sd.select(["1", "2"], profile=1, epsilon=1), "scores must be numbers"),
        (lambda: sd.select([True, False], profile=1, epsilon=1), "scores must be numbers"),
        (
            lambda: sd.select(pd.Series(pd.to_datetime(["2020-01-01"])), profile=1, epsilon=1),
            "must be numbers",
        ),
        (lambda: sd.select((x for x in SCORES), profile=1, epsilon=1), "got generator"),
        (lambda: sd.select({1.0, 2.0}, profile=1, epsilon=1), "got set"),
        (lambda: sd.select(SCORES, profile=1, epsilon=1, monotone="no"), "True or False"),
        (lambda: sd.select(SCORES, profile=1e-320, epsilon=1), "at least 1e-250"),
        (lambda: sd.select(SCORES, profile=1, epsilon=10**400), "below 1.8e308"),
        (
            lambda: sd.quantile(pl.DataFrame({"a": [1, 2]}), 0.5, bounds=(0, 2), step=1, epsilon=1),
            "choose one",
        ),
        (lambda: sd.quantile(pl.LazyFrame({"a": [1]}), 0.5, bounds=(0, 2), step=1, epsilon=1), "choose one"),
        (lambda: sd.quantile([[1], [1, 2]], 0.5, bounds=(0, 2), step=1, epsilon=1), "different lengths"),
        (
            lambda: sd.quantile([1.0], 0.5, bounds=(0, 2), step=1, epsilon=1, clip="no"),
            "clip must be True or False",
        ),
        (lambda: sd.quantile([1.0], 0.5, bounds={0, 2}, step=1, epsilon=1), "pair"),
        (lambda: sd.add_noise("5", 1, epsilon=1, step=1), "value must be a number, got str"),
        (lambda: sd.add_noise(5, 1, epsilon=1, step=1, beta=0.5), "constant bound has no beta"),
        (lambda: sd.Profile.from_function(3, bound=1), "must be callable"),
        (lambda: sd.Profile.from_function(lambda t: "a", bound=1), "array of numbers"),
        (lambda: sd.Profile.from_table(["1"], bound=2), "numeric"),
        (
            lambda: sd.select_record_at_percentile([1.0], 50, bounds=(0, 2), epsilon=1, profile=3),
            "not accepted",
        ),
        (lambda: sd.graphs.top_k(7, 1, epsilon=1), "edges must be"),
        (lambda: sd.graphs.top_k(Graph.of([(0, 1)]), 1, epsilon=1, metric=None), "metric must be a Metric"),
        (lambda: Graph.read(None), "file name"),
        (lambda: sd.stats.order_statistic_bound([1.0, 2.0], 0, 5), "k must be >= 1"),
        (lambda: sd.stats.order_statistic_bound([1.0, 2.0], 3, 5), "at most the number of values"),
        (lambda: sd.stats.order_statistic_bound([1.0, 2.0], 1, 0), "width must be > 0"),
    ],
)
def test_the_slip_is_named(call, message):
    with pytest.raises(sd.ParameterError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: sd.select(np.ma.array(SCORES, mask=[0, 1, 0]), profile=1, epsilon=1),
        lambda: sd.stats.order_statistic_bound([1.0, np.nan], 1, 5),
        lambda: sd.stats.order_statistic_bound([1.0, 9.0], 1, 5),
    ],
)
def test_data_that_break_the_question_are_refused(call):
    with pytest.raises(sd.PrivateDataError):
        call()


def test_an_order_statistic_does_not_depend_on_the_order_given():
    values = pd.Series([30.0, 10.0, 20.0, 90.0])
    bounds = [
        sd.stats.order_statistic_bound(given, 2, 100).at(0.1)
        for given in (values, values.sort_values(), values.sort_values(ascending=False), values.tolist())
    ]
    assert len(set(bounds)) == 1


def test_numbers_of_every_kind_are_taken():
    for epsilon in (1, 1.0, Fraction(1), Decimal(1), np.float64(1), np.int64(1)):
        assert sd.select(SCORES, profile=1, epsilon=epsilon).guarantee.epsilon == 1
    total = np.array([1, 2, 3]).sum()
    assert isinstance(sd.add_noise(total, 1, epsilon=1, step=np.int64(2)).value, int)


def test_released_values_are_plain_and_releases_read_well():
    graph = Graph.of(np.array([[5, 7], [7, 9], [9, 5]]))
    top = sd.graphs.top_k(graph, 2, epsilon=1)
    histogram = sd.graphs.count(graph, "degree_histogram", epsilon=1)
    assert json.loads(json.dumps(top.to_dict()))["value"] == top.value
    assert all(type(label) is int for label in top.value)
    assert type(histogram.value) is list
    assert repr(sd.select(SCORES, profile=1, epsilon=2)).startswith("Release(")
    assert "ε = 2" in repr(sd.select(SCORES, profile=1, epsilon=2))
    with pytest.raises(TypeError):
        _ = sd.Profile.constant(1) & 3
