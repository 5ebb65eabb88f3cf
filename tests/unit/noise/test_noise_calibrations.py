"""Every α against printed numbers, against independent integrals of the worst pair, and against its own slack."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import CalibrationError, ParameterError, UnsupportedError, add_remove_row
from sordino.mechanisms.noise import (
    CauchyNoise,
    FlaredLaplaceNoise,
    GaussianNoise,
    LaplaceNoise,
    LLNNoise,
    StudentTNoise,
    discrete_gaussian,
)
from sordino.mechanisms.noise.discrete_gaussian import DiscreteGaussianNoise, gaussian_divergence
from sordino.mechanisms.noise.registry import check_serves
from sordino.mechanisms.noise.zero_concentrated import largest_rho
from tests.oracles import densities
from tests.oracles import noise as oracle
from tests.oracles.test_oracles import agrees, golden


def test_student_t_alphas_are_the_printed_ones():
    found = [StudentTNoise(3, c).alpha(1, 0, 0.1) for c in ("paper", "split", "tight")]
    assert agrees(found, golden("noise", "student_t3_alpha"))
    assert np.allclose(found, [0.520, 0.606, 0.760], rtol=0, atol=5e-4)


def test_cauchy_alphas_are_the_printed_ones():
    found = [CauchyNoise(4, c).alpha(1, 0, 0.1) for c in ("report", "split", "tight")]
    assert agrees(found, golden("noise", "cauchy4_calibration"))
    assert CauchyNoise(2).alpha(1, 0, 0.1) == pytest.approx(math.sqrt(0.99), rel=1e-9)


def test_laplace_report_calibration_is_the_printed_one():
    entry = golden("noise", "laplace_calibration")
    found = {
        "b": LaplaceNoise("report").alpha(1, 1e-6, 0.05),
        "b_monotone": LaplaceNoise("report", monotone=True).alpha(1, 1e-6, 0.05),
        "beta_limit": LaplaceNoise("report").largest_beta(1, 1e-6),
    }
    assert all(abs(found[name] - value) < entry["tolerance"] for name, value in entry["value"].items())


def test_nissim_calibration_and_where_it_stops():
    noise = LaplaceNoise("nissim")
    beta = noise.default_beta(1, 1e-6)
    assert beta == pytest.approx(1 / (2 * math.log(2e6)))
    assert noise.alpha(1, 1e-6, beta) == pytest.approx(0.5, rel=1e-9)
    for epsilon, delta in ((7.6, 0.5), (1, 0.6)):
        with pytest.raises(CalibrationError, match="nissim"):
            noise.alpha(epsilon, delta, 0.01)


def worst_laplace_delta(alpha, beta, epsilon, points=5):
    """The largest exact δ(ε) over shifts up to α (narrow units) and stretches up to β, by direct integration."""
    family, worst = densities.laplace(), 0.0
    for shift in np.linspace(0, alpha, points):
        for stretch in np.linspace(0, beta, points):
            for pair in ((shift, stretch), (shift * math.exp(-stretch), -stretch)):
                worst = max(worst, oracle.exact_delta(family, *pair, epsilon))
    return worst


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 9.0])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-8])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_tight_laplace_meets_delta_over_all_shifts_and_stretches(epsilon, delta, share):
    noise = LaplaceNoise()
    beta = share * noise.largest_beta(epsilon, delta)
    alpha = noise.alpha(epsilon, delta, beta)
    worst = worst_laplace_delta(alpha, beta, epsilon)
    assert worst <= delta * (1 + 1e-9)
    if alpha < min(epsilon, (epsilon - beta) * math.exp(beta)) * (1 - 1e-6):  # no cap: δ is used up
        assert worst > delta * (1 - 1e-5)
        assert worst_laplace_delta(alpha * (1 + 1e-4), beta, epsilon, 2) > delta


def test_tight_laplace_beats_the_other_calibrations():
    for epsilon in (0.2, 1.0, 5.0):
        for delta in (1e-3, 1e-9):
            for share in (0.2, 0.9):
                beta = share * epsilon / (2 * math.log(2 / delta))
                tight = LaplaceNoise().alpha(epsilon, delta, beta)
                assert tight > LaplaceNoise("nissim").alpha(epsilon, delta, beta)
                assert tight > LaplaceNoise("report").alpha(epsilon, delta, beta)


def test_laplace_of_a_constant_bound_is_pure():
    assert LaplaceNoise().alpha(0.7, 0, 0) == 0.7
    assert LaplaceNoise().guarantee(0.7, 0.0, add_remove_row()).delta == 0


def rate(log_slope, alpha, beta):
    """sup over z of α|ψ(z)| + β|zψ(z) - 1|, ψ = minus the slope of the log density, on a dense grid."""
    z = np.concatenate([[0.0], np.geomspace(1e-6, 1e8, 200_001)])
    psi = log_slope(z)
    return float(np.max(alpha * psi + beta * np.abs(z * psi - 1)))


@given(st.floats(0.5, 40), st.floats(0.01, 20), st.floats(0, 0.95))
@settings(max_examples=80, deadline=None)
def test_student_t_loss_is_at_most_epsilon_and_almost_that(nu, epsilon, share):
    noise = StudentTNoise(nu)
    beta = share * noise.largest_beta(epsilon, 0)
    alpha = noise.alpha(epsilon, 0, beta)
    loss = rate(lambda z: (nu + 1) * z / (nu + z * z), alpha, beta)
    assert epsilon * (1 - 1e-4) <= loss <= epsilon * (1 + 1e-12)


@pytest.mark.slow
@given(st.floats(1.1, 30), st.floats(0.01, 20), st.floats(0, 0.95))
@settings(max_examples=80, deadline=None)
def test_cauchy_loss_is_at_most_epsilon_and_almost_that(gamma, epsilon, share):
    noise = CauchyNoise(gamma)
    beta = share * noise.largest_beta(epsilon, 0)
    alpha = noise.alpha(epsilon, 0, beta)

    def slope(z):
        with np.errstate(divide="ignore"):
            return gamma * np.exp((gamma - 1) * np.log(z) - np.logaddexp(0, gamma * np.log(z)))

    loss = rate(slope, alpha, beta)
    assert epsilon * (1 - 1e-3) <= loss <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(
    ("noise", "family"),
    [
        (StudentTNoise(3), densities.student_t(3)),
        (StudentTNoise(2), densities.student_t(2)),
        (FlaredLaplaceNoise(calibration="path"), densities.flared_laplace(2.0, 6.0)),
        (CauchyNoise(4), densities.generalised_cauchy(4)),
        (CauchyNoise(2), densities.generalised_cauchy(2)),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_pure_noises_protect_the_worst_pair_and_one_tenth_more_is_refused(noise, family, epsilon):
    beta = noise.default_beta(epsilon, 0)
    alpha = noise.alpha(epsilon, 0, beta)

    def worst(factor):
        pairs = [(factor * alpha * math.exp(-s), -s) for s in np.linspace(0, beta, 4)]
        pairs += [(factor * alpha, s) for s in np.linspace(0, beta, 4)]
        # a derivative bound may move the centre a little further
        pairs += [(factor * alpha * math.expm1(beta) / beta, beta)]
        return max(oracle.exact_epsilon(family, *pair) for pair in pairs)

    assert worst(1.0) <= epsilon
    assert worst(1.2) > epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (8, 1e-3), (100, 1e-5)])
def test_analytic_gaussian_uses_up_its_delta(epsilon, delta):
    alpha = GaussianNoise().alpha(epsilon, delta, 0)
    assert oracle.gaussian_delta(epsilon, 1 / alpha) <= delta
    assert oracle.gaussian_delta(epsilon, 1 / (alpha * (1 + 1e-9))) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (8, 1e-3)])
def test_rho_is_the_largest_that_the_conversion_allows(epsilon, delta):
    rho = largest_rho(epsilon, delta)
    assert oracle.zcdp_delta(rho, epsilon) <= delta * (1 + 1e-6)
    assert oracle.zcdp_delta(rho * (1 + 1e-4), epsilon) > delta
    standard = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    assert rho > standard


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-3), (4, 1e-2)])
def test_lln_meets_delta_and_chooses_the_best_sigma(epsilon, delta):
    beta = 0.02 * epsilon
    noise = LLNNoise.fitted(epsilon, delta, beta)
    alpha = noise.alpha(epsilon, delta, beta)
    for sigma in (0.9 * noise.sigma, 1.1 * noise.sigma):
        assert LLNNoise(sigma).alpha(epsilon, delta, beta) <= alpha
    family = densities.laplace_log_normal(noise.sigma)
    for pair in ((alpha, beta), (alpha * math.exp(-beta), -beta), (alpha, 0.0)):
        assert oracle.exact_delta(family, *pair, epsilon) <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "shift"), [(1, 1e-6, 1), (0.5, 1e-3, 3), (3, 1e-4, 2), (20, 1e-5, 1)]
)
def test_discrete_gaussian_uses_up_its_delta_at_the_full_shift(epsilon, delta, shift):
    sigma = math.sqrt(DiscreteGaussianNoise().width(Fraction(shift), epsilon, delta))
    k = np.arange(-2000, 2001)
    spent = []
    for d in range(1, shift + 1):
        p, q = np.exp(-0.5 * (k / sigma) ** 2), np.exp(-0.5 * ((k - d) / sigma) ** 2)
        spent.append(np.maximum(p / p.sum() - np.exp(epsilon) * q / q.sum(), 0).sum())
    assert spent == sorted(spent)
    assert delta * 0.99 < spent[-1] <= delta * (1 + 1e-9)
    assert gaussian_divergence(0.97 * sigma, shift, epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (6.0, 1e-3)])
def test_a_wide_discrete_gaussian_is_that_of_the_continuous_law_and_a_little_more(epsilon, delta):
    sigma = math.sqrt(DiscreteGaussianNoise().width(Fraction(10**6), epsilon, delta))
    continuous = 1e6 / GaussianNoise().alpha(epsilon, delta, 0)
    assert continuous < sigma < 1.001 * continuous
    # one that can still be summed: the bound by the continuous law lies above the sum
    narrow = 300 / GaussianNoise().alpha(epsilon, delta, 0)
    summed = gaussian_divergence(narrow, 300, epsilon)
    assert not discrete_gaussian._wide_divergence_holds(narrow, 300, epsilon, summed)
    assert discrete_gaussian._wide_divergence_holds(narrow, 300, epsilon, 1.2 * summed)


def test_large_budgets_do_not_overflow():
    for noise in (FlaredLaplaceNoise(), StudentTNoise(), CauchyNoise(), LaplaceNoise(), LLNNoise(0.5)):
        beta = noise.default_beta(1e4, 0.01)
        assert noise.alpha(1e4, 0.01, beta) > 1
    assert GaussianNoise().alpha(1e4, 0.01, 0) > 100
    assert DiscreteGaussianNoise().width(Fraction(1), 1e4, 0.01) < 1


def test_small_budgets_do_not_underflow():
    for noise in (FlaredLaplaceNoise(), StudentTNoise(), CauchyNoise(), LaplaceNoise(), LLNNoise(0.5)):
        beta = noise.default_beta(1e-6, 1e-30)
        assert 0 < noise.alpha(1e-6, 1e-30, beta) < 1e-5
    assert 0 < GaussianNoise().alpha(1e-6, 1e-30, 0) < 1e-5


@pytest.mark.parametrize(
    ("noise", "epsilon", "delta", "beta"),
    [
        (StudentTNoise(3), 1, 0, 0.34),
        (CauchyNoise(4), 1, 0, 0.34),
        (CauchyNoise(4, "report"), 1, 0, 0.2),
        (LaplaceNoise(), 1, 1e-6, 0.1),
        (LaplaceNoise("report"), 1, 1e-6, 0.07),
        (LaplaceNoise("nissim"), 1, 1e-6, 0.035),
        (LLNNoise(0.3), 1, 1e-6, 0.1),
    ],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_too_large_a_beta_is_refused_and_the_message_names_one_that_works(noise, epsilon, delta, beta):
    with pytest.raises(CalibrationError, match="beta < ") as caught:
        noise.alpha(epsilon, delta, beta)
    named = float(str(caught.value).split("beta < ")[1].split()[0])
    assert noise.alpha(epsilon, delta, 0.999 * named) > 0


def test_what_a_noise_cannot_do_names_what_can():
    with pytest.raises(UnsupportedError, match="advise"):
        GaussianNoise().alpha(1, 1e-6, 0.1)
    with pytest.raises(CalibrationError, match="delta > 0"):
        GaussianNoise().alpha(1, 0, 0)
    with pytest.raises(CalibrationError, match="advise"):
        LaplaceNoise().alpha(1, 0, 0.1)
    with pytest.raises(CalibrationError, match="student_t, cauchy"):
        check_serves(LaplaceNoise.traits, constant=False, delta=0.0)
    with pytest.raises(CalibrationError, match="delta > 0"):
        LLNNoise(0.5).alpha(1, 0, 0.1)
    with pytest.raises(ParameterError, match="tight, split, paper"):
        StudentTNoise(3, "printed")


@pytest.mark.parametrize("bad", [0, -0.5, math.nan, math.inf, "1", None, True])
def test_bad_epsilon_is_refused(bad):
    for noise in (
        FlaredLaplaceNoise(),
        StudentTNoise(),
        CauchyNoise(),
        LaplaceNoise(),
        GaussianNoise(),
        LLNNoise(0.5),
    ):
        with pytest.raises(ParameterError, match="epsilon"):
            noise.alpha(bad, 1e-6, 0.01)
