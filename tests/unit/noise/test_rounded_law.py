"""RoundedLaw: masses against balls and integrals, tails against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.mechanisms.noise import RoundedLaw
from sordino.sampling.shapes import (
    FlaredLaplace,
    GeneralisedCauchy,
    Laplace,
    LaplaceLogNormal,
    Normal,
    Polynomial,
    StudentT,
)

SHAPES = [
    Laplace(),
    Normal(),
    StudentT(1),
    StudentT(3),
    StudentT(2.5),
    FlaredLaplace(2.0, 6.0),
    GeneralisedCauchy(4),
    GeneralisedCauchy(3),
    Polynomial(2),
]


@pytest.mark.parametrize("shape", [*SHAPES, LaplaceLogNormal(0.4)], ids=repr)
@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(7, 3), Fraction(40_000, 3)])
def test_masses_are_accurate_in_relative_terms_far_out_too(shape, scale):
    if isinstance(shape, LaplaceLogNormal) and scale > 100:
        pytest.skip("the ball tail of this shape is slow; two scales suffice")
    law = RoundedLaw(shape, Fraction(10**9) + Fraction(1, 3), scale, Fraction(1, 2))
    middle = round(law.centre / law.step)
    offsets = (
        [0, 1, -1, 2, 17, -40, 1000, -300_000]
        if not isinstance(shape, Normal | Laplace)
        else [0, 1, -1, 2, -9]
    )
    for offset in offsets:
        with np.errstate(divide="ignore"):
            found = float(law.log_masses(middle + offset, middle + offset)[0])
        ball = law.ball_mass(middle + offset)
        if ball.upper() <= 0:
            continue
        assert found == pytest.approx(float(ball.log()), rel=2e-13, abs=2e-12)


@pytest.mark.parametrize("shape", [*SHAPES, LaplaceLogNormal(0.4)], ids=repr)
def test_window_and_tail_add_up_to_one(shape):
    law = RoundedLaw(shape, Fraction(-5, 3), Fraction(4), Fraction(1, 3))
    first, last = law.window()
    inside = float(np.exp(law.log_masses(first, last)).sum())
    outside = law.tail_mass(first, last)
    assert inside + outside == pytest.approx(1, abs=1e-11)
    assert law.tail_mass(0, -1) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "shape", [StudentT(3), StudentT(0.8), GeneralisedCauchy(4), GeneralisedCauchy(1.5)], ids=repr
)
@pytest.mark.parametrize(("centre", "scale"), [(3, 4), (-3, 4), (2, 6), (0, 3), (1, 5)])
@pytest.mark.parametrize("reach", [5, 60])
def test_tail_loss_bounds_every_bin_outside(shape, centre, scale, reach):
    law = RoundedLaw(shape, Fraction(0), Fraction(4), Fraction(1))
    other = RoundedLaw(shape, Fraction(centre), Fraction(scale), Fraction(1))
    bound = law.tail_loss(other, -reach, reach)
    assert bound == pytest.approx(other.tail_loss(law, -reach, reach), rel=0.3, abs=1e-11)
    for low, high in (
        (reach + 1, reach + 3000),
        (10**6, 10**6 + 5),
        (-reach - 3000, -reach - 1),
        (-(10**9), -(10**9)),
    ):
        loss = np.abs(law.log_masses(low, high) - other.log_masses(low, high)).max()
        assert loss <= bound + 1e-9
    if isinstance(shape, StudentT) and reach == 60:  # exact, not only a bound
        near = np.abs(law.log_masses(-400, 400) - other.log_masses(-400, 400))
        assert (
            bound
            <= max(near[:340].max(), near[-340:].max(), shape.nu * abs(math.log(scale / 4))) * 1.02 + 1e-9
        )


def test_tail_loss_where_it_is_linear_or_unbounded():
    def law(shape, centre, scale):
        return RoundedLaw(shape, Fraction(centre), Fraction(scale), Fraction(1))

    assert law(Laplace(), 0, 2).tail_loss(law(Laplace(), 3, 2), -20, 20) == pytest.approx(1.5)
    assert law(Laplace(), 0, 2).tail_loss(law(Laplace(), 3, 3), -20, 20) == math.inf
    assert law(Normal(), 0, 2).tail_loss(law(Normal(), 1, 2), -20, 20) == math.inf
    assert law(Normal(), 0, 2).tail_loss(law(Normal(), 0, 2), -20, 20) == 0
    for shape in (LaplaceLogNormal(0.5), Polynomial(2)):
        with pytest.raises(UnsupportedError, match="no tail bound"):
            law(shape, 0, 2).tail_loss(law(shape, 1, 2), -20, 20)
    with pytest.raises(UnsupportedError):
        law(Laplace(), 0, 2).tail_loss(law(Normal(), 0, 2), -20, 20)
    with pytest.raises(ParameterError):
        law(Laplace(), 0, 2).tail_loss(
            RoundedLaw(Laplace(), Fraction(0), Fraction(2), Fraction(1, 2)), -20, 20
        )


def test_repr_hides_what_depends_on_the_data():
    text = repr(RoundedLaw(Laplace(), Fraction(12345), Fraction(678), Fraction(1)))
    assert "12345" not in text
    assert "678" not in text
