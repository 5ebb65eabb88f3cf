"""Accounts, caps, reservations, stored releases."""

import os
import pickle
import signal
import threading
from fractions import Fraction

import pytest

import sordino as sd
from sordino.ledger import Amount, Ledger, Limit, NothingReleased, write_question_key
from tests.unit.ledger.conftest import pure


def answer(value=42):
    return lambda: {"value": value}


def test_a_tenth_ten_times_is_exactly_one(ledger):
    for turn in range(10):
        ledger.spend("shop", "ann", pure(0.1), f"q{turn}", answer())
    assert ledger.account("shop", "ann").left.loss == 0
    with pytest.raises(sd.BudgetError):
        ledger.reserve("shop", "ann", pure(1e-300), question="one more")


def test_what_spend_returns_is_what_is_stored(ledger):
    given = ledger.spend("shop", "ann", pure(0.5), "q", answer(7), mechanism="laplace", scope="orders")
    assert given.content == {"value": 7}
    assert not given.reused
    known = ledger.stored("shop", "ann", "q")
    assert (known.content, known.number, known.time, known.reused) == (
        given.content,
        given.number,
        given.time,
        True,
    )


def test_the_same_question_costs_nothing_when_reuse_is_asked_for(ledger):
    first = ledger.spend("shop", "ann", pure(0.5), "q", answer(1))
    again = ledger.spend("shop", "ann", pure(0.5), "q", answer(2), reuse=True)
    assert (again.content, again.reused) == (first.content, True)
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 2)
    fresh = ledger.spend("shop", "ann", pure(0.5), "q", answer(3))
    assert fresh.content == {"value": 3}
    assert ledger.account("shop", "ann").left.loss == 0


def test_analysts_do_not_share_stored_releases(ledger):
    ledger.grant("shop", "bob", Limit.of(epsilon=1))
    ledger.spend("shop", "ann", pure(0.5), "q", answer(1))
    assert ledger.stored("shop", "bob", "q") is None
    assert ledger.spend("shop", "bob", pure(0.5), "q", answer(2), reuse=True).content == {"value": 2}
    assert ledger.account("shop", "bob").spent.loss == Fraction(1, 2)


def test_a_refusal_tells_what_was_asked_and_what_is_left_of_the_own_account(ledger):
    ledger.spend("shop", "ann", pure(0.7), "q", answer())
    before = ledger.history()
    with pytest.raises(sd.BudgetError) as refused:
        ledger.spend("shop", "ann", pure(0.4), "r", answer())
    assert "epsilon 0.4, delta 0 was asked and epsilon 0.3, delta 0.000001 is left" in str(refused.value)
    assert ledger.history() == before


def test_delta_is_a_limit_of_its_own(ledger):
    ledger.spend("shop", "ann", pure(0.1, 6e-7), "q", answer())
    with pytest.raises(sd.BudgetError, match="delta 4e-7 is left"):
        ledger.spend("shop", "ann", pure(0.1, 6e-7), "r", answer())


def test_the_cap_refuses_without_telling_what_is_left_of_it(ledger):
    ledger.grant("shop", "bob", Limit.of(epsilon=1))
    ledger.set_cap("shop", Limit.of(epsilon=1.5))
    ledger.spend("shop", "ann", pure(1.0), "q", answer())
    with pytest.raises(sd.BudgetError) as refused:
        ledger.spend("shop", "bob", pure(0.625), "q", answer())
    assert "the cap of data set 'shop' over all analysts does not allow it" in str(refused.value)
    for secret in ("0.5", "1.5", "ann"):
        assert secret not in str(refused.value)
    assert ledger.account("shop", "bob").spent == Amount()  # the own account was not charged either
    ledger.spend("shop", "bob", pure(0.5), "q", answer())
    ledger.verify()


