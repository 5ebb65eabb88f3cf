"""Draws whose rate or scale is beyond all floats: still exact, never an error of the arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sordino.sampling.choice import ExponentialChoice, FlipChoice
from sordino.sampling.race import draw_winner
from sordino.sampling.shapes import Laplace, LaplaceLogNormal, Normal, Polynomial, StudentT

HUGE = Fraction(10) ** 400


@pytest.mark.parametrize("choice", [ExponentialChoice, FlipChoice])
def test_a_rate_beyond_all_floats_always_takes_the_best(choice):
    scores = np.array([3, 7, 6, -(10**15)])
    assert {choice(scores, HUGE).draw() for _ in range(50)} == {1}
    ties = np.array([7, 7, 6])
    assert {choice(ties, HUGE).draw() for _ in range(200)} == {0, 1}  # missed by one in 2^199


@pytest.mark.parametrize("choice", [ExponentialChoice, FlipChoice])
def test_a_rate_below_all_floats_takes_any(choice):
    assert {choice(np.array([0, 2**60]), 1 / HUGE).draw() for _ in range(200)} == {0, 1}


@pytest.mark.parametrize(
    "shape", [Laplace(), Normal(), StudentT(3), Polynomial(2), LaplaceLogNormal(0.5)], ids=repr
)
def test_a_race_with_noise_beyond_all_floats_is_decided(shape):
    scores = np.array([1.0, 3.0, 2.0])
    # the chance that noise of a 10^-400th closes a gap of 1 is below 1e-300 for every shape here
    assert {draw_winner(shape, scores, 1 / HUGE) for _ in range(5)} == {1}
    assert {draw_winner(shape, scores, HUGE) for _ in range(200)} == {
        0,
        1,
        2,
    }  # each has a third: missed by 3·(2/3)^200
