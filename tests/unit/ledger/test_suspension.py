"""A question that ends without a release after it was paid for closes its account until the owner acts."""

from __future__ import annotations

import os
import signal
import threading
from fractions import Fraction

import pytest

import sordino as sd
from sordino.ledger import GaussianPart, Ledger, Limit, NothingReleased, compose_batch
from sordino.ledger import alive as alive_module
from sordino.ledger.suspension import SUSPENSION_NOTICE
from tests.unit.ledger.conftest import pure
from tests.unit.ledger.old_formats import write_old
from tests.unit.ledger.under_way import await_the_dead, count_held

FAILURES = [
    sd.EngineError("no", "row 7"),
    OverflowError("row 7"),
    MemoryError(),
    sd.ParameterError("an error of the library's own"),
    KeyboardInterrupt(),
    SystemExit(1),
    GeneratorExit(),
]


def answer():
    return {"value": 42}


def failing(error):
    def produce():
        raise error

    return produce


def fail(ledger, analyst="ann", epsilon=0.1):
    with pytest.raises(ZeroDivisionError):
        ledger.spend("shop", analyst, pure(epsilon), "failed", failing(ZeroDivisionError()))


def kinds(ledger, analyst="ann"):
    return [event.kind for event in ledger.history("shop", analyst)]


def refusals(ledger, analyst="ann"):
    """What every way of asking says; nothing is drawn, paid or written."""
    before = ledger.history(), ledger.accounts()
    told = set()
    for ask in (
        lambda: ledger.reserve("shop", analyst, pure(0.1), question="q"),
        lambda: ledger.spend("shop", analyst, pure(0.1), "q", lambda: pytest.fail("drawn")),
        lambda: ledger.spend("shop", analyst, pure(0.1), "known", lambda: pytest.fail("drawn"), reuse=True),
        lambda: ledger.spend("shop", analyst, pure(99), "too much", lambda: pytest.fail("drawn")),
        lambda: ledger.refuse_suspended("shop", analyst),
    ):
        with pytest.raises(sd.SuspendedError) as refused:
            ask()
        told.add((str(refused.value), refused.value.__cause__))
    assert (ledger.history(), ledger.accounts()) == before
    return told


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_whatever_ends_a_question_without_a_release_suspends_before_it_is_told(ledger, path, error):
    ledger.spend("shop", "ann", pure(0.1), "known", answer)
    seen = []

    def ask():
        try:
            ledger.spend("shop", "ann", pure(0.25), "q", failing(error))
        finally:  # the error is on its way
            with Ledger.open(path) as other:
                seen.append((kinds(other)[-2:], other.account("shop", "ann").suspended))

    with pytest.raises(type(error)) as told:
        ask()
    assert told.value is error
    assert seen == [(["reserve", "suspend"], True)]
    assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}
    event = ledger.history()[-1]
    assert (event.scope, event.reservation, event.release) == ("failure", event.number - 1, None)
    assert ledger.account("shop", "ann").spent.loss == Fraction(35, 100)
    ledger.verify()


def test_the_sentence_names_nobody_and_no_cause():
    assert not {"ann", "shop", "row 7", "crash"} & set(SUSPENSION_NOTICE.split())
    assert issubclass(sd.SuspendedError, sd.BudgetError)


def test_a_suspension_outlives_the_process_and_every_limit(ledger, path):
    fail(ledger)
    ledger.close()
    with Ledger.open(path) as again:
        again.grant("shop", "ann", Limit.of(epsilon=9))
        again.declare("shop", {"ann": Limit.of(epsilon=8)}, distance=sd.add_remove_row())
        again.declare("shop", {}, distance=sd.add_remove_row())
        again.declare("shop", {"ann": Limit.of(epsilon=7)}, distance=sd.add_remove_row())
        assert refusals(again) == {(SUSPENSION_NOTICE, None)}
        again.verify()


def test_only_the_account_that_failed_is_suspended(ledger):
    for name, dataset in (("bob", "shop"), ("ann", "web")):
        ledger.grant(dataset, name, Limit.of(epsilon=1))
    ledger.set_cap("shop", Limit.of(epsilon=2))
    fail(ledger)
    ledger.spend("shop", "bob", pure(0.1), "q", answer)
    ledger.spend("web", "ann", pure(0.1), "q", answer)
    suspended = {(account.dataset, account.analyst): account.suspended for account in ledger.accounts()}
    assert suspended == {
        ("shop", None): False,
        ("shop", "ann"): True,
        ("shop", "bob"): False,
        ("web", "ann"): False,
    }


