"""Accounts in notebooks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.ledger import Account, Amount, Limit

from ..display.test_html import HOSTILE, Page


def account(spent="0.5", **limit):
    limit = Limit.of(**({"epsilon": 2} | limit))
    return Account(HOSTILE, "ann", limit, Amount(Fraction(spent)))


def test_an_account_shows_what_is_spent_and_left():
    page = account()._repr_html_()
    assert "width:25.0%" in page
    shown = Page(page)
    assert "epsilon 0.5 spent, epsilon 1.5 left" in shown.text
    assert HOSTILE in shown.text
    assert "script" not in shown.elements


def test_the_cap_and_a_suspension_are_named():
    cap = Account("shop", None, Limit.of(epsilon=1), Amount(), suspended=True)
    assert "all together (the cap)" in cap._repr_html_()
    assert "suspended until the owner resumes it" in cap._repr_html_()
    assert "suspended until" in cap.plot().axes[0].get_title(loc="left")


@pytest.mark.parametrize("limit", [{}, {"delta": 1e-6}, {"epsilon": None, "rho": 1, "at_delta": 1e-6}])
def test_the_bar_is_filled_as_far_as_it_is_spent(limit):
    given = account(**limit)
    whole, filled = given.plot().axes[0].patches
    assert filled.get_width() == 0.5
    assert whole.get_width() == float(given.limit.amount.loss)


def test_delta_may_run_out_first():
    used = Account("shop", "ann", Limit.of(epsilon=2, delta=1e-6), Amount(Fraction(1, 2), Fraction(1, 10**6)))
    assert "width:100.0%" in used._repr_html_()
