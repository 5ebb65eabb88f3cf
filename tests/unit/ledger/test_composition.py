"""What a guarantee costs in each measure, exactly."""

import math
import sqlite3
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.core import Loss
from sordino.ledger import Amount, Ledger, Limit
from sordino.ledger.composition import count_epsilon, count_rho
from sordino.mechanisms.selection.samplers import SAMPLERS
from tests.unit.ledger.conftest import pure
from tests.unit.ledger.old_formats import write_old

SCORES = np.array([3.0, 1.0, 0.0])


def test_epsilon_counts_at_the_decimal_that_is_written():
    assert count_epsilon(pure(0.1, 1e-7).loss) == Amount(Fraction(1, 10), Fraction(1, 10**7))


def test_a_fraction_that_is_no_decimal_rounds_up_as_a_loss_and_down_as_a_budget():
    third = Fraction(1, 3)
    assert third < count_epsilon(pure(third).loss).loss < third + Fraction(1, 10**99)
    assert third - Fraction(1, 10**99) < Limit.of(epsilon=third).amount.loss < third


def test_pure_epsilon_costs_half_its_square_in_rho():
    assert count_rho(pure(0.2).loss) == Amount(Fraction(2, 100))


def test_an_approximate_guarantee_costs_its_delta_too():
    assert count_rho(pure(0.2, 1e-9).loss) == Amount(Fraction(2, 100), Fraction(1, 10**9))


def test_rho_is_counted_as_stated_and_not_as_epsilon():
    gaussian = sd.Guarantee(sd.Loss(rho=0.005), sd.add_remove_row(), "Gaussian")
    assert count_rho(gaussian.loss) == Amount(Fraction(5, 1000))
    with pytest.raises(sd.UnsupportedError, match="as_approximate"):
        count_epsilon(gaussian.loss)


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
    factor = count_rho(release.guarantee.loss).loss / Fraction(4, 10) ** 2
    assert factor == Fraction(1, 8 if SAMPLERS[sampler].bounded_range else 2)


def test_several_draws_do_not_get_bounded_range_and_a_group_has_its_own():
    """Along a path of k neighbours the losses add up outcome by outcome, and so do their ranges."""
    top = sd.top_k(SCORES, 2, profile=sd.Profile.constant(1.0), epsilon=0.4, mechanism="exponential")
    assert count_rho(top.guarantee.loss).loss == Fraction(8, 100)
    assert count_rho(Loss(epsilon=0.2, bounded_range=True).for_changes(2)).loss == Fraction(2, 100)


def test_no_sentence_is_worth_anything():
    for theorem in ("exponential mechanism", "shifted dampening, drawn by exponential mechanism", "zCDP"):
        assert count_rho(pure(0.2, theorem=theorem).loss).loss == Fraction(2, 100)


def test_every_other_mechanism_pays_the_full_rate():
    for mechanism in ("report_noisy_max", "inverse_sensitivity", "local_dampening"):
        release = sd.select(SCORES, profile=sd.Profile.constant(1.0), epsilon=0.4, mechanism=mechanism)
        assert count_rho(release.guarantee.loss).loss == Fraction(16, 100) / 2


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


@pytest.mark.parametrize(("noise", "held"), [("gumbel", True), ("exponential", False), ("laplace", False)])
def test_noisy_max_has_the_range_of_the_law_that_it_draws(noise, held):
    release = sd.select(
        SCORES, profile=sd.Profile.constant(1.0), epsilon=0.4, mechanism="report_noisy_max", noise=noise
    )
    assert release.guarantee.loss.bounded_range is held


def test_a_file_of_an_old_format_keeps_what_its_theorems_said(tmp_path):
    file = write_old(tmp_path / "old.ledger", 2)
    connection = sqlite3.connect(file)
    connection.executescript(
        "INSERT INTO events (time, kind, dataset, analyst, epsilon, delta, distance, theorem, question) VALUES"
        " ('t', 'reserve', 'shop', 'ann', '1/5', '0', 'd', 'x, drawn by exponential mechanism', 'r'),"
        " ('t', 'reserve', 'shop', 'ann', '1/5', '1/1000', 'd', 'x, drawn by exponential mechanism', 's'),"
        " ('t', 'reserve', 'shop', 'ann', '1/5', '0', 'd', 'permute-and-flip', 't');"
    )
    connection.close()
    with Ledger.open(file) as book:
        facts = {event.question: event.facts for event in book.history() if event.kind == "reserve"}
    assert facts == {"q": None, "r": "bounded_range", "s": None, "t": None}
