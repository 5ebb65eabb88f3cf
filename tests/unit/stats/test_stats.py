"""Percentiles and quantiles: inputs people hold, edges, and releases."""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from flint import arb, fmpq

import sordino as sd
from sordino.stats import order_statistic_bound, quantile
from sordino.testing import seeded

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
        ({"values": ["a", "b"]}, sd.ParameterError, "must be numbers"),
        ({"values": [[1.0], [2.0]]}, sd.ParameterError, "one-dimensional"),
        ({"values": [1.0, 77.0]}, sd.PrivateDataError, r"ask for clipping \(clip\)"),
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


NO_RECORDS = [
    [],
    (),
    np.array([]),
    pd.Series([], dtype=float),
    pd.Series([], dtype=object),
    pl.Series([]),
    pa.array([]),
]


@pytest.mark.parametrize("values", NO_RECORDS, ids=lambda values: type(values).__name__)
@pytest.mark.parametrize("mechanism", ["auto", "exponential", "permute_and_flip"])
def test_no_records_are_a_database_where_records_are_added_and_removed(values, mechanism):
    """All points are equally far from nothing; the proof over all neighbours is in tests/exact."""
    asked = {"bounds": (0, 10), "step": 1, "mechanism": mechanism, "distance": sd.add_remove_row()}
    points, law = sd.quantile_law(values, 0.3, epsilon=1, **asked)
    assert points.tolist() == list(range(11))
    np.testing.assert_allclose(law, np.full(11, 1 / 11), rtol=1e-12)
    release = sd.quantile(values, 0.3, epsilon=1, clip=True, **asked)
    assert release.value in range(11)
    assert release.details.reveal() == {"exact": None, "realised_error": None}


@pytest.mark.parametrize("values", NO_RECORDS, ids=lambda values: type(values).__name__)
def test_no_records_are_a_database_where_records_are_replaced_but_none_of_them_can_be_released(values):
    asked = {"bounds": (0, 10), "step": 1, "epsilon": 1}
    for mechanism in ("auto", "exponential", "permute_and_flip", "inverse_sensitivity", "winner"):
        law = sd.quantile_law(values, 0.5, mechanism=mechanism, **asked)[1]
        np.testing.assert_allclose(law, np.full(11, 1 / 11), rtol=1e-12)
        assert sd.quantile(values, 0.5, mechanism=mechanism, **asked).value in range(11)
    assert sd.quantile(values, 0.5, mechanism="smooth_noise", **asked).value in range(11)
    with pytest.raises(sd.ParameterError, match="at least one record"):
        sd.select_record_at_percentile(values, 50, bounds=(0, 10), epsilon=1)


def test_utilities_are_exact_however_many_records_there_are(monkeypatch):
    """min(qn − L, M − qn) in fractions, for numbers of records beyond any memory; cut at 2^26 records."""
    module = importlib.import_module("sordino.stats.quantile")
    counts = np.array([3, 0, 2**35, 1, 2**38 + 1])
    for scale in (1, 2**3):
        ranks = module.Ranks.of_counts(counts * scale, Fraction(0), Fraction(1))
        share = round(0.3 * 2**26)
        target = Fraction(share, 2**26) * ranks.records
        for place, found in enumerate(module._utility(ranks, share).tolist()):
            exactly = min(target - int(ranks.below[place]), int(ranks.upto[place]) - target)
            assert Fraction(found) == max(-(2**26), min(2**26, exactly))


def smallest_smooth_bound(ranks: list[int], k: int, top: int, beta: float) -> arb:
    """max over t of e^(−βt)·LS(t) in whole numbers and balls, from the definition (Nissim et al. 2007, Prop. 3.4)."""
    n = len(ranks)

    def at(rank):
        return 0 if rank < 1 else top if rank > n else ranks[rank - 1]

    best = arb(0)
    rate = arb(fmpq(*Fraction(beta).as_integer_ratio()))
    for t in range(n + 1):
        local = max(at(k + s) - at(k + s - t - 1) for s in range(t + 2))
        bound = (-rate * t).exp() * local
        best = bound if bound > best else best
    return best


