"""The noise oracles against printed numbers, closed forms and one another."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.oracles import densities, noise
from tests.oracles.integration import integrate
from tests.oracles.test_oracles import agrees, golden


def largest(holds: Callable[[float], bool]) -> float:
    low, high = 0.0, 2.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


GRID = np.concatenate([[0.0], np.geomspace(1e-3, 1e5, 40_001)])


def student_rate(alpha: float, beta: float, nu: float) -> float:
    square = GRID**2
    return float(
        np.max(alpha * (nu + 1) * GRID / (nu + square) + beta * np.abs((nu + 1) * square / (nu + square) - 1))
    )


def cauchy_rate(b: float, beta: float, gamma: float) -> float:
    power = GRID**gamma
    shift = gamma * GRID ** (gamma - 1) / (1 + power)
    return float(np.max(b * shift + beta * np.abs(gamma * power / (1 + power) - 1)))


@pytest.mark.parametrize(
    "kind",
    [
        densities.laplace(),
        densities.gaussian(),
        densities.student_t(3),
        densities.generalised_cauchy(4),
        densities.generalised_cauchy(2),
        densities.gumbel(),
        densities.exponential(),
        densities.one_sided_polynomial(1.5),
        densities.laplace_log_normal(0.5),
    ],
    ids=lambda kind: kind.name,
)
def test_density_and_distribution_function_agree(kind):
    assert abs(integrate(kind.pdf, (0.0,), kind.lower) - 1) < 1e-12
    for z in (-1.7, 0.2, 3.1):
        below = integrate(kind.pdf, (0.0, z), kind.lower, z) if z > kind.lower else 0.0
        assert abs(float(kind.cdf(np.array(z))) - below) < 1e-12
        assert abs(float(kind.sf(np.array(z))) + below - 1) < 1e-12


def test_laplace_stretch_and_shift():
    stretched = noise.exact_delta(densities.laplace(), 0.0, 0.5, 1.0)
    assert agrees(stretched, golden("noise", "laplace_stretch_delta"))
    assert agrees(stretched, golden("noise", "laplace_stretch_delta_exact"))
    lemma = math.e * math.exp(-1 - 1.5 / math.expm1(0.5))
    assert agrees(lemma, golden("noise", "laplace_stretch_lemma"))
    assert stretched < lemma
    assert agrees(
        noise.exact_delta(densities.laplace(), 1.0, 0.0, 0.5), golden("noise", "laplace_shift_delta")
    )
    assert abs(noise.exact_epsilon(densities.laplace(), 0.7, 0.0) - 0.7) < 1e-6
    assert noise.exact_epsilon(densities.laplace(), 0.0, 0.01) == math.inf


@pytest.mark.parametrize(("epsilon", "delta", "holds"), [(7.5, 0.465, True), (8.0, 0.510, False)])
def test_nissim_constants_fail_from_epsilon_eight_on(epsilon, delta, holds):
    target = 0.5
    alpha, beta = epsilon / 2, epsilon / (2 * math.log(2 / target))
    spent = noise.exact_delta(densities.laplace(), alpha, beta, epsilon)
    assert abs(spent - delta) < 5e-4
    assert (spent <= target) == holds


def test_laplace_theorem_and_calibration():
    entry = golden("noise", "laplace_theorem_3_56")
    beta, b = entry["inputs"]["beta"], entry["inputs"]["b"]
    k = 1 + (1 - b) / beta
    pair = noise.exact_delta(densities.laplace(), b * math.expm1(beta) / beta, beta, 1.0)
    delta = math.exp(-k)
    found = {"k": k, "delta": delta, "usual": 2 * math.e * delta, "usual_monotone": math.e * delta}
    assert all(abs(found[name] - value) < entry["tolerance"] for name, value in entry["value"].items())
    assert agrees(pair, golden("noise", "laplace_theorem_3_56_worst_pair"))
    assert pair < found["usual_monotone"]
    entry = golden("noise", "laplace_calibration")
    limits = {m: max(1.0, math.log(m / 1e-6)) for m in (1, 2)}
    found = {"b": 1 - 0.05 * limits[2], "b_monotone": 1 - 0.05 * limits[1], "beta_limit": 1 / limits[2]}
    assert all(abs(found[name] - value) < entry["tolerance"] for name, value in entry["value"].items())


@pytest.mark.parametrize("gamma", [2, 4])
def test_generalised_cauchy_quantiles(gamma):
    entry = golden("noise", f"cauchy{gamma}_quantiles")
    kind = densities.generalised_cauchy(gamma)
    assert agrees([noise.absolute_quantile(kind, p) for p in entry["inputs"]["probability"]], entry)


def test_generalised_cauchy_moments():
    kind = densities.generalised_cauchy(4)
    found = {
        "constant": float(kind.pdf(np.array(0.0))),
        "mean_absolute": 2 * integrate(lambda z: z * kind.pdf(z), (0.0,), 0.0),
        "variance": integrate(lambda z: z**2 * kind.pdf(z)),
    }
    entry = golden("noise", "cauchy4_moments")
    assert all(abs(found[name] - value) < entry["tolerance"] for name, value in entry["value"].items())


def test_generalised_cauchy_local_epsilon():
    kind, b, beta = densities.generalised_cauchy(4), 0.1, 0.1

    def pair(distance: float) -> float:
        return noise.exact_epsilon(kind, b * math.expm1(beta * distance) / beta, beta * distance)

    entry = golden("noise", "cauchy4_local_epsilon")
    rate = cauchy_rate(b, beta, 4)
    found = {"exact_rate": rate, "pair_at_distance_0.1_per_unit": pair(0.1) / 0.1, "report": 5 * (b + beta)}
    assert all(abs(found[name] - value) < entry["tolerance"] for name, value in entry["value"].items())
    assert agrees(pair(1.0), golden("noise", "cauchy4_pair_epsilon"))
    assert pair(1.0) < rate
    assert abs(cauchy_rate(0.3, 0.2, 2) - math.hypot(0.3, 0.2)) < 1e-6
    split, tight = (1 - 3 * beta) / 3**0.75, largest(lambda value: cauchy_rate(value, beta, 4) <= 1)
    assert agrees([1 / 5 - beta, split, tight], golden("noise", "cauchy4_calibration"))


def test_student_t_alphas_and_what_they_protect():
    factor = 2 * math.sqrt(3) / 4
    tight = largest(lambda value: student_rate(value, 0.1, 3) <= 1)
    assert agrees([0.6 * factor, 0.7 * factor, tight], golden("noise", "student_t3_alpha"))
    kind = densities.student_t(3)
    assert noise.exact_epsilon(kind, tight, 0.1) < 1  # the centre moves by the smaller bound
    assert (
        noise.exact_epsilon(kind, tight * math.expm1(0.1) / 0.1, 0.1) < 1
    )  # bound and derivative grow together
    assert agrees(noise.exact_epsilon(kind, tight, -0.1), golden("noise", "student_t3_pair_epsilon"))


def test_bernoulli_chain_has_no_triangle_inequality():
    entry = golden("noise", "bernoulli_chain")
    laws = [(p, 1 - p) for p in entry["inputs"]["p"]]
    near = [noise.finite_hockey_stick(laws[i], laws[i + 1], math.log(2)) for i in (0, 1)]
    far = noise.finite_hockey_stick(laws[0], laws[2], 2 * math.log(2))
    found = {"usual": near, "usual_far": far, "d_dp": [d / 2 for d in near], "d_dp_far": far / 4}
    for name, value in entry["value"].items():
        assert np.allclose(found[name], value, rtol=0, atol=entry["tolerance"])


def test_gaussian_formula_equals_the_integral():
    assert agrees(noise.gaussian_delta(1, 1), golden("noise", "gaussian_delta"))
    for epsilon, sigma in ((1.0, 2.0), (0.1, 0.7), (3.0, 1.5)):
        integral = noise.exact_delta(densities.gaussian(), 1 / sigma, 0.0, epsilon)
        assert abs(noise.gaussian_delta(epsilon, sigma) - integral) < 1e-13


def test_laplace_log_normal_density_at_zero():
    entry = golden("noise", "lln_density_at_zero")
    found = [float(densities.laplace_log_normal(s).pdf(np.array(0.0))) for s in entry["inputs"]["sigma"]]
    assert agrees(found, entry)


@pytest.mark.parametrize(("shift", "stretch", "sigma"), [(0.3, 0.1, 0.5), (0.5, -0.2, 0.7), (0.0, 0.2, 0.5)])
def test_laplace_log_normal_stays_below_its_zcdp_claim(shift, stretch, sigma):
    rho = 0.5 * (abs(stretch) / sigma + math.exp(1.5 * sigma**2) * shift) ** 2
    for epsilon in (0.1, 1.0):
        exact = noise.exact_delta(densities.laplace_log_normal(sigma), shift, stretch, epsilon)
        assert 0 < exact < noise.zcdp_delta(rho, epsilon)


def test_laplace_log_normal_shift_is_pure_and_stretch_is_not():
    kind = densities.laplace_log_normal(0.5)
    assert 0.3 < noise.exact_epsilon(kind, 0.3, 0.0) < 0.3 * math.exp(1.5 * 0.25)
    assert noise.exact_epsilon(kind, 0.0, 0.1) == math.inf