def test_the_owner_resumes_and_the_record_keeps_both(ledger):
    fail(ledger)
    account = ledger.resume("shop", "ann")
    assert not account.suspended
    assert account.spent.loss == Fraction(1, 10)  # what failed stays paid
    assert kinds(ledger) == ["grant", "reserve", "suspend", "resume"]
    ledger.spend("shop", "ann", pure(0.1), "q", answer)
    fail(ledger)
    assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}
    ledger.verify()


def test_resuming_an_open_account_changes_nothing_and_an_unknown_one_is_a_slip(ledger):
    before = ledger.history()
    assert ledger.resume("shop", "ann") == ledger.account("shop", "ann")
    assert ledger.history() == before
    for dataset, analyst in (("shop", "eve"), ("web", "ann")):
        with pytest.raises(sd.ParameterError, match="no account of"):
            ledger.resume(dataset, analyst)
    with pytest.raises(sd.ParameterError, match="printable name"):
        ledger.resume("shop", "")  # the cap is nobody's account and never suspended


def test_an_account_says_that_it_is_suspended(ledger):
    assert ledger.account("shop", "ann").to_dict()["suspended"] is False
    fail(ledger)
    account = ledger.account("shop", "ann")
    assert account.to_dict()["suspended"] is True
    assert str(account).startswith("suspended until the owner resumes it; epsilon 0.9")


def test_a_question_that_gives_its_budget_back_suspends_nobody(ledger):
    with pytest.raises(NothingReleased):
        ledger.spend("shop", "ann", pure(0.5), "q", failing(NothingReleased("unreachable")))
    assert not ledger.account("shop", "ann").suspended
    ledger.spend("shop", "ann", pure(1.0), "q", answer)


def test_an_error_after_the_commit_is_no_failure(ledger):
    reservation = ledger.reserve("shop", "ann", pure(0.5), question="q")
    reservation.commit({"value": 1})
    with pytest.raises(KeyError), reservation:
        raise KeyError
    assert not ledger.account("shop", "ann").suspended


def test_leaving_without_a_release_is_a_failure_too(ledger):
    with ledger.reserve("shop", "ann", pure(0.5), question="q"):
        pass
    assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}


@pytest.mark.parametrize(
    "release", [{"value": {1}}, 5, {"value": 1, "guarantee": {"epsilon": 9.0}}], ids=["set", "number", "more"]
)
def test_a_release_that_cannot_be_stored_is_a_failure_too(ledger, release):
    with pytest.raises(sd.SordinoError):
        ledger.spend("shop", "ann", pure(0.1), "q", lambda: release)
    assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}


def test_a_batch_that_fails_suspends_like_a_question(ledger):
    ledger.grant("shop", "ann", Limit.of(epsilon=9, delta=1e-4))
    parts = [GaussianPart(sd.add_remove_row(), 20.0)] * 3
    joint = compose_batch(parts, delta=1e-6)
    with pytest.raises(ZeroDivisionError):
        ledger.spend("shop", "ann", joint, "three", failing(ZeroDivisionError()))
    assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}
    assert ledger.account("shop", "ann").spent.loss == Fraction(repr(joint.epsilon))


# --- questions of one account at the same time


def under_way(ledger, number):
    return [ledger.reserve("shop", "ann", pure(0.01), question=f"open {turn}") for turn in range(number)]


def outcome(reservation, error=None):
    """What the analyst of a question under way sees: a value, or the text of an error."""
    try:
        with reservation:
            if error is not None:
                raise error
            reservation.commit({"value": 1})
        return "value"
    except Exception as told:
        return f"{type(told).__name__}: {told}"


def test_after_a_failure_what_is_under_way_ends_alike_whether_it_would_fail_or_answer(ledger):
    """Else as many questions as are asked at once would tell one bit each."""
    first, *others = under_way(ledger, 9)
    assert outcome(first, OverflowError("first")) == "OverflowError: first"
    told = {outcome(other, None if turn % 2 else OverflowError("x")) for turn, other in enumerate(others)}
    assert told == {f"SuspendedError: {SUSPENSION_NOTICE}"}
    assert not [event for event in ledger.history() if event.kind == "commit"]
    assert {event.scope for event in ledger.history() if event.kind == "suspend"} == {"failure", "withheld"}
    ledger.resume("shop", "ann")
    for turn in range(9):  # and afterwards none of them has an answer that could be asked for again
        assert ledger.stored("shop", "ann", f"open {turn}") is None
    ledger.verify()


