"""The law of noisy max: every probability with its digits, however small, and an error that covers what is missing."""

from __future__ import annotations

import math

import flint
import numpy as np
import pytest

from sordino.audit import LogLaw, prove
from sordino.mechanisms.selection import stated_law
from sordino.mechanisms.selection.noisy_max_law import log_law, noisy_max_law
from sordino.sampling.shapes import Laplace, LaplaceLogNormal, Polynomial, StudentT
from tests.oracles import densities
from tests.oracles.selection_laws import noisy_max_law as integrated
from tests.oracles.two_noises import log_laplace_behind, student_behind

GAPS = [1e-9, 0.3, 1.0, 10.0, 40.0, 100.0, 700.0, 1e4, 1e6]


def off(stated, exact: flint.arb) -> float:
    with flint.ctx.workprec(1200):
        return abs(float(flint.arb(float(stated)) - exact))


@pytest.mark.parametrize("gap", GAPS)
def test_two_laplace_noises_follow_the_closed_form(gap):
    law = noisy_max_law(Laplace(), np.array([0.0, -gap]))
    exact = log_laplace_behind(gap)
    assert off(law.log_probabilities[1], exact) <= law.error[1] <= 1e-9 * max(1.0, gap / 100)
    with flint.ctx.workprec(1200):
        assert off(law.log_probabilities[0], (-exact.exp()).log1p()) <= law.error[0]


@pytest.mark.parametrize("gap", [*GAPS, 1e12, 1e40])
def test_two_student_noises_follow_the_closed_form(gap):
    law = noisy_max_law(StudentT(3), np.array([-gap, 0.0]))
    with flint.ctx.workprec(1200):
        exact = student_behind(gap)
        assert off(law.log_probabilities[0], exact.log()) <= law.error[0] <= 1e-10
        assert off(law.log_probabilities[1], (-exact).log1p()) <= law.error[1]


SHAPES = [
    (Laplace(), densities.laplace()),
    (StudentT(3), densities.student_t(3)),
    (Polynomial(2.5), densities.one_sided_polynomial(2.5)),
]
SCORES = [
    [0.0, -3.0, -3.0, -40.0],
    [0.0, -1e-3, -2e-3, -200.0, -201.0],
    [0.0, 0.0, -7.0, -15.0, -16.0, -90.0],
]


@pytest.mark.parametrize(("shape", "density"), SHAPES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("scores", SCORES, ids=len)
def test_several_candidates_follow_the_integral_relatively(shape, density, scores):
    law = noisy_max_law(shape, np.array(scores))
    expected = np.log(integrated(scores, scale=1.0, noise=density))
    assert (np.abs(law.log_probabilities - expected) <= law.error + 1e-10).all()
    assert law.error.max() < 1e-10


def test_laplace_log_normal_noise_follows_the_integral_relatively():
    scores = [0.0, -3.0]
    law = noisy_max_law(LaplaceLogNormal(0.5), np.array(scores))
    expected = np.log(integrated(scores, scale=1.0, noise=densities.laplace_log_normal(0.5)))
    assert (np.abs(law.log_probabilities - expected) <= law.error + 1e-10).all()


def test_many_equal_candidates_share_what_the_leader_leaves():
    for size in (2, 50, 100_000):
        law = log_law(StudentT(3), np.append(np.zeros(size), -1e3))
        assert np.exp(law).sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(law[:-1], law[0], rtol=0, atol=1e-15)


def test_scores_far_from_zero_lose_nothing():
    """Only differences count; dividing large scores by the scale first would round them."""
    options = {"profile": 1.0, "epsilon": 1.0, "mechanism": "smooth_noisy_max", "noise": "student_t"}
    near = stated_law([0.0, 3.0], **options)
    far = stated_law([2.0**50, 2.0**50 + 3], **options)
    np.testing.assert_array_equal(near.log_probabilities, far.log_probabilities)


def test_a_candidate_beyond_all_doubles_is_stated_as_unknown():
    law = noisy_max_law(StudentT(3), np.array([0.0, -1e200, -np.inf]))
    assert np.isinf(law.error[1:]).all()
    assert law.error[0] < 1e-10


def test_a_loss_of_a_rare_outcome_is_not_overlooked():
    """Gaps whose losers' true probabilities differ by e^1.29; an integral that checks its total mass gave e^0.99."""
    gaps = {0: 5321.745275416976, 1: 8180.007553081085}
    with flint.ctx.workprec(300):
        true_loss = float((student_behind(gaps[0]) / student_behind(gaps[1])).log())
    assert true_loss > 1.28

    def law(x):
        stated = noisy_max_law(StudentT(3), np.array([0.0, -gaps[x]]))
        return LogLaw(stated.log_probabilities, error=stated.error)

    proof = prove(law, [0, 1], lambda x: [1 - x], 1.0)
    assert not proof.holds
    assert proof.worst_epsilon == pytest.approx(true_loss, abs=1e-9)
    assert prove(law, [0, 1], lambda x: [1 - x], true_loss + 1e-9).holds


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_closed_form_laws_state_an_error_that_covers_their_rounding(mechanism):
    scores = np.array([0.0, 1.0, 300.0, 77.7])
    law = stated_law(scores, profile=1.0, epsilon=1e4, mechanism=mechanism)
    with flint.ctx.workprec(300):
        grid = [math.floor(u * 2.0**30) for u in scores.tolist()]
        heads = [(flint.arb(5000) * (g - max(grid)) / 2**30).exp() for g in grid]
        if mechanism == "exponential":
            exact = [h / sum(heads, flint.arb(0)) for h in heads]
        else:
            # p_r ∫ Π_{s≠r}(1 − p_s y) dy: with such small p, 1 − p_r/2·… by the elementary symmetric sums
            exact = [h * _flip_share([p for s, p in enumerate(heads) if s != r]) for r, h in enumerate(heads)]
        for stated, error, true in zip(law.log_probabilities, law.error, exact, strict=True):
            assert off(stated, true.log()) <= error <= 1e-5


def _flip_share(others: list[flint.arb]) -> flint.arb:
    """∫₀¹ Π (1 − p y) dy as a polynomial in y."""
    coefficients = [flint.arb(1)]
    for p in others:
        shifted = [flint.arb(0), *(-p * c for c in coefficients)]
        coefficients = [a + b for a, b in zip([*coefficients, flint.arb(0)], shifted, strict=True)]
    return sum((c / (i + 1) for i, c in enumerate(coefficients)), flint.arb(0))
