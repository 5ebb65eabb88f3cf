"""Shapes: floats against balls, balls against independent integrals, quantiles against goldens."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import ParameterError
from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes import (
    FlaredLaplace,
    GeneralisedCauchy,
    Laplace,
    LaplaceLogNormal,
    Normal,
    Polynomial,
    StudentT,
)
from tests.oracles import densities
from tests.oracles.integration import integrate
from tests.oracles.test_oracles import agrees, golden

HEAVY = [
    *(StudentT(nu) for nu in (0.7, 1, 2, 3, 3.5, 4, 5, 30)),
    *(FlaredLaplace(*pair) for pair in ((2.0, 6.0), (0.5, 3.0), (7.0, 11.0))),
    *(GeneralisedCauchy(gamma) for gamma in (1.5, 2, 3, 4, 8)),
    Polynomial(1.5),
    Polynomial(4),
]
LIGHT = [Laplace(), Normal(), LaplaceLogNormal(0.05), LaplaceLogNormal(0.5), LaplaceLogNormal(2.0)]
SHAPES = HEAVY + LIGHT
ORACLES = [
    (Laplace(), densities.laplace()),
    (Normal(), densities.gaussian()),
    (StudentT(3), densities.student_t(3)),
    (StudentT(5), densities.student_t(5)),
    (FlaredLaplace(2.0, 6.0), densities.flared_laplace(2.0, 6.0)),
    (GeneralisedCauchy(4), densities.generalised_cauchy(4)),
    (GeneralisedCauchy(3), densities.generalised_cauchy(3)),
    (Polynomial(1.5), densities.one_sided_polynomial(1.5)),
    (LaplaceLogNormal(0.5), densities.laplace_log_normal(0.5)),
]


def tail(shape, z):
    """P(|Z| > z), or P(Z > z) where one-sided, in logarithms, from the float functions."""
    return shape.log_tail(z) + (math.log(2) if shape.symmetric else 0.0)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_float_tails_agree_with_small_balls_far_out_too(shape):
    points = [0.0, 1e-12, 1e-3, 0.3, 0.999, 1.0, 1.7, 10.0, 30.0]
    points += [1e3, 1e6, 1e12, 1e40] if shape in HEAVY else []
    with precision(128):
        for z in points:
            ball = shape.ball_tail(arb(z) / 3 * 3)  # a ball that is not exact
            assert ball.rel_accuracy_bits() >= 100
            assert float(tail(shape, z)) == pytest.approx(float(ball.log()), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(("shape", "oracle"), ORACLES, ids=lambda x: getattr(x, "name", repr(x)))
def test_tails_and_densities_agree_with_the_oracle(shape, oracle):
    for z in (0.0, 0.2, 1.0, 3.1, 40.0):
        assert float(shape.log_pdf(z)) == pytest.approx(
            float(oracle.log_pdf(np.array(z))), rel=1e-12, abs=1e-12
        )
        above = integrate(oracle.pdf, sorted({z, max(z, 2.0)}), z)  # where one of them bends
        assert float(np.exp(shape.log_tail(z))) == pytest.approx(above, rel=1e-9)
        with precision(128):
            both = float(shape.ball_tail(arb(z)))
        assert both == pytest.approx(2 * above if shape.symmetric else above, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_tail_quantile_inverts_the_tail_down_to_1e_300(shape):
    v = np.array([1e-300, 1e-200, 1e-50, 1e-15, 1e-5, 0.1, 0.4, 0.6, 0.9, 0.999])
    z = shape.tail_quantile(v)
    finite = np.isfinite(z)
    assert finite[3:].all()
    assert np.allclose(tail(shape, z)[finite], np.log(v)[finite], rtol=1e-11, atol=1e-11)
    assert float(shape.tail_quantile(1.0)) == 0


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_quantile_inverts_the_distribution_function(shape):
    p = np.array([1e-9, 0.01, 0.3, 0.5, 0.8, 0.99])
    assert np.allclose(shape.cdf(shape.quantile(p)), p, rtol=1e-9, atol=1e-12)
    assert shape.radius(0.9) == pytest.approx(float(shape.tail_quantile(0.1)))


@pytest.mark.parametrize("gamma", [2, 4])
def test_cauchy_quantiles_are_the_printed_ones(gamma):
    entry = golden("noise", f"cauchy{gamma}_quantiles")
    shape = GeneralisedCauchy(gamma)
    assert agrees([shape.radius(p) for p in entry["inputs"]["probability"]], entry)


@given(st.floats(0.5, 60), st.floats(1e-6, 1e6))
@settings(max_examples=60, deadline=None)
def test_ball_tail_decreases_at_the_rate_of_the_density(nu, z):
    with precision(200):
        for shape in (StudentT(nu), GeneralisedCauchy(nu + 1)):
            step = arb(z) * arb(2) ** -40
            slope = (shape.ball_tail(arb(z)) - shape.ball_tail(arb(z) + step)) / step
            assert float(slope.log()) == pytest.approx(
                float(shape.log_pdf(z)) + math.log(2), rel=1e-8, abs=1e-8
            )


@pytest.mark.parametrize(
    "make",
    [
        lambda: StudentT(0),
        lambda: StudentT(-1),
        lambda: StudentT(math.nan),
        lambda: StudentT(5000),
        lambda: GeneralisedCauchy(1),
        lambda: GeneralisedCauchy(math.inf),
        lambda: Polynomial(0),
        lambda: LaplaceLogNormal(0),
        lambda: LaplaceLogNormal(50),
        lambda: StudentT("3"),
        lambda: Laplace().radius(1.0),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(ParameterError):
        make()