def test_an_interrupt_of_what_is_withheld_is_still_an_interrupt(ledger):
    first, second = under_way(ledger, 2)
    outcome(first, OverflowError())
    with pytest.raises(KeyboardInterrupt), second:
        raise KeyboardInterrupt
    ledger.verify()


def test_what_ended_before_the_failure_and_what_ends_after_the_owners_act_is_answered(ledger):
    before, failed, after = under_way(ledger, 3)
    assert outcome(before) == "value"
    outcome(failed, OverflowError())
    ledger.resume("shop", "ann")
    assert outcome(after) == "value"
    ledger.verify()


def test_a_refund_of_what_is_under_way_is_a_refund(ledger):
    failed, unreachable = under_way(ledger, 2)
    outcome(failed, OverflowError())
    unreachable.refund()
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 100)
    ledger.verify()


def test_threads_that_fail_together_tell_of_one_failure(ledger):
    ready, told = threading.Barrier(8), []

    def ask(turn):
        def produce():
            ready.wait()
            raise OverflowError("mine")

        try:
            ledger.spend("shop", "ann", pure(0.01), f"q{turn}", produce)
        except Exception as error:
            told.append(str(error))

    threads = [threading.Thread(target=ask, args=(turn,)) for turn in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == sorted(["mine"] + [SUSPENSION_NOTICE] * 7)
    ledger.verify()


# --- those who died


def test_who_goes_without_a_word_has_failed(ledger, path):
    with Ledger.open(path) as gone:
        gone.reserve("shop", "ann", pure(0.25), question="q")
        assert count_held(path) == 1
        assert not ledger.account("shop", "ann").suspended  # somebody works on it
        ledger.spend("shop", "ann", pure(0.1), "known", answer)
    assert ledger.account("shop", "ann").suspended
    with Ledger.open(path, write=False) as reader:
        assert [account.suspended for account in reader.accounts()] == [True]
        reader.verify()
    assert "suspend" not in kinds(ledger)  # looking writes nothing
    with pytest.raises(sd.SuspendedError, match="is suspended"):
        ledger.spend("shop", "ann", pure(0.1), "q", lambda: pytest.fail("drawn"))
    assert [(e.kind, e.scope) for e in ledger.history()][-1] == ("suspend", "crash")
    assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}
    assert count_held(path) == 0
    ledger.verify()


def test_a_death_withholds_what_is_under_way(ledger, path):
    mine = ledger.reserve("shop", "ann", pure(0.1), question="mine")
    with Ledger.open(path) as gone:
        gone.reserve("shop", "ann", pure(0.1), question="q")
    assert outcome(mine) == f"SuspendedError: {SUSPENSION_NOTICE}"
    assert [(e.kind, e.scope) for e in ledger.history()][-2:] == [
        ("suspend", "crash"),
        ("suspend", "withheld"),
    ]


def test_the_owner_may_resume_what_nobody_has_noticed_yet(ledger, path):
    with Ledger.open(path) as gone:
        late = gone.reserve("shop", "ann", pure(0.1), question="q")
    assert not ledger.resume("shop", "ann").suspended
    assert kinds(ledger)[-2:] == ["suspend", "resume"]
    ledger.spend("shop", "ann", pure(0.1), "q", answer)
    with pytest.raises(sd.LedgerError, match="ended with a suspend"):
        ledger._commit(late, {"value": 1})
    ledger.verify()


