"""A reservation is a claim: the ledger goes by its own record of the number and refuses what differs."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

import sordino as sd
from sordino.ledger import Ledger, Limit, Reservation
from tests.unit.ledger.conftest import pure
from tests.unit.ledger.tampering import add_event

WEIGHTED = sd.Distance("row", "add_remove", (("orders", 2.0),))


@pytest.fixture
def both(ledger):
    """bob has spent, ann has a question under way; so has ann on another data set."""
    ledger.grant("shop", "bob", Limit.of(epsilon=1))
    ledger.grant("web", "ann", Limit.of(epsilon=1))
    ledger.spend("shop", "bob", pure(0.9), "q", lambda: {"value": 1})
    return ledger


@pytest.fixture
def real(both):
    return both.reserve("shop", "ann", pure(0.5), question="r")


FORGED = {
    "another analyst": {"analyst": "bob"},
    "the cap": {"analyst": ""},
    "another data set": {"dataset": "web"},
    "a smaller loss": {"guarantee": pure(0.1)},
    "a larger loss": {"guarantee": pure(0.9)},
    "a delta": {"guarantee": pure(0.5, 1e-7)},
    "another theorem": {"guarantee": pure(0.5, theorem="exponential mechanism")},
    "another distance": {"guarantee": pure(0.5, distance=WEIGHTED)},
    "another measure": {"guarantee": sd.Guarantee(sd.Loss(rho=0.5), sd.add_remove_row(), "some mechanism")},
    "no guarantee": {"guarantee": None},
    "an unknown number": {"number": 999},
    "a number that is no reservation": {"number": 1},
    "no number": {"number": "5"},
    "a truth": {"number": True},
    "a huge number": {"number": 2**70},
}


@pytest.mark.parametrize("case", FORGED)
@pytest.mark.parametrize("end", ["commit", "refund", "fail"])
def test_what_differs_from_the_record_is_refused_and_changes_nothing(both, real, case, end):
    forged = replace(real, **FORGED[case])
    ends = {
        "commit": lambda: both._commit(forged, {"value": 2}),
        "refund": forged.refund,
        "fail": lambda: both._fail(forged),
    }
    before = both.history(), both.accounts()
    with pytest.raises(sd.LedgerError, match="nothing was released"):
        ends[end]()
    assert (both.history(), both.accounts()) == before
    both.verify()
    assert real.commit({"value": 3}).content == {"value": 3}  # the real one is as it was


def test_a_forged_refund_gives_nobody_anything_back(both, real):
    """The number of ann's reservation under bob's name: bob had 0.1 left and got 0.5 more."""
    with pytest.raises(sd.LedgerError, match="with another analyst"):
        replace(real, analyst="bob").refund()
    with pytest.raises(sd.BudgetError, match=r"epsilon 0\.1 is left"):
        both.reserve("shop", "bob", pure(0.5), question="s")


@pytest.mark.parametrize("first", ["commit", "refund", "fail"])
@pytest.mark.parametrize("second", ["commit", "refund"])
def test_a_reservation_ends_once_whoever_shows_it(both, real, first, second):
    ends = {
        "commit": lambda shown: shown.commit({"value": 1}),
        "refund": lambda shown: shown.refund(),
        "fail": lambda shown: both._fail(shown),
    }
    ends[first](real)
    before = both.history(), both.accounts()
    for shown in (real, Reservation(both, real.number, "shop", "ann", pure(0.5))):
        with pytest.raises(sd.LedgerError, match=r"has ended with a (commit|refund|suspend); nothing"):
            ends[second](shown)
    assert (both.history(), both.accounts()) == before
    both.verify()


def test_a_reservation_of_another_ledger_is_unknown(real):
    with Ledger.in_memory() as other, pytest.raises(sd.LedgerError, match="not in this ledger"):
        replace(real, ledger=other).refund()


@pytest.mark.parametrize(
    "event",
    [
        "'refund', 'shop', 'bob', {open}",
        "'commit', 'web', 'ann', {open}",
        "'refund', 'shop', 'ann', 1",
        "'suspend', 'shop', 'ann', NULL",
        "'resume', 'shop', 'ann', {open}",
    ],
)
def test_events_that_no_question_can_have_left_are_found(both, real, path, event):
    both.verify()
    add_event(path, "time, kind, dataset, analyst, reservation", f"'', {event.format(open=real.number)}")
    with pytest.raises(sd.LedgerError, match="does not end a reservation of its own account"):
        both.verify()


@pytest.mark.parametrize(
    "change", ["DELETE FROM unended", "UPDATE unended SET analyst = 'bob'", "UPDATE unended SET dataset = ''"]
)
def test_a_list_of_open_reservations_that_its_events_do_not_make_is_found(both, real, path, change):
    file = sqlite3.connect(path, isolation_level=None)
    file.execute(change)
    file.close()
    with pytest.raises(sd.LedgerError, match="list of open reservations"):
        both.verify()
