"""Elementary functions: their bounds are the suprema of the definition, taken over a grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sordino.sensitivity.derivatives.algebra import Arrays
from sordino.sensitivity.derivatives.functions import (
    NaturalExponential,
    NaturalLogarithm,
    Power,
    Ramp,
    Sigmoid,
    Tauoid,
)
from sordino.sensitivity.interval import Interval

ALL = Interval(-math.inf, math.inf)
# Each function, its derivative by hand, and ranges on which both bounds are claimed to be exact.
EXACT = {
    "square": (Power(2.0), lambda t: 2 * t, [Interval(-4, 4), Interval(0.5, 4), Interval(-4, 0)]),
    "cube": (Power(3.0), lambda t: 3 * t**2, [Interval(-4, 4), Interval(0, 6)]),
    "power 1.5": (Power(1.5), lambda t: 1.5 * np.sqrt(t), [Interval(0, 5)]),
    "root": (Power(0.5), lambda t: 0.5 / np.sqrt(t), [Interval(0.2, 5)]),
    "inverse": (Power(-1.0), lambda t: -1 / t**2, [Interval(0.5, 5), Interval(-5, -0.5)]),
    "inverse square": (Power(-2.0), lambda t: -2 / t**3, [Interval(0.5, 5)]),
    "exponential": (NaturalExponential(), np.exp, [Interval(-4, 4)]),
    "sigmoid": (Sigmoid(), lambda t: np.exp(-t) / (1 + np.exp(-t)) ** 2, [Interval(-30, 30)]),
    "tauoid": (Tauoid(), lambda t: -np.tanh(t) / np.cosh(t), [Interval(-30, 30)]),
    "ramp": (Ramp(), lambda t: np.where((t >= 0) & (t <= 1), 1.0, 0.0), [Interval(-30, 30)]),
}
RATES = (0.0, 0.05, 0.3, 0.7, 0.999, 1.0, 1.4, 5.0)


def suprema(values: np.ndarray, grid: np.ndarray, rate: float) -> np.ndarray:
    """sup of |f(t')|·e^(−b|t − t'|) over the grid: the larger of two running maxima."""
    size = np.abs(values)
    ahead = np.exp(-rate * np.diff(grid, prepend=grid[0]))
    left, right = size.copy(), size.copy()
    for i in range(1, len(grid)):
        left[i] = max(left[i], left[i - 1] * ahead[i])
        right[-1 - i] = max(right[-1 - i], right[-i] * ahead[-i])
    return np.maximum(left, right)


@pytest.mark.parametrize("name", EXACT)
def test_bounds_are_suprema(name):
    function, derivative, ranges = EXACT[name]
    for inside in ranges:
        grid = np.linspace(inside.low, inside.high, 3001)
        assert function.refuse(inside) is None
        assert np.abs(derivative(grid)).max() <= function.steepest(inside) * (1 + 1e-12)
        values = function.value(Arrays(), grid)
        image = function.image(inside)
        assert image.low <= values.min() <= values.max() <= image.high
        for rate in RATES:
            size = function.size(Arrays(), grid, rate, inside) + 0 * grid
            slope = function.slope(Arrays(), grid, rate, inside) + 0 * grid
            step = grid[1] - grid[0]
            for found, of in ((size, values), (slope, derivative(grid))):
                wanted = suprema(of, grid, rate)
                assert (found >= wanted * (1 - 1e-9) - 1e-20).all()
                # a grid misses the place of the supremum by half a step
                assert np.allclose(found, wanted, rtol=2 * (rate + 10) * step, atol=1e-9)


def test_the_logarithm_is_bounded():
    inside, grid = Interval(0.5, 6), np.linspace(0.5, 6, 2001)
    for rate in RATES:
        slope = NaturalLogarithm().slope(Arrays(), grid, rate, inside)
        assert np.allclose(slope, suprema(1 / grid, grid, rate), rtol=1e-2)
        assert (slope >= suprema(1 / grid, grid, rate) * (1 - 1e-9)).all()
        assert NaturalLogarithm().size(Arrays(), grid, rate, inside) >= np.abs(np.log(grid)).max()


def test_a_bound_below_the_supremum_is_found():
    """The control: the tail of the sigmoid's slope with a rate a little too large."""
    grid = np.linspace(-30, 30, 3001)
    derivative = EXACT["sigmoid"][1](grid)
    found = Sigmoid().slope(Arrays(), grid, 0.31, ALL)
    assert not (found >= suprema(derivative, grid, 0.3) * (1 - 1e-9)).all()


@pytest.mark.parametrize(
    ("function", "inside", "said"),
    [
        (Power(0.5), Interval(0, 1), "without 0"),
        (Power(-1.0), Interval(-1, 1), "without 0"),
        (Power(1.5), Interval(-1, 1), ">= 0"),
        (NaturalLogarithm(), Interval(0, 1), "above 0"),
        (NaturalLogarithm(), Interval(1, math.inf), "upper bound"),
        (NaturalExponential(), ALL, "give bounds"),
    ],
)
def test_what_has_no_bound_is_refused(function, inside, said):
    assert said in function.refuse(inside)