def test_a_cap_counts_what_was_spent_before_it_was_set(ledger):
    ledger.spend("shop", "ann", pure(0.75), "q", answer())
    assert ledger.set_cap("shop", Limit.of(epsilon=1)).spent.loss == Fraction(3, 4)
    with pytest.raises(sd.BudgetError, match="cap"):
        ledger.reserve("shop", "ann", pure(0.25, 1e-9), question="r")  # the cap has no delta


def test_an_analyst_without_a_grant_is_told_what_the_owner_should_do(ledger):
    for dataset in ("shop", "nowhere"):
        with pytest.raises(sd.BudgetError, match="the owner grants one with 'sordino ledger grant"):
            ledger.spend(dataset, "eve", pure(0.1), "q", answer())
    with pytest.raises(sd.ParameterError, match="analyst must be a printable name"):
        ledger.reserve("shop", "", pure(0.1), question="the cap is nobody's account")


def test_distances_are_not_mixed(ledger):
    ledger.spend("shop", "ann", pure(0.1), "q", answer())
    before = ledger.history()
    for other in (sd.replace_row(), sd.Distance("row", "add_remove", (("orders", 2.0),))):
        with pytest.raises(sd.ParameterError, match="counted per one row added or removed"):
            ledger.spend("shop", "ann", pure(0.1, distance=other), "r", answer())
    assert ledger.history() == before
    ledger.spend(
        "shop", "ann", pure(0.1, distance=sd.Distance("row", "add_remove", (("orders", 1.0),))), "r", answer()
    )


def test_a_grant_may_fix_the_distance(ledger):
    ledger.grant("web", "ann", Limit.of(epsilon=1), distance=sd.replace_row())
    with pytest.raises(sd.ParameterError, match="counted per one row replaced"):
        ledger.reserve("web", "ann", pure(0.1), question="q")
    assert ledger.distance("web") == "one row replaced by another"


def test_an_error_of_the_producer_does_not_give_the_budget_back(ledger):
    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.spend("shop", "ann", pure(0.5), "q", broken)
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 2)
    assert ledger.stored("shop", "ann", "q") is None


def test_only_nothing_released_gives_the_budget_back(ledger):
    ledger.set_cap("shop", Limit.of(epsilon=1))

    def unreachable():
        raise NothingReleased("the database could not be reached")

    with pytest.raises(NothingReleased, match="could not be reached"):
        ledger.spend("shop", "ann", pure(0.5), "q", unreachable)
    assert ledger.account("shop", "ann").spent == ledger.cap("shop").spent == Amount()
    assert [event.kind for event in ledger.history()] == ["grant", "grant", "reserve", "refund"]
    ledger.verify()


def test_a_reservation_ends_once(ledger):
    committed = ledger.reserve("shop", "ann", pure(0.1), question="q")
    committed.commit({"value": 1})
    for end in (lambda: committed.commit({"value": 2}), committed.refund):
        with pytest.raises(sd.LedgerError, match="has ended with a commit"):
            end()
    refunded = ledger.reserve("shop", "ann", pure(0.1), question="r")
    refunded.refund()
    with pytest.raises(sd.LedgerError, match="has ended with a refund"):
        refunded.commit({"value": 1})
    ledger.verify()


def test_a_release_that_lost_more_than_reserved_is_not_stored(ledger):
    for claim in (
        {"epsilon": 0.2},
        {"epsilon": 0.1, "delta": 1e-9},
        {"rho": 0.001},
        {"distance": "one user"},
    ):
        with pytest.raises(sd.LedgerError, match="nothing was released"):
            ledger.spend("shop", "ann", pure(0.1), "q", lambda claim=claim: {"value": 1, "guarantee": claim})
        ledger.resume("shop", "ann")
    assert ledger.stored("shop", "ann", "q") is None


def test_a_release_of_the_library_is_stored_as_it_prints(ledger):
    release = sd.add_noise(10, 1, epsilon=0.5, noise="laplace", step=1)
    stored = ledger.spend("shop", "ann", release.guarantee, "q", release.to_dict)
    assert stored.content == release.to_dict()
    assert ledger.history()[1].guarantee == str(release.guarantee)


