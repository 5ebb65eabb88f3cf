"""Sums and quotients on the grid, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.sensitivity.grid import bound_in_steps, in_steps, power_below


@pytest.mark.parametrize("step", [2.0**-900, 2.0**-30, 1.0, 2.0**40, 2.0**990])
def test_steps_are_rounded_up_exactly(step):
    values = np.array([0.0, 5e-324, 1e-300, 0.1, 1.0, 7.3, 1e15, 1e300])
    exact = [math.ceil(Fraction(v) / Fraction(step)) for v in values.tolist()]
    for found, true in zip(in_steps(values, step).tolist(), exact, strict=True):
        assert found == true or (true > 2**1023 and math.isinf(found))
    for value, true in zip(values.tolist()[1:], exact[1:], strict=True):
        assert bound_in_steps(value, step) == true


def test_the_power_below_is_exact_next_to_powers():
    for value, power in ((8.0, 8.0), (math.nextafter(8.0, 0), 4.0), (5e-324, 5e-324), (1.7e308, 2.0**1023)):
        assert power_below(value) == power


@pytest.mark.slow
def test_a_gap_of_many_large_steps_is_exact():
    """2²³ whole numbers near 2³¹ sum to 2⁵⁴: doubles would round the sum."""
    bound, step, steps = 2.0 - 2.0**-29, 2.0**-30, 1 << 23
    whole = np.full(steps, 2**31 - 3, dtype=np.int64)
    whole[: steps // 2] = 2**31 - 5
    whole[0] = 2**31 - 6
    profile = sd.Profile.from_table(whole * step, bound=bound)
    exact = steps * math.ceil(Fraction(bound) / Fraction(step)) - sum(whole.tolist())
    assert int(profile.gap_on_grid(step)[0]) == exact


def test_a_grid_far_finer_than_the_bound_is_refused():
    with pytest.raises(sd.ParameterError, match="2\\^-31 of the bound"):
        sd.Profile.from_table([1.0], bound=2.0).gap_on_grid(2.0**-40)
