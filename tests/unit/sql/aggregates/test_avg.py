"""AVG: its radius covers every average that the radii of its sum and its count allow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from sordino.sql.aggregates import BoundedSum, Part, RowCount
from sordino.sql.aggregates.avg import AVG

SUM = BoundedSum(exp.column("x"), Fraction(-5), Fraction(20), Fraction(1, 2))


@given(st.integers(-900, 900), st.integers(-20, 60), st.integers(0, 200), st.integers(0, 30), st.randoms())
def test_no_average_within_the_radii_is_further_away(steps, rows, sum_radius, count_radius, draw):
    parts = [
        Part(SUM, steps * SUM.step, sum_radius * SUM.step),
        Part(RowCount(), Fraction(rows), Fraction(count_radius)),
    ]
    found = AVG.combine(parts)
    released, radius = found.value, found.radius()
    if released is None:
        assert radius == 25  # all that the bounds allow
        return
    for _ in range(20):
        count = draw.randint(max(1, rows - count_radius), max(1, rows + count_radius))
        total = Fraction(draw.randint(steps - sum_radius, steps + sum_radius)) * SUM.step
        average = total / count
        if SUM.low <= average <= SUM.high and abs(count - rows) <= count_radius:
            assert abs(average - released) <= radius


def test_without_one_of_the_radii_there_is_none():
    parts = [Part(SUM, Fraction(10), None), Part(RowCount(), Fraction(5), Fraction(1))]
    assert AVG.combine(parts).radius() is None


@pytest.mark.slow
def test_the_radius_holds_for_95_of_100_draws_of_laplace_noise():
    """10⁴ averages of noise whose radii fail with 2.5 % each: far fewer than 5 % fail, and more with a quarter."""
    rng = np.random.default_rng(3)
    exact_sum, exact_count, runs = 400, 100, 10_000
    width = 8.0
    radius = Fraction(int(np.ceil(width * np.log(1 / 0.025))))

    def failing(share):
        noise = np.rint(rng.laplace(0, width, size=(runs, 2))).astype(int)
        failed = 0
        for a, b in noise.tolist():
            parts = [
                Part(SUM, Fraction(exact_sum + a), radius * share),
                Part(RowCount(), Fraction(exact_count + b), radius * share),
            ]
            found = AVG.combine(parts)
            wrong = found.value is not None and abs(found.value - exact_sum / exact_count) > found.radius()
            failed += wrong
        return failed / runs

    assert failing(Fraction(1)) < 0.05
    assert failing(Fraction(1, 4)) > 0.05