def test_what_is_not_plain_data_is_refused_without_being_shown(ledger):
    with pytest.raises(sd.ParameterError) as refused:
        ledger.spend("shop", "ann", pure(0.1), "q", lambda: {"value": {"secret-77"}})
    assert "77" not in str(refused.value)
    ledger.resume("shop", "ann")
    with pytest.raises(sd.LedgerError, match="must be a dict"):
        ledger.spend("shop", "ann", pure(0.1), "q", lambda: 5)


def test_a_grant_sets_and_does_not_add(ledger):
    ledger.spend("shop", "ann", pure(0.5), "q", answer())
    events = len(ledger.history())
    ledger.grant("shop", "ann", Limit.of(epsilon=1.0, delta=1e-6))
    assert len(ledger.history()) == events
    assert ledger.grant("shop", "ann", Limit.of(epsilon=2)).left.loss == Fraction(3, 2)
    assert ledger.grant("shop", "ann", Limit.of(epsilon=0.5)).left == Amount()


def test_a_limit_below_what_was_spent_leaves_nothing_and_takes_nothing_back(ledger):
    ledger.spend("shop", "ann", pure(0.5, 5e-7), "q", answer())
    for lower in (
        Limit.of(epsilon=0.4, delta=1e-6),
        Limit.of(epsilon=0.9),
    ):  # the second has too little delta
        account = ledger.grant("shop", "ann", lower)
        assert (account.left, account.spent.loss) == (Amount(), Fraction(1, 2))
        with pytest.raises(sd.BudgetError, match=r"epsilon 0(, delta 0)? is left"):
            ledger.reserve("shop", "ann", pure(1e-9), question="r")
        ledger.verify()
    assert ledger.grant("shop", "ann", Limit.of(epsilon=0.6, delta=1e-6)).left.loss == Fraction(1, 10)


def test_a_budget_without_a_delta_says_so(ledger):
    ledger.grant("shop", "bob", Limit.of(rho=0.1, at_delta=1e-6))
    ledger.grant("shop", "cyd", Limit.of(epsilon=1))
    for analyst, measure in (("bob", "rho"), ("cyd", "epsilon")):
        with pytest.raises(
            sd.BudgetError, match=f"no delta to spend, {measure} alone.*owner give one"
        ) as told:
            ledger.reserve("shop", analyst, pure(0.1, 1e-7), question="q")
        assert "left" not in str(told.value)
    ledger.grant("shop", "bob", Limit.of(rho=0.1, delta=1e-6, at_delta=1e-6))
    ledger.reserve("shop", "bob", pure(0.1, 1e-7), question="q")


def test_a_budget_in_rho_counts_squares_and_survives_a_change_of_measure(ledger):
    ledger.spend("shop", "ann", pure(0.2), "q", answer())
    account = ledger.grant("shop", "ann", Limit.of(rho=0.06, at_delta=1e-6))
    assert account.spent.loss == Fraction(2, 100)
    ledger.spend(
        "shop", "ann", sd.Guarantee(sd.Loss(rho=0.04), sd.add_remove_row(), "Gaussian"), "r", answer()
    )
    with pytest.raises(sd.BudgetError, match="rho 0 is left"):
        ledger.reserve("shop", "ann", pure(0.001), question="s")
    with pytest.raises(sd.UnsupportedError, match="cannot be counted in an account of"):
        ledger.grant("shop", "ann", Limit.of(epsilon=9))
    ledger.verify()


def test_a_guarantee_in_rho_does_not_pass_a_cap_in_epsilon(ledger):
    ledger.grant("shop", "bob", Limit.of(rho=1, at_delta=1e-6))
    ledger.set_cap("shop", Limit.of(epsilon=9))
    with pytest.raises(sd.UnsupportedError, match="cannot be counted"):
        ledger.reserve(
            "shop", "bob", sd.Guarantee(sd.Loss(rho=0.1), sd.add_remove_row(), "Gaussian"), question="q"
        )
    assert ledger.account("shop", "bob").spent == Amount()


