"""What a guarantee costs in each measure, exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.ledger import Amount, Limit
from sordino.ledger.composition import epsilon_cost, rho_cost
from sordino.mechanisms.selection.mechanism import SAMPLERS
from tests.unit.ledger.conftest import pure

SCORES = np.array([3.0, 1.0, 0.0])


def test_epsilon_counts_at_the_decimal_that_is_written():
    assert epsilon_cost(pure(0.1, 1e-7)) == Amount(Fraction(1, 10), Fraction(1, 10**7))


def test_a_fraction_that_is_no_decimal_rounds_up_as_a_loss_and_down_as_a_budget():
    third = Fraction(1, 3)
    assert third < epsilon_cost(pure(third)).loss < third + Fraction(1, 10**99)
    assert third - Fraction(1, 10**99) < Limit.of(epsilon=third).amount.loss < third


def test_pure_epsilon_costs_half_its_square_in_rho():
    assert rho_cost(pure(0.2)) == Amount(Fraction(2, 100))


def test_an_approximate_guarantee_costs_its_delta_too():
    assert rho_cost(pure(0.2, 1e-9)) == Amount(Fraction(2, 100), Fraction(1, 10**9))


def test_rho_is_counted_as_stated_and_not_as_epsilon():
    gaussian = sd.Guarantee(sd.add_remove_row(), "Gaussian", rho=0.005)
    assert rho_cost(gaussian) == Amount(Fraction(5, 1000))
    with pytest.raises(sd.UnsupportedError, match="as_approximate"):
        epsilon_cost(gaussian)


@pytest.mark.parametrize("sampler", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("mechanism", ["own", "shifted_dampening"])
def test_bounded_range_is_granted_to_the_exponential_law_alone(sampler, mechanism):
    """The factor equals what the sampler itself claims, on guarantees as the mechanisms print them."""
    drawn = {} if mechanism == "own" else {"sampler": sampler}
    release = sd.select(
        SCORES,
        profile=sd.Profile.constant(1.0),
        epsilon=0.4,
        mechanism=sampler if mechanism == "own" else mechanism,
        **drawn,
    )
    factor = rho_cost(release.guarantee).loss / Fraction(4, 10) ** 2
    assert factor == SAMPLERS[sampler].zcdp_factor


def test_several_draws_or_a_group_do_not_get_bounded_range():
    top = sd.top_k(SCORES, 2, profile=sd.Profile.constant(1.0), epsilon=0.4, mechanism="exponential")
    assert rho_cost(top.guarantee).loss == Fraction(8, 100)
    group = pure(0.2, theorem="exponential mechanism").for_changes(2)
    assert rho_cost(group).loss == Fraction(8, 100)


def test_every_other_mechanism_pays_the_full_rate():
    for mechanism in ("report_noisy_max", "inverse_sensitivity", "local_dampening"):
        release = sd.select(SCORES, profile=sd.Profile.constant(1.0), epsilon=0.4, mechanism=mechanism)
        exponential = release.guarantee.theorem.endswith("drawn by exponential mechanism")
        assert rho_cost(release.guarantee).loss == Fraction(16, 100) / (8 if exponential else 2)


def test_the_statement_of_a_rho_account_is_bun_and_steinkes_rounded_up():
    limit = Limit.of(rho=0.1, at_delta=1e-6, delta=1e-7)
    epsilon, delta = limit.statement(limit.amount)
    exact = 0.1 + 2 * math.sqrt(0.1 * math.log(1e6))
    assert exact < epsilon < exact * (1 + 1e-12)
    assert 1.1e-6 <= delta < 1.1e-6 * (1 + 1e-12)
    assert limit.statement(Amount()) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({}, "either epsilon"),
        ({"epsilon": 1, "rho": 1}, "either epsilon"),
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "finite"),
        ({"epsilon": 1, "delta": 1}, r"delta must be in \[0, 1\)"),
        ({"epsilon": 1, "at_delta": 1e-6}, "at_delta belongs to rho"),
        ({"rho": 1}, "rho needs at_delta"),
        ({"rho": 1, "at_delta": 0}, r"at_delta must be in \(0, 1\)"),
        ({"rho": 1, "at_delta": 0.5, "delta": 0.5}, "below 1"),
    ],
)
def test_a_limit_that_says_nothing_sound_is_refused(numbers, message):
    with pytest.raises(sd.ParameterError, match=message):
        Limit.of(**numbers)


def test_text_rounds_a_loss_up_and_what_is_left_down():
    limit, third = Limit.of(epsilon=1), Amount(Fraction(1, 3))
    assert limit.shown(third) == "epsilon 0.333333333334"
    assert limit.shown(third, left=True) == "epsilon 0.333333333333"
    assert limit.shown(Amount(Fraction(1, 10**9))) == "epsilon 1e-9"
    assert limit.shown(Amount(Fraction(1500))) == "epsilon 1500"
