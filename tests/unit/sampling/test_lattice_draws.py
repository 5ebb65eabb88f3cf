"""Lattice draws: the decision is exact for every bit pattern at a bin's edge, and the law is the stated one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sordino.core import ParameterError
from sordino.sampling import source
from sordino.sampling.lattice import _Grid, draw_many_on_lattice, draw_on_lattice
from sordino.sampling.refined_uniform import RefinedUniform, precision
from sordino.sampling.shapes import (
    FlaredLaplace,
    GeneralisedCauchy,
    Laplace,
    LaplaceLogNormal,
    Normal,
    Polynomial,
    StudentT,
)
from sordino.testing import seeded

SHAPES = [
    Laplace(),
    Normal(),
    StudentT(3),
    StudentT(2.5),
    FlaredLaplace(2.0, 6.0),
    GeneralisedCauchy(4),
    GeneralisedCauchy(3),
    Polynomial(2),
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("ratio", [Fraction(3, 7), Fraction(1000), Fraction(10**9, 7)])
def test_uniforms_next_to_an_edge_fall_on_the_right_side(shape, ratio):
    """V straddles the tail at the edge between bins k and k+1: the known bits decide, or the next ones do."""
    centre = Fraction(1, 3)
    grid = _Grid(shape, centre, ratio)
    for k in (1, 2, round(2 * ratio) + 1):
        with precision(400):
            z = (arb(2 * k + 1) / 2 - arb(1) / 3) * ratio.denominator / ratio.numerator
            edge = shape.ball_tail(z) * 2**64
            at = int(edge.floor().unique_fmpz())
        if not 2 < at < 2**64 - 2:
            continue
        guess = float(z)
        assert grid.locate(RefinedUniform(at - 1), guess) == k + 1  # a smaller tail lies further out
        assert grid.locate(RefinedUniform(at + 1), guess) == k
        with source.overridden(lambda count: b"\x00" * count):
            assert grid.locate(RefinedUniform(at), guess) == k + 1
        with source.overridden(lambda count: b"\xff" * count):
            assert grid.locate(RefinedUniform(at), guess) == k


@given(st.integers(1, 2**64 - 2), st.floats(-1e6, 1e6))
@settings(max_examples=100, deadline=None)
def test_a_bad_guess_costs_time_and_changes_nothing(numerator, wrong):
    grid = _Grid(StudentT(3), Fraction(5, 3), Fraction(17))
    right = float(StudentT(3).tail_quantile((numerator + 0.5) / 2**64))
    with seeded(numerator):
        expected = grid.locate(RefinedUniform(numerator), right)
    with seeded(numerator):
        assert grid.locate(RefinedUniform(numerator), wrong) == expected


def cells(shape, centre, scale, step, reach):
    edges = (np.arange(-reach, reach + 2) - 0.5) * float(step)
    below = shape.cdf((edges - float(centre)) / float(scale))
    return dict(zip(range(-reach, reach + 1), np.diff(below), strict=True))


def consistent(counts, law, size):
    """False alarm below 1e-7: every cell within its binomial law at level 1e-7/(2·cells)."""
    level = 1e-7 / (2 * len(law))
    return all(
        min(stats.binom.cdf(counts.get(k, 0), size, p), stats.binom.sf(counts.get(k, 0) - 1, size, p))
        >= level
        for k, p in law.items()
    )


@pytest.mark.parametrize("shape", [*SHAPES, LaplaceLogNormal(0.4), LaplaceLogNormal(1.5)], ids=repr)
def test_draws_have_the_law_and_a_slightly_wrong_law_is_refused(shape):
    centre, scale, step, size = Fraction(4, 3), Fraction(5, 2), Fraction(3, 4), 20_000
    with seeded(7):
        counts = Counter(int(k) for k in draw_many_on_lattice(shape, centre, scale, step, size))
    assert consistent(counts, cells(shape, centre, scale, step, 8), size)
    assert not consistent(counts, cells(shape, centre, scale * Fraction(6, 5), step, 8), size)
    assert not consistent(counts, cells(shape, centre + Fraction(1, 2), scale, step, 8), size)


def test_one_draw_and_many_draws_agree_in_kind():
    with seeded(1):
        single = draw_on_lattice(StudentT(3), Fraction(0), Fraction(10), Fraction(1))
    assert isinstance(single, int)
    many = draw_many_on_lattice(StudentT(3), Fraction(0), Fraction(10), Fraction(1), 5)
    assert isinstance(many, np.ndarray)
    assert many.dtype == np.int64
    assert len(draw_many_on_lattice(Laplace(), Fraction(0), Fraction(10), Fraction(1), 0)) == 0


@pytest.mark.parametrize("shape", [Laplace(), StudentT(3), LaplaceLogNormal(0.5)], ids=repr)
def test_what_does_not_fit_into_64_bits_is_a_list_of_integers(shape):
    draws = draw_many_on_lattice(shape, Fraction(0), Fraction(10**30), Fraction(1), 50)
    assert isinstance(draws, list)
    assert max(map(abs, draws)) > 10**28
    assert len({k % 1000 for k in draws}) > 20  # the low digits are drawn too, not padded


def test_a_far_centre_and_a_tiny_scale_stay_exact():
    centre = Fraction(10**25) + Fraction(1, 4)
    assert draw_on_lattice(StudentT(3), centre, Fraction(1, 10**30), Fraction(1)) == 10**25
    assert draw_on_lattice(LaplaceLogNormal(0.3), centre, Fraction(1, 10**30), Fraction(1)) == 10**25


def test_all_zero_bits_end_in_a_finite_draw():
    """V = 0 to many bits is far out in the tail, never a failure."""
    bits = iter([b"\x00" * 8] * 3)

    def generate(count):
        return next(bits, b"\x5a" * 8)[:1] * count

    with source.overridden(generate):
        k = draw_on_lattice(StudentT(3), Fraction(0), Fraction(1), Fraction(1))
    assert abs(k) > 10**5


@pytest.mark.parametrize(("scale", "step"), [(0, 1), (-1, 1), (1, 0), (1, -2)])
def test_bad_parameters_are_refused(scale, step):
    with pytest.raises(ParameterError):
        draw_on_lattice(Laplace(), Fraction(0), Fraction(scale), Fraction(step))
