"""Tiny and huge amounts: a loss is never counted as less than was asked, a budget never as more than was given."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.ledger import Amount, Ledger, Limit
from sordino.ledger.amount_text import write_rounded_down, write_rounded_up
from sordino.ledger.composition import count_epsilon, count_rho
from tests.unit.ledger.conftest import pure

LOSSES = st.floats(min_value=5e-324, max_value=1.7e308)
DELTAS = st.one_of(st.just(0.0), st.floats(min_value=5e-324, max_value=1 - 2**-53))


@given(LOSSES, DELTAS)
@example(1e-300, 1e-300)
@example(5e-324, 5e-324)
@example(1.7e308, 1 - 2**-53)
@settings(max_examples=300)
def test_a_cost_is_never_below_what_was_asked(epsilon, delta):
    asked, beside = Fraction(repr(epsilon)), Fraction(repr(delta))
    paid = count_epsilon(pure(epsilon, delta).loss)
    assert asked <= paid.loss < asked + Fraction(1, 10**100)
    assert beside <= paid.delta < beside + Fraction(1, 10**100)
    in_rho = count_rho(pure(epsilon, delta).loss)
    assert asked**2 / 2 <= in_rho.loss
    assert beside <= in_rho.delta
    stated = count_rho(sd.Loss(rho=epsilon))
    assert asked <= stated.loss < asked + Fraction(1, 10**100)


@given(st.fractions(min_value=0, max_value=10**30), st.integers(-330, 330))
@example(Fraction(1, 3), -100)
@example(Fraction(10**13 - 1, 10**13), 308)
@settings(max_examples=300)
def test_text_rounds_losses_up_and_budgets_down(number, exponent):
    amount = number * Fraction(10) ** exponent
    up, down = Fraction(Decimal(write_rounded_up(amount))), Fraction(Decimal(write_rounded_down(amount)))
    assert down <= amount <= up
    assert up - down <= amount / 10**11
    limit = Limit("epsilon", Amount(amount, Fraction(1, 3)))
    if Fraction(1, 10**100) <= amount < 10**308:  # what a ledger's grid and a double can hold
        written = json.loads(json.dumps(limit.to_dict()), parse_float=Decimal)
        assert Fraction(written["epsilon"]) == down
        assert Fraction(written["delta"]) <= Fraction(1, 3)
    assert f"epsilon {write_rounded_down(amount)}, delta 0.333333333333" == str(limit)


@pytest.mark.parametrize("loss", [1e-101, 1e-300, 5e-324])
@pytest.mark.parametrize("measure", ["epsilon", "rho"])
def test_a_budget_too_small_to_count_is_refused(loss, measure):
    with pytest.raises(sd.ParameterError, match="at least 1e-100"):
        Limit.of(**{measure: loss}, at_delta=1e-6 if measure == "rho" else None)
    Limit.of(**{measure: 1e-100}, at_delta=1e-6 if measure == "rho" else None)


def test_a_delta_too_small_to_count_is_not_given_but_is_paid(ledger):
    assert Limit.of(epsilon=1, delta=1e-300).amount.delta == 0
    ledger.grant("shop", "ann", Limit.of(epsilon=1, delta=1e-99))
    for turn in range(10):
        ledger.spend("shop", "ann", pure(0.01, 1e-300), f"q{turn}", lambda: {"value": 1})
    with pytest.raises(sd.BudgetError):
        ledger.spend("shop", "ann", pure(0.01, 1e-300), "one more", lambda: {"value": 1})
    ledger.verify()


@pytest.mark.parametrize("epsilon", [1e-300, 1e-150, 1e150, 1e308])
def test_extreme_losses_are_paid_kept_shown_and_given_back(epsilon):
    with Ledger.in_memory() as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1.5e308))
        ledger.spend("shop", "ann", pure(epsilon), "q", lambda: {"value": 1})
        spent = ledger.account("shop", "ann").spent
        assert spent.loss >= Fraction(repr(epsilon))
        ledger.verify()
        json.dumps(ledger.account("shop", "ann").to_dict())
        ledger.set_cap("shop", Limit.of(rho=1, at_delta=5e-324))
        cap = ledger.cap("shop")
        assert cap.spent.loss >= Fraction(repr(epsilon)) ** 2 / 2
        assert cap.to_dict()["loss_so_far"]["epsilon"] > 0
        json.dumps(cap.to_dict())
        with pytest.raises(sd.BudgetError):
            ledger.reserve("shop", "ann", pure(1.5e308), question="r")
        ledger.set_cap("shop", Limit.of(rho=1e308, at_delta=5e-324))
        small = ledger.reserve("shop", "ann", pure(1e-3), question="s") if epsilon < 1 else None
        if small is not None:
            small.refund()
            assert ledger.account("shop", "ann").spent == spent
        ledger.verify()


def test_sums_beyond_all_doubles_are_kept_exactly_and_stated_as_infinite():
    with Ledger.in_memory() as ledger:
        for analyst in ("ann", "bob", "cyd"):
            ledger.grant("shop", analyst, Limit.of(epsilon=1e308))
            ledger.spend("shop", analyst, pure(1e308), "q", lambda: {"value": 1})
        cap = ledger.set_cap("shop", Limit.of(epsilon=1))
        assert cap.spent.loss == 3 * 10**308
        assert cap.to_dict()["loss_so_far"]["epsilon"] == math.inf
        assert cap.to_dict()["spent"]["epsilon"] == math.inf


@given(st.floats(1e-90, 1e300), st.floats(min_value=5e-324, max_value=1 - 2**-53))
@example(0.1, 5e-324)
@example(1e-90, 1 - 2**-53)
@settings(max_examples=200)
def test_the_statement_of_a_rho_is_at_least_that_of_the_theorem(rho, delta):
    """ρ + 2√(ρ ln(1/δ)), by ball arithmetic."""
    limit = Limit.of(rho=1, at_delta=delta)
    loss, stated = Fraction(repr(rho)), Fraction(repr(delta))
    epsilon, beside = limit.statement(Amount(loss))
    ctx.prec = 2000
    ball = arb(fmpq(loss.numerator, loss.denominator))
    exact = ball + 2 * (ball * -arb(fmpq(stated.numerator, stated.denominator)).log()).sqrt()
    ctx.prec = 53
    assert math.isinf(epsilon) or arb(epsilon) >= exact
    if 1e-300 < delta < 0.9 and math.isfinite(epsilon):
        assert epsilon <= float(exact) * (1 + 1e-9)
    assert Fraction(beside) >= stated


def test_no_loss_costs_nothing_and_no_number_is_no_loss(ledger):
    assert count_epsilon(pure(0.0).loss) == Amount()
    for odd in (math.inf, math.nan, -1.0):
        with pytest.raises(sd.ParameterError):
            ledger.reserve("shop", "ann", pure(odd), question="q")
    assert ledger.account("shop", "ann").spent == Amount()
