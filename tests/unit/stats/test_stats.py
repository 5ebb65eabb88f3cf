"""Percentiles and quantiles: inputs people hold, edges, and releases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sordino as sd

VALUES = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
COLUMNS = {
    "list": VALUES,
    "tuple": tuple(VALUES),
    "numpy": np.array(VALUES),
    "int numpy": np.array(VALUES, dtype=np.int32),
    "pandas": pd.Series(VALUES, name="x"),
    "pandas nullable": pd.Series(VALUES, dtype="Float64"),
    "polars": pl.Series("x", VALUES),
    "arrow": pa.array(VALUES),
    "arrow chunked": pa.chunked_array([VALUES[:3], VALUES[3:]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column_gives_the_same_law(kind):
    law = sd.quantile_law(COLUMNS[kind], 0.5, bounds=(0, 10), step=0.5, epsilon=1)[1]
    expected = sd.quantile_law(np.array(VALUES), 0.5, bounds=(0, 10), step=0.5, epsilon=1)[1]
    assert law.tolist() == expected.tolist()
    scores, _ = sd.percentile_question(COLUMNS[kind], 50, bounds=(0, 10))
    assert scores.max() == 0
    assert len(scores) == len(VALUES)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, None],
        [1.0, float("nan")],
        pd.Series([1.0, None]),
        pl.Series([1.0, None]),
        pa.array([1.0, None]),
        pa.chunked_array([[1.0, None]]),
        np.array([1.0, np.nan]),
    ],
)
def test_nulls_are_refused_without_showing_anything(values):
    for call in (
        lambda: sd.quantile(values, 0.5, bounds=(0, 10), step=1, epsilon=1),
        lambda: sd.select_record_at_percentile(values, 50, bounds=(0, 10), epsilon=1),
    ):
        with pytest.raises(sd.PrivateDataError, match="NaN or nulls"):
            call()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"q": 0}, sd.ParameterError, r"q must be in \(0, 1\)"),
        ({"q": 1.2}, sd.ParameterError, r"q must be in \(0, 1\)"),
        ({"bounds": (5, 5)}, sd.ParameterError, "lo < hi"),
        ({"bounds": (0, float("nan"))}, sd.ParameterError, "finite"),
        ({"step": 0}, sd.ParameterError, "step must be > 0"),
        ({"step": 20}, sd.ParameterError, "at most the width"),
        ({"step": 1e-12}, sd.ParameterError, "lattice points"),
        ({"epsilon": -1}, sd.ParameterError, "epsilon must be > 0"),
        ({"mechanism": "exponental"}, sd.ParameterError, "did you mean 'exponential'"),
        ({"values": []}, sd.ParameterError, "at least one record"),
        ({"values": ["a", "b"]}, sd.ParameterError, "must be numbers"),
        ({"values": [[1.0], [2.0]]}, sd.ParameterError, "one-dimensional"),
        ({"values": [1.0, 77.0]}, sd.PrivateDataError, "clip=True"),
        ({"distance": sd.flip_edge()}, sd.ParameterError, "replaced, or added"),
        (
            {"distance": sd.add_remove_row(), "mechanism": "winner"},
            sd.UnsupportedError,
            "use permute_and_flip",
        ),
    ],
)
def test_bad_quantile_input(change, error, message):
    given = {"values": VALUES, "q": 0.5, "bounds": (0, 10), "step": 1, "epsilon": 1} | change
    values, q = given.pop("values"), given.pop("q")
    with pytest.raises(error, match=message) as caught:
        sd.quantile(values, q, **given)
    assert "77" not in str(caught.value)


def test_clipping_moves_values_to_the_bounds():
    clipped = sd.quantile_law([1.0, 77.0, -5.0], 0.5, bounds=(0, 10), step=1, epsilon=1, clip=True)[1]
    by_hand = sd.quantile_law([1.0, 10.0, 0.0], 0.5, bounds=(0, 10), step=1, epsilon=1)[1]
    assert clipped.tolist() == by_hand.tolist()


@pytest.mark.parametrize(
    "mechanism", ["auto", "exponential", "permute_and_flip", "inverse_sensitivity", "winner", "smooth_noise"]
)
def test_a_large_budget_gives_the_exact_quantile(mechanism):
    values = np.repeat(np.arange(101.0), 10)
    release = sd.quantile(values, 0.25, bounds=(0, 100), step=1, epsilon=400, mechanism=mechanism)
    assert release.value == pytest.approx(25, abs=1)
    assert "one row replaced" in str(release.guarantee)
    assert release.details.reveal()


def test_values_lie_on_the_lattice_within_the_bounds():
    values = np.random.default_rng(0).normal(size=500)
    for mechanism in ("auto", "smooth_noise", "exponential"):
        for _ in range(20):
            value = sd.quantile(
                values, 0.9, bounds=(-1, 1), step=0.25, epsilon=0.01, mechanism=mechanism, clip=True
            ).value
            assert value in np.arange(-1, 1.25, 0.25)


@pytest.mark.parametrize(("p", "rank"), [(0, 1), (50, 3), (90, 5), (100, 5), (1, 1)])
def test_percentile_ranks(p, rank):
    from sordino.stats.percentile import percentile_rank

    assert percentile_rank(p, 5) == rank


@pytest.mark.parametrize(
    ("p", "message"), [(-1, "between 0 and 100"), (101, "between 0 and 100"), ("50", "number")]
)
def test_percentiles_out_of_range(p, message):
    with pytest.raises(sd.ParameterError, match=message):
        sd.select_record_at_percentile(VALUES, p, bounds=(0, 10), epsilon=1)


def test_the_record_released_is_a_position():
    release = sd.select_record_at_percentile(VALUES, 50, bounds=(0, 10), epsilon=1e4)
    assert VALUES[release.value] == 4.0 or VALUES[release.value] == 5.0 or VALUES[release.value] == 3.0
    assert sd.select_record_at_percentile([7.0], 50, bounds=(0, 10), epsilon=1).value == 0


@pytest.mark.slow
def test_a_million_records_take_seconds():
    values = np.random.default_rng(0).normal(size=10**6).clip(-5, 5)
    release = sd.select_record_at_percentile(values, 90, bounds=(-5, 5), epsilon=1)
    assert 0 <= release.value < 10**6
    with pytest.raises(sd.UnsupportedError, match="use local_dampening"):
        sd.select_record_at_percentile(values, 90, bounds=(-5, 5), epsilon=1, mechanism="shifted_dampening")
