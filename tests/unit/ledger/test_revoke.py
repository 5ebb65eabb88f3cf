"""The owner takes a budget back: nothing more is paid from it, and nothing that was spent is forgotten."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sordino as sd
from sordino.ledger import Amount, Ledger, Limit
from tests.unit.ledger.conftest import pure


def answer():
    return {"value": 42}


def test_a_revoked_budget_pays_nothing_and_keeps_what_was_spent(ledger, path):
    ledger.set_cap("shop", Limit.of(epsilon=5))
    ledger.spend("shop", "ann", pure(0.25), "q", answer)
    account = ledger.revoke("shop", "ann")
    assert (account.withdrawn, account.left) == (True, Amount())
    assert account.spent == Amount(Fraction(1, 4))
    with pytest.raises(sd.BudgetError, match="no budget"):
        ledger.spend("shop", "ann", pure(0.01), "r", lambda: pytest.fail("drawn"))
    assert ledger.cap("shop").spent == Amount(Fraction(1, 4))
    ledger.verify()
    with Ledger.open(path) as again:  # durably
        assert again.history()[-1].scope == "revoked"
        with pytest.raises(sd.BudgetError, match="no budget"):
            again.reserve("shop", "ann", pure(0.01), question="r")


def test_a_grant_gives_a_budget_again_and_what_was_spent_counts(ledger):
    ledger.spend("shop", "ann", pure(0.25), "q", answer)
    ledger.revoke("shop", "ann")
    account = ledger.grant("shop", "ann", Limit.of(epsilon=1))
    assert account.left == Amount(Fraction(3, 4))
    ledger.verify()


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("policy", [Limit.of(epsilon=1, delta=1e-6), Limit.of(rho=1, at_delta=1e-6)])
def test_a_policy_that_repeats_itself_gives_nothing_back(ledger, policy, asked):
    """Asked about or not, and in whatever measure: nothing is less than any budget."""
    if asked:
        ledger.declare("shop", {"ann": policy}, distance=sd.add_remove_row())
        ledger.spend("shop", "ann", pure(0.25), "q", answer)
    ledger.revoke("shop", "ann")
    ledger.declare("shop", {"ann": policy}, distance=sd.add_remove_row())
    with pytest.raises(sd.BudgetError, match="no budget"):
        ledger.reserve("shop", "ann", pure(0.01), question="r")
    ledger.declare("shop", {"ann": Limit.of(epsilon=0.5)}, distance=sd.add_remove_row())
    assert ledger.account("shop", "ann").left == Amount(Fraction(1, 4) if asked else Fraction(1, 2))


def test_a_question_under_way_is_answered(ledger):
    with ledger.reserve("shop", "ann", pure(0.25), question="q") as reservation:
        ledger.revoke("shop", "ann")
        assert reservation.commit(answer()).content == answer()
    ledger.verify()


def test_revoking_twice_writes_once_and_nobody_else_is_touched(ledger):
    ledger.grant("shop", "bob", Limit.of(epsilon=1))
    ledger.revoke("shop", "ann")
    events = ledger.history()
    assert ledger.revoke("shop", "ann").withdrawn
    assert ledger.history() == events
    assert ledger.account("shop", "bob").left == Amount(Fraction(1))


def test_who_has_no_account_cannot_lose_one(ledger):
    with pytest.raises(sd.ParameterError, match="data set 'shop' has no account of 'eve'"):
        ledger.revoke("shop", "eve")
    with pytest.raises(sd.ParameterError, match="analyst must be a printable name"):
        ledger.revoke("shop", "")
