"""How precise filters should be: the properties that the rule has."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sordino as sd

GIVEN = {"density": 0.01, "size": 3.0, "noise_per_unit": 4.0}


def test_more_rows_want_steeper_filters():
    once, twice = (sd.sql.advise_precision(rows, **GIVEN) for rows in (1000, 2000))
    assert twice.slope == pytest.approx(math.sqrt(2) * once.slope)
    assert twice.total / 2000 == pytest.approx(once.total / 1000 / math.sqrt(2))
    assert once.approximation == pytest.approx(once.noise)


@pytest.mark.parametrize("kind", ["ramp", "sigmoid"])
def test_the_error_of_the_approximation_is_that_of_evenly_spread_rows(kind):
    """The absolute error added up over a fine lattice of rows; signs do not cancel in it."""
    advice = sd.sql.advise_precision(1000, **GIVEN, kind=kind)
    x = np.linspace(-50, 50, 2_000_001)
    sigmoid = 1 / (1 + np.exp(-np.clip(4 * advice.slope * x, -500, 500)))
    filtered = sigmoid if kind == "sigmoid" else np.clip(advice.slope * x + 0.5, 0, 1)
    area = float(np.sum(np.abs(filtered - (x > 0)))) * (x[1] - x[0])
    assert advice.approximation == pytest.approx(1000 * 0.01 * 3.0 * area, rel=1e-3)


def test_no_other_slope_has_a_smaller_total():
    best = sd.sql.advise_precision(1000, **GIVEN)
    product = best.approximation * best.slope
    for slope in best.slope * np.array([0.5, 0.9, 1.1, 2.0]):
        assert product / slope + GIVEN["noise_per_unit"] * slope > best.total


def test_exact_filters_are_preferred_where_rows_abound():
    few, many = (sd.sql.advise_precision(rows, **GIVEN, granularity=1.0) for rows in (10, 10_000))
    assert few.exact_noise == many.exact_noise == pytest.approx(4.0)
    assert not few.prefers_exact
    assert many.prefers_exact


@pytest.mark.parametrize(
    "wrong", [{"density": 0}, {"size": -1}, {"noise_per_unit": math.nan}, {"kind": "step"}, {"size": 1e-40}]
)
def test_what_is_no_assumption_is_refused(wrong):
    with pytest.raises(sd.ParameterError):
        sd.sql.advise_precision(1000, **(GIVEN | wrong))