def test_a_loss_may_be_given_as_a_fraction(ledger):
    ledger.spend("shop", "ann", pure(Fraction(1, 3)), "q", answer())
    assert Fraction(1, 3) < ledger.account("shop", "ann").spent.loss < Fraction(1, 3) + Fraction(1, 10**99)
    assert ledger.history()[1].epsilon == "1/3"
    ledger.verify()


def test_history_is_the_owners_whole_record(ledger):
    ledger.spend(
        "shop",
        "ann",
        pure(0.5),
        "q",
        answer(3),
        mechanism="laplace",
        parameters={"beta": 0.1},
        scope="orders",
    )
    grant, reserve, commit = ledger.history("shop", "ann")
    assert (grant.kind, grant.epsilon, grant.delta) == ("grant", "1", "1/1000000")
    assert (reserve.mechanism, reserve.parameters, reserve.scope) == ("laplace", {"beta": 0.1}, "orders")
    assert (reserve.epsilon, reserve.distance) == ("1/2", "one row added or removed")
    assert (commit.reservation, commit.release) == (reserve.number, {"value": 3})
    assert "release" not in reserve.to_dict()
    assert ledger.history("web") == []


def test_a_key_is_the_same_for_the_same_question():
    one = write_question_key("SELECT 1", epsilon=1, grid=(0.5, 2))
    assert one == write_question_key("SELECT 1", grid=[0.5, 2.0], epsilon=1.0)
    assert (
        len(
            {
                one,
                write_question_key("SELECT 1", epsilon=2),
                write_question_key("SELECT 1", version="may", epsilon=1),
            }
        )
        == 3
    )
    assert write_question_key("q", flag=True) != write_question_key("q", flag=1)
    assert write_question_key("q", text="1") != write_question_key("q", text=1)
    with pytest.raises(sd.ParameterError):
        write_question_key("q", odd=object())


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201, None])
def test_names_are_printable(ledger, name):
    with pytest.raises(sd.ParameterError, match="printable name"):
        ledger.grant("shop", name, Limit.of(epsilon=1))


def test_threads_share_a_ledger_in_memory_and_never_overspend():
    with Ledger.in_memory() as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=2))
        given, refused = [], []

        def ask(me):
            for turn in range(5):
                try:
                    given.append(ledger.spend("shop", "ann", pure(0.1), f"{me}/{turn}", answer(me)))
                except sd.BudgetError:
                    refused.append(me)

        threads = [threading.Thread(target=ask, args=(me,)) for me in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(given), len(refused)) == (20, 20)
        ledger.verify()


def in_a_fork(action):
    """The exit code of a forked child that runs ``action``: 0 if it returned true."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = 0 if action() else 1
        finally:
            os._exit(code)
    signal.alarm(20)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(0)
    return code


def test_a_fork_uses_a_connection_of_its_own(ledger):
    ledger.spend("shop", "ann", pure(0.5), "q", answer())
    assert (
        in_a_fork(lambda: ledger.spend("shop", "ann", pure(0.25), "r", answer()).content["value"] == 42) == 0
    )
    assert ledger.account("shop", "ann").spent.loss == Fraction(3, 4)
    ledger.spend("shop", "ann", pure(0.25), "s", answer())
    ledger.verify()


def test_a_ledger_in_memory_is_refused_in_a_fork():
    """Each process would spend the whole budget."""
    with Ledger.in_memory() as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1))

        def refused():
            with pytest.raises(sd.LedgerError, match="stays in the process that made it"):
                ledger.spend("shop", "ann", pure(0.1), "q", answer())
            return True

        assert in_a_fork(refused) == 0
        with pytest.raises(sd.LedgerError, match="stays in the process"):
            pickle.dumps(ledger)


def test_a_pickled_ledger_opens_the_same_file(ledger):
    with pickle.loads(pickle.dumps(ledger)) as other:
        other.spend("shop", "ann", pure(0.5), "q", answer())
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 2)
