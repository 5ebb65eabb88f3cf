"""What a policy declares and what is granted by hand: the owner's latest word counts."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

import sordino as sd
from sordino.ledger import Amount, Ledger, Limit
from sordino.ledger.schema import UPGRADES
from tests.unit.ledger.conftest import pure
from tests.unit.ledger.old_formats import write_old

ONE, TWO, FIVE = (Limit.of(epsilon=epsilon) for epsilon in (1, 2, 5))
LESS = Limit.of(epsilon=0.85)
RHO = Limit.of(rho=0.1, at_delta=1e-6)


@pytest.fixture
def book(path):
    with Ledger.open(path) as opened:
        yield opened


def declare(book, cap=None, **budgets):
    book.declare("shop", budgets, cap=cap, distance=sd.add_remove_row())


def limits(book):
    return {account.analyst or "cap": account.limit for account in book.accounts() if not account.withdrawn}


def pay(book, analyst, epsilon):
    book.spend("shop", analyst, pure(epsilon), "q", lambda: {"value": 1})


@pytest.mark.parametrize("granted", [LESS, FIVE, RHO])
def test_what_was_granted_holds_until_the_policy_says_another_number(book, granted):
    declare(book, cap=TWO, ann=ONE)
    book.grant("shop", "ann", granted)
    book.set_cap("shop", granted)
    events = book.history()
    for _ in range(2):
        declare(book, cap=TWO, ann=ONE)
    assert book.history() == events
    assert limits(book) == {"ann": granted, "cap": granted}
    declare(book, cap=ONE, ann=TWO)
    assert limits(book) == {"ann": TWO, "cap": ONE}
    book.verify()


def test_who_is_named_no_more_has_no_budget_until_a_policy_or_a_grant_gives_one(book):
    declare(book, ann=ONE, bob=ONE)
    book.grant("shop", "ann", FIVE)
    book.grant("shop", "zoe", ONE)
    pay(book, "ann", 0.5)
    declare(book, bob=ONE)
    refusals = set()
    for name in ("ann", "eve"):  # the same words as for somebody unknown
        for ask in (lambda who: pay(book, who, 0.1), lambda who: book.account("shop", who)):
            with pytest.raises(sd.BudgetError) as refused:
                ask(name)
            refusals.add(str(refused.value).replace(name, "…"))
    assert len(refusals) == 1
    pay(book, "bob", 0.5)
    pay(book, "zoe", 0.5)
    book.verify()
    declare(book, ann=ONE, bob=ONE)
    assert book.account("shop", "ann").left.loss == 0.5
    declare(book, bob=ONE)
    book.grant("shop", "ann", TWO)
    for _ in range(2):
        declare(book, bob=ONE)
        assert book.account("shop", "ann").left.loss == 1.5
    book.verify()


def test_a_cap_that_is_named_no_more_stands(book):
    declare(book, cap=ONE, ann=FIVE)
    declare(book, ann=FIVE)
    assert book.cap("shop").limit == ONE
    book.set_cap("shop", FIVE)
    declare(book, cap=ONE, ann=FIVE)
    assert book.cap("shop").limit == ONE


def test_a_lower_policy_leaves_nothing_and_stops_nobody_else(book):
    declare(book, ann=TWO, bob=TWO)
    pay(book, "ann", 1.5)
    declare(book, ann=ONE, bob=TWO)
    assert book.account("shop", "ann").left == Amount()
    pay(book, "bob", 0.5)
    declare(book, cap=ONE, ann=ONE, bob=TWO)
    with pytest.raises(sd.BudgetError) as refused:
        pay(book, "bob", 0.25)
    assert not {"ann", "1.5", "2", "0.5"} & set(str(refused.value).replace(",", "").split())
    book.verify()


@pytest.mark.parametrize(("granted", "stands"), [(LESS, LESS), (FIVE, ONE), (RHO, ONE)])
def test_before_the_first_question_the_smaller_of_grant_and_policy_holds(book, granted, stands):
    book.grant("shop", "ann", granted)
    declare(book, ann=ONE)
    assert limits(book) == {"ann": stands}
    book.grant("shop", "bob", LESS)
    declare(book, ann=ONE, bob=ONE)  # by now a policy was seen, and this one has news
    assert limits(book)["bob"] == ONE


def test_a_policy_whose_measure_cannot_count_what_was_spent_tells_nobody_of_it(book):
    declare(book, ann=RHO, bob=ONE)
    guarantee = sd.Guarantee(sd.Loss(rho=0.04), sd.add_remove_row(), "Gaussian")
    book.spend("shop", "ann", guarantee, "q", lambda: {"value": 1})
    declare(book, ann=ONE, bob=ONE)
    pay(book, "bob", 0.5)
    with pytest.raises(
        sd.BudgetError, match=r"policy gives 'ann' .* in epsilon, in which .* declares it as rho"
    ):
        pay(book, "ann", 0.1)
    with pytest.raises(sd.UnsupportedError, match="declares it as rho") as refused:
        declare(book, cap=ONE, ann=ONE, bob=ONE)
    assert "0.04" not in str(refused.value)
    book.verify()


def test_a_policy_is_declared_whole_or_not_at_all(book):
    class Crash(BaseException):
        pass

    def crash(point):
        if point == "declared":
            raise Crash

    declare(book, ann=ONE)
    before = book.accounts(), book.history()
    book._reached = crash
    with pytest.raises(Crash):
        declare(book, cap=ONE, bob=TWO)
    assert (book.accounts(), book.history()) == before
    with pytest.raises(sd.ParameterError, match="limit must be a Limit"):
        declare(book, ann=1)


def test_the_record_says_who_spoke(book):
    declare(book, ann=ONE)
    book.grant("shop", "ann", TWO)
    declare(book)
    assert [(event.epsilon, event.scope) for event in book.history()] == [
        ("1", "policy"),
        ("2", None),
        ("0", "policy"),
    ]


@pytest.fixture(params=[1, 2, 3])
def old(request, path):
    """Policy: ann 1, bob 1; granted since: ann 0.85; by hand alone: zoe."""
    return write_old(path, request.param)


def test_a_file_of_an_old_format_keeps_what_was_granted_since_its_policy_spoke(old):
    with Ledger.open(old) as book:
        book.verify()
        events = book.history()
        declare(book, ann=ONE, bob=ONE)
        assert book.history() == events
        assert limits(book) == {"ann": LESS, "bob": ONE, "zoe": TWO}
        declare(book, ann=TWO)
        assert limits(book) == {"ann": TWO, "zoe": TWO}
        assert book.account("shop", "ann").left.loss == 1.5
        book.verify()
    with Ledger.open(old) as book:
        book.verify()


def test_a_file_of_an_old_format_is_read_as_it_is_by_those_who_only_look(old):
    content = old.read_bytes()
    with Ledger.open(old, write=False) as book:
        book.verify()
        assert limits(book) == {"ann": LESS, "bob": ONE, "zoe": TWO}
        assert book.stored("shop", "ann", "q").content == {"value": 1}
    assert old.read_bytes() == content


def test_a_file_of_an_old_format_keeps_every_event_as_it_was(old):
    file = sqlite3.connect(old)
    before = file.execute("SELECT * FROM events").fetchall()
    file.close()
    with Ledger.open(old) as book:
        pay(book, "bob", 0.25)
    file = sqlite3.connect(old)
    after = file.execute("SELECT * FROM events").fetchall()
    assert [row[: len(before[0])] for row in after[:6]] == before
    assert {row[-2] for row in after} == {None}
    assert [row[0] for row in after[6:]] == [7, 8]
    assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        file.execute("DELETE FROM events")
    file.close()


def test_a_crash_while_the_format_changes_changes_nothing(old, monkeypatch):
    for version, upgrade in UPGRADES.items():
        broken = replace(upgrade, after=upgrade.after + "INSERT INTO nowhere VALUES (1);\n")
        monkeypatch.setitem(UPGRADES, version, broken)
    content = old.read_bytes()
    with pytest.raises(sd.LedgerError, match="nothing was released"):
        Ledger.open(old)
    monkeypatch.undo()
    with Ledger.open(old, write=False) as book:
        assert len(book.history()) == 6
    file = sqlite3.connect(old)
    assert file.execute("PRAGMA user_version").fetchone()[0] in (1, 2, 3)
    file.close()
    assert len(content) == len(old.read_bytes())
    with Ledger.open(old) as book:
        declare(book, ann=ONE, bob=ONE)
        assert limits(book)["ann"] == LESS