@pytest.mark.parametrize("step", [0.01, 0.1, 1 / 3, 2.0**-10, 1e-300, 1e290])
def test_the_smooth_bound_of_a_quantile_is_as_exact_as_its_noise_takes_it(step):
    """Relative 2^−40 is paid for; products of steps and floats are off by 2^−33 here before they are subtracted."""
    top, n, k = 1_000_000, 80, 40
    for base in range(900_000, 900_008):
        ranks = [base] * k + [base + 1] * (n - k)
        values = [rank * step for rank in ranks]
        release = quantile(
            values,
            0.5,
            bounds=(0, top * step * (1 + 1e-9)),
            step=step,
            epsilon=20.0,
            mechanism="smooth_noise",
        )
        known = release.details.reveal()
        exact = smallest_smooth_bound(ranks, k, top, known["beta"]) * arb(
            fmpq(*Fraction(step).as_integer_ratio())
        )
        off = arb(fmpq(*Fraction(known["sensitivity"]).as_integer_ratio())) / exact - 1
        assert abs(float(off)) < 2.0**-40
        assert known["exact"] == float(base * Fraction(step))


@pytest.mark.parametrize("step", [1.0, 0.01, 1e-300])
def test_noise_in_steps_of_the_lattice_does_not_depend_on_the_step(step):
    """The same draws at the same places, whatever a step is worth."""
    places = [3, 5, 7, 7, 8, 20]
    released = []
    for size in (1.0, step):
        with seeded(11):
            asked = {
                "bounds": (0, 40 * size * (1 + 1e-9)),
                "step": size,
                "epsilon": 2,
                "mechanism": "smooth_noise",
            }
            draws = [quantile([place * size for place in places], 0.5, **asked).value for _ in range(20)]
        released.append([round(draw / size) for draw in draws])
    assert released[0] == released[1]
    assert len(set(released[0])) > 3


@pytest.mark.parametrize("beta", [5e-324, 1e-307, 1e-3, 1.0, 709.0, 710.0, 1e300, 1.7e308])
@pytest.mark.parametrize("width", [1e-300, 1.0, 1e308])
def test_the_bound_of_an_order_statistic_is_finite_at_any_beta(beta, width):
    for values, k in itertools.product(([0.25, 0.5, 0.75], [0.5, 0.5, 0.5]), (1, 2, 3)):
        scaled = [value * width for value in values]
        bound = order_statistic_bound(scaled, k, width).at(beta)
        ranks = [0.0, *scaled, width]
        local = max(ranks[k + 1] - ranks[k], ranks[k] - ranks[k - 1])  # t = 0: one neighbour or the other
        assert local <= bound <= width * (1 + 2.0**-40)
        if beta > 700:
            assert bound <= max(local, width * 1e-300) * (1 + 2.0**-40)
        if beta < 1e-300:
            assert bound >= width * (1 - 2.0**-40)


def test_bounds_may_be_further_apart_than_the_largest_float():
    asked = {"bounds": (-1e308, 1e308), "step": 1e307, "epsilon": 1e4}
    points, law = sd.quantile_law([9e307] * 5, 0.5, **asked)
    assert np.isfinite(points).all()
    assert points[law.argmax()] == pytest.approx(9e307)
    assert sd.quantile([9e307] * 5, 0.5, **asked).value == pytest.approx(9e307)


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
    replaced = mechanism in ("inverse_sensitivity", "winner", "smooth_noise")
    assert release.guarantee.distance == (sd.replace_row() if replaced else sd.add_remove_row())
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


@pytest.mark.parametrize(
    "mechanism", ["local_dampening", "shifted_dampening", "inverse_sensitivity", "exponential"]
)
@pytest.mark.parametrize("p", [0, 50, 100])
def test_a_single_record_is_released_at_once(mechanism, p):
    asked = {"bounds": (0, 10), "epsilon": 1, "mechanism": mechanism}
    assert sd.select_record_at_percentile([7.0], p, **asked).value == 0


@pytest.mark.slow
def test_a_million_records_take_seconds():
    values = np.random.default_rng(0).normal(size=10**6).clip(-5, 5)
    release = sd.select_record_at_percentile(values, 90, bounds=(-5, 5), epsilon=1)
    assert 0 <= release.value < 10**6
    with pytest.raises(
        sd.PrivateDataError, match="use local_dampening"
    ):  # the number of distinct values decides
        sd.select_record_at_percentile(values, 90, bounds=(-5, 5), epsilon=1, mechanism="shifted_dampening")
