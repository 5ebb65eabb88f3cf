"""Beliefs about a number: normal laws, whose posteriors are known, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from sordino.core import ParameterError
from sordino.risk import (
    CountNoise,
    NumberModel,
    posterior_expected,
    posterior_given_count,
    posterior_given_output,
    posterior_given_outputs,
)

NORMAL = NumberModel.of(-9, 9, belief=norm.pdf, membership=norm.cdf, panels=90)
UNIFORM = {"belief": lambda z: np.full_like(z, 0.1), "membership": lambda z: z / 10}


@pytest.mark.parametrize("deviation", [0.5, 1.0, 2.0])
def test_normal_numbers_with_normal_noise_have_their_known_beliefs(deviation):
    """C ~ N(0, 1), Y = C + N(0, s²), and a guess that is right with Φ(C): C given Y is normal, and E Φ(N(m, v)) is
    Φ(m/√(1 + v)).
    """
    noise, slope = CountNoise.gaussian(deviation), 1 / (1 + deviation**2)
    left = 1 + deviation**2 * slope
    y = np.array([-2.0, 0.0, 0.7, 3.0])
    assert posterior_given_output(NORMAL, y, noise=noise) == pytest.approx(
        norm.cdf(slope * y / np.sqrt(left)), abs=1e-9
    )
    found = posterior_given_count(NORMAL, noise=noise)
    assert found == pytest.approx(
        norm.cdf(slope * NORMAL.values / np.sqrt(left + slope**2 * deviation**2)), abs=1e-8
    )
    assert found @ NORMAL.reality == pytest.approx(0.5, abs=1e-9)
    assert posterior_expected(NORMAL, noise=noise) >= NORMAL.prior


def test_laplace_noise_on_a_number_is_what_quadrature_says():
    model = NumberModel.of(0, 10, **UNIFORM)
    for y in (-1.0, 3.3, 9.0):
        total, held = (
            quad(
                lambda z, y=y, g=g: g(z) * np.exp(-abs(y - z)),
                0,
                10,
                points=[min(max(y, 0), 10)],
                epsabs=1e-12,
            )[0]
            for g in (lambda z: 1.0, lambda z: z / 10)
        )
        assert posterior_given_output(model, [y], 1.0)[0] == pytest.approx(held / total, abs=1e-4)
    twice = posterior_given_outputs(model, [3.0, 5.0], 1.0)
    one, other = posterior_given_output(model, [3.0, 5.0], 1.0)
    assert one < twice < other


@pytest.mark.slow
def test_without_privacy_the_number_is_known_and_with_all_of_it_nothing_is():
    known = NumberModel.of(0, 10, **UNIFORM, panels=200)
    assert posterior_given_output(known, [2.0], noise=CountNoise.gaussian(0.1))[0] == pytest.approx(
        0.2, abs=1e-6
    )
    assert posterior_expected(NORMAL, noise=CountNoise.gaussian(1e3)) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"belief": lambda z: np.full_like(z, 0.2)}, "integrates to 1"),
        ({"belief": lambda z: 0.1}, "one finite number"),
        ({"belief": lambda z: z - 5}, ">= 0"),
        ({"membership": lambda z: z}, "above 1"),
        ({"membership": np.zeros_like}, "certain"),
    ],
)
def test_models_that_are_none_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        NumberModel.of(0, 10, **(UNIFORM | wrong))


def test_noise_of_whole_steps_is_for_counts():
    with pytest.raises(ParameterError, match="for counts"):
        posterior_given_count(NumberModel.of(0, 10, **UNIFORM), noise=CountNoise.discrete_laplace(1.0))
    with pytest.raises(ParameterError, match="low < high"):
        NumberModel.of(1, 1, **UNIFORM)