def in_a_child(action):
    """Run in a forked child that is then killed; what it wrote to a pipe."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(action()).encode())
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.close(write)
    signal.alarm(20)
    os.waitpid(child, 0)
    signal.alarm(0)
    with os.fdopen(read) as pipe:
        return pipe.read()


def test_a_killed_process_has_failed_and_a_living_one_has_not(ledger, path):
    mine = ledger.reserve("shop", "ann", pure(0.1), question="mine")
    # The child sees that its parent lives, asks, and is killed with its question under way.
    assert in_a_child(lambda: ledger.reserve("shop", "ann", pure(0.2), question="its").analyst) == "ann"
    await_the_dead(path)
    assert ledger.account("shop", "ann").suspended
    assert outcome(mine) == f"SuspendedError: {SUSPENSION_NOTICE}"
    ledger.resume("shop", "ann")
    assert outcome(ledger.reserve("shop", "ann", pure(0.1), question="again")) == "value"


def test_a_child_does_not_keep_its_dead_parents_question_alive(ledger, path):
    """The lock is inherited by a fork; the child gives it up."""

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        ledger.reserve("shop", "ann", pure(0.2), question="its")
        grandchild = os.fork()
        if grandchild == 0:
            signal.alarm(20)
            signal.pause()
        os.write(write, str(grandchild).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        grandchild = int(os.read(pipe.fileno(), 20))
    await_the_dead(path)
    try:
        assert ledger.account("shop", "ann").suspended
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_questions_that_end_well_leave_no_locks(ledger, path):
    ledger.spend("shop", "ann", pure(0.1), "q", answer)
    ledger.reserve("shop", "ann", pure(0.1), question="r").refund()
    fail(ledger)
    ledger.resume("shop", "ann")
    with pytest.raises(sd.BudgetError):
        ledger.reserve("shop", "ann", pure(5.0), question="too much")
    assert count_held(path) == 0


def test_opening_removes_what_tells_nothing_and_leaves_what_is_held_or_named(ledger, path):
    mine = ledger.reserve("shop", "ann", pure(0.1), question="mine")
    orphan = path.with_name(f"{path.name}-open-orphan")
    orphan.touch()
    other = path.with_name("other.ledger-open-1")
    other.touch()
    Ledger.open(path).close()
    assert not orphan.exists()
    assert other.exists()
    assert count_held(path) == 2
    assert outcome(mine) == "value"


def test_a_link_leads_to_the_same_questions(ledger, path, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.ledger"
    link.symlink_to(path)
    mine = ledger.reserve("shop", "ann", pure(0.1), question="mine")
    with Ledger.open(link) as linked:
        assert not linked.account("shop", "ann").suspended
        theirs = linked.reserve("shop", "ann", pure(0.1), question="theirs")
        assert outcome(mine) == "value"
        assert outcome(theirs) == "value"


def test_where_there_are_no_locks_what_others_have_open_counts_as_failed(ledger, path, monkeypatch):
    """In doubt an account is closed, not open."""
    monkeypatch.setattr(alive_module, "flock", None)
    mine = ledger.reserve("shop", "ann", pure(0.1), question="mine")
    assert not ledger.account("shop", "ann").suspended
    with Ledger.open(path) as other:
        assert other.account("shop", "ann").suspended
    assert outcome(mine) == "value"
    with Ledger.open(path) as other:
        other.spend("shop", "ann", pure(0.1), "q", answer)


def test_a_folder_without_locks_releases_nothing(ledger, monkeypatch):
    def refused(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(alive_module.flock, "flock", refused)
    with pytest.raises(sd.LedgerError, match="does not take locked files"):
        ledger.reserve("shop", "ann", pure(0.1), question="q")
    monkeypatch.undo()
    assert ledger.account("shop", "ann").spent.loss == 0
    ledger.verify()


def test_a_ledger_in_memory_suspends_too():
    with Ledger.in_memory() as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1))
        first, second = under_way(ledger, 2)
        outcome(first, OverflowError())
        assert outcome(second) == f"SuspendedError: {SUSPENSION_NOTICE}"
        assert refusals(ledger) == {(SUSPENSION_NOTICE, None)}
        ledger.resume("shop", "ann")
        ledger.spend("shop", "ann", pure(0.1), "q", answer)
        ledger.verify()


def test_a_failure_that_cannot_be_written_down_counts_as_a_death(ledger):
    """The account is closed all the same, in this process too."""
    ledger._reached = lambda point: (_ for _ in ()).throw(OSError("full")) if "suspend" in point else None
    with pytest.raises(OSError, match="full"):
        ledger.spend("shop", "ann", pure(0.1), "q", failing(OverflowError()))
    assert "suspend" not in kinds(ledger)
    assert ledger.account("shop", "ann").suspended
    del ledger._reached
    with pytest.raises(sd.SuspendedError, match="is suspended"):
        ledger.reserve("shop", "ann", pure(0.1), question="r")
    assert kinds(ledger)[-1] == "suspend"
    ledger.verify()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_question_that_an_older_format_left_without_an_end_has_failed(path, version):
    write_old(path, version, unended=True)
    with Ledger.open(path, write=False) as reader:
        assert {a.analyst: a.suspended for a in reader.accounts()} == {
            "ann": False,
            "bob": False,
            "zoe": True,
        }
        reader.verify()
    with Ledger.open(path) as ledger:
        ledger.verify()
        ledger.spend("shop", "bob", pure(0.1), "q", answer)
        assert refusals_of_zoe(ledger) == SUSPENSION_NOTICE
        ledger.resume("shop", "zoe")
        ledger.spend("shop", "zoe", pure(0.1), "q", answer)
        ledger.verify()


def refusals_of_zoe(ledger):
    with pytest.raises(sd.SuspendedError) as refused:
        ledger.spend("shop", "zoe", pure(0.1), "q", answer)
    return str(refused.value)
