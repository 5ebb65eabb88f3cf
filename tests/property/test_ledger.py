"""Whatever is asked, failed, killed, resumed or declared, in whatever order: spent = events, paid within limits, and a
failure closes its account for everybody until the owner acts."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import sordino as sd
from sordino.ledger import TABLE_KINDS, Amount, Ledger, Limit
from tests.unit.ledger.under_way import count_held

pytestmark = pytest.mark.slow

ANALYSTS = ("ann", "bob")
LIMITS = st.integers(10, 90).map(lambda tenths: tenths / 10)
TENTHS = st.integers(1, 6).map(lambda tenths: tenths / 10)
DELTAS = st.sampled_from([0.0, 0.0, 1e-7, 3e-7])
NOT_PAID = ("reserving", "reserve written")
POINTS = (*NOT_PAID, "reserved", "produced", "commit written", "committed", None, None, None, None)
MEMORY = Path("/dev/shm")  # a disk would have to keep every step, which takes most of the time
PROCESSES = st.sampled_from([0, 1])


class Crash(BaseException):
    """Ends an operation where an interrupt would; no handler of the library's errors sees it."""


class Crashing(Ledger):
    point: str | None = None
    killed = False

    def _reached(self, point):
        if point == self.point:
            raise Crash

    def _fail(self, reservation):
        return True if self.killed else super()._fail(reservation)  # the dead write nothing


def cost(measure, epsilon, delta):
    """Written from the definitions, in exact arithmetic."""
    epsilon, delta = Fraction(repr(epsilon)), Fraction(repr(delta))
    return Amount(epsilon if measure == "epsilon" else epsilon * epsilon / 2, delta)


def limit_of(loss, measure, delta):
    return Limit.of(**{measure: loss, "delta": delta}, at_delta=1e-6 if measure == "rho" else None)


class LedgerMachine(RuleBasedStateMachine):
    """A model in plain Python beside two processes that have one ledger's file open, and die and come again."""

    def __init__(self):
        super().__init__()
        self.path = self.make_place()
        self.books = [Crashing.open(self.path), Crashing.open(self.path)]
        self.limits: dict[str, Limit] = {}
        self.declared: dict[str, Limit] = {}
        self.tables: dict[str, str] = {}
        self.asked = self.answered = False
        self.paid: dict[str, list[tuple[float, float]]] = {analyst: [] for analyst in ANALYSTS}
        self.suspended: set[str] = set()
        self.waiting = []
        self.seen: list[tuple[str, int]] = []
        self.turn = 0

    def teardown(self):
        for book in self.books:
            book.close()
        self.remove_place()

    def make_place(self):
        """Where a ledger can be made; `tests/backends` has a server's database."""
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        return Path(self.folder.name) / "shop.ledger"

    def remove_place(self):
        self.folder.cleanup()

    def spent(self, who):
        measure = self.limits[who].measure
        losses = [loss for analyst in ANALYSTS if who in (analyst, "cap") for loss in self.paid[analyst]]
        return sum((cost(measure, *loss) for loss in losses), Amount())

    def affordable(self, analyst, loss):
        """Whether the model would pay: the account and the cap."""
        if analyst not in self.limits or self.limits[analyst].amount == Amount():
            return False
        return all(
            (self.spent(who) + cost(self.limits[who].measure, *loss)).within(self.limits[who].amount)
            for who in (analyst, "cap")
            if who in self.limits
        )

    def expected(self, analyst, loss):
        if analyst in self.suspended:
            return sd.SuspendedError
        return None if self.affordable(analyst, loss) else sd.BudgetError

    # -- the owner

    @initialize(epsilon=LIMITS)
    def first_grants(self, epsilon):
        for analyst in ANALYSTS:
            self.grant(analyst, epsilon, "epsilon", 1e-6)

    @rule(
        who=st.sampled_from([*ANALYSTS, "cap"]),
        loss=LIMITS,
        measure=st.sampled_from(["epsilon", "rho"]),
        delta=DELTAS,
    )
    def grant(self, who, loss, measure, delta):
        self.limits[who] = limit = limit_of(loss, measure, delta)
        if who == "cap":
            self.books[0].set_cap("shop", limit)
        else:
            self.books[0].grant("shop", who, limit)

    @rule(who=st.sampled_from(ANALYSTS), process=PROCESSES)
    def revoke(self, who, process):
        self.limits[who] = replace(self.limits[who], amount=Amount())
        account = self.books[process].revoke("shop", who)
        assert (account.withdrawn, account.left, account.spent) == (True, Amount(), self.spent(who))

    @rule(
        policy=st.dictionaries(
            st.sampled_from([*ANALYSTS, "cap"]), st.builds(limit_of, LIMITS, st.just("epsilon"), DELTAS)
        ),
        tables=st.dictionaries(st.sampled_from(["orders", "places"]), st.sampled_from(TABLE_KINDS)),
        process=PROCESSES,
    )
    def declare(self, policy, tables, process):
        budgets = {who: limit for who, limit in policy.items() if who != "cap"}
        changed = any(self.tables.get(name, kind) != kind for name, kind in tables.items())
        try:
            self.books[process].declare(
                "shop", budgets, cap=policy.get("cap"), distance=sd.add_remove_row(), tables=tables
            )
        except sd.ParameterError:
            assert changed
            assert self.answered
            return
        assert not (changed and self.answered)
        self.tables |= tables
        for who in self.declared.keys() - policy.keys() - {"cap"}:
            self.limits[who] = replace(self.limits[who], amount=Amount())
        for who, limit in policy.items():
            if self.declared.get(who) != limit:
                present = self.limits.get(who)
                smaller = present is not None and (
                    present.amount == Amount()
                    or (present.measure == limit.measure and present.amount.within(limit.amount))
                )
                self.limits[who] = present if smaller and not self.asked else limit
        self.declared = policy
        self.asked = True

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), kind=st.sampled_from(TABLE_KINDS))
    def redeclare(self, data, kind):
        table = data.draw(st.sampled_from(sorted(self.tables)))
        self.books[1].redeclare("shop", table.upper(), kind)
        self.tables[table] = kind

    @precondition(lambda self: self.suspended)
    @rule(analyst=st.sampled_from(ANALYSTS), process=PROCESSES)
    def resume(self, analyst, process):
        assert not self.books[process].resume("shop", analyst).suspended
        self.suspended.discard(analyst)

    # -- analysts

    @rule(
        analyst=st.sampled_from(ANALYSTS),
        epsilon=TENTHS,
        delta=DELTAS,
        processes=st.lists(PROCESSES, min_size=1, max_size=3),
    )
    def reserve_some(self, analyst, epsilon, delta, processes):
        for process in processes:
            self.reserve(analyst, epsilon, delta, process)

    def reserve(self, analyst, epsilon, delta, process):
        self.turn += 1
        loss, told = (epsilon, delta), None
        expected = self.expected(analyst, loss)
        try:
            reservation = self.books[process].reserve(
                "shop", analyst, self.guarantee(*loss), question=f"q{self.turn}"
            )
            self.waiting.append((process, reservation, loss))
        except sd.BudgetError as refused:
            told = type(refused)
        assert told is expected
        if told is None:
            self.asked = self.answered = True
            self.paid[analyst].append(loss)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), how=st.sampled_from(["commit", "refund", "fail", "fail", "interrupt"]))
    def end(self, data, how):
        _, reservation, loss = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        analyst, closed, told = reservation.analyst, reservation.analyst in self.suspended, None
        try:
            with reservation:
                if how == "commit":
                    stored = reservation.commit({"value": reservation.number})
                    self.seen.append((analyst, stored.content["value"]))
                elif how == "refund":
                    reservation.refund()
                    self.paid[analyst].remove(loss)
                else:
                    raise ZeroDivisionError if how == "fail" else Crash
        except (Exception, Crash) as error:
            told = type(error)
        expected = {
            "commit": sd.SuspendedError if closed else None,
            "refund": None,
            "fail": sd.SuspendedError if closed else ZeroDivisionError,
            "interrupt": Crash,
        }
        assert told is expected[how]
        if how in ("fail", "interrupt"):
            self.suspended.add(analyst)

    @rule(
        analyst=st.sampled_from(ANALYSTS),
        epsilon=TENTHS,
        point=st.sampled_from(POINTS),
        killed=st.booleans(),
        process=PROCESSES,
    )
    def ask(self, analyst, epsilon, point, killed, process):
        self.turn += 1
        book, told = self.books[process], None
        book.point, book.killed = point, killed
        expected = self.expected(analyst, (epsilon, 0.0))
        value = 1000 * self.turn
        try:
            stored = book.spend(
                "shop", analyst, self.guarantee(epsilon, 0.0), f"q{self.turn}", lambda: {"value": value}
            )
            self.seen.append((analyst, stored.content["value"]))
        except (sd.BudgetError, Crash) as error:
            told = type(error)
        if expected is sd.SuspendedError:  # refused before anything else
            assert told is expected
        elif point == "reserving":
            assert told is Crash
        else:
            assert told is (expected or (Crash if point else None))
        if expected is None and point not in NOT_PAID:
            self.asked = self.answered = True
            self.paid[analyst].append((epsilon, 0.0))
            if point not in ("committed", None):
                self.suspended.add(analyst)
        book.point = None
        if killed and told is Crash:
            self.die(process)
        book.killed = False

    @rule(process=PROCESSES)
    def die(self, process):
        """All that the process had under way has failed; another comes in its place."""
        self.books[process].close()
        self.books[process] = Crashing.open(self.path)
        self.suspended |= {r.analyst for owner, r, _ in self.waiting if owner == process}
        self.waiting = [item for item in self.waiting if item[0] != process]

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def forge(self, data):
        _, reservation, (epsilon, delta) = data.draw(st.sampled_from(self.waiting))
        for change in (
            {"analyst": "bob" if reservation.analyst == "ann" else "ann"},
            {"guarantee": self.guarantee(epsilon + 1, delta)},
            {"number": 10**6},
            {"dataset": "web"},
        ):
            forged = replace(reservation, **change)
            for act in (
                forged.refund,
                lambda f=forged: f.commit({"value": 1}),
                lambda f=forged: f.ledger._fail(f),
            ):
                try:
                    act()
                    raise AssertionError("a forged reservation was accepted")
                except sd.LedgerError:
                    pass

    @staticmethod
    def guarantee(epsilon, delta):
        return sd.Guarantee(sd.Loss(epsilon=epsilon, delta=delta), sd.add_remove_row(), "some mechanism")

    @invariant()
    def sums_are_those_of_the_events_and_nothing_is_left_where_they_exceed_the_limit(self):
        for book in self.books:
            book.verify()
            assert book.tables("shop") == self.tables
            for account in book.accounts():
                who = account.analyst or "cap"
                assert account.limit == self.limits[who]
                assert account.spent == self.spent(who)
                assert account.suspended == (who in self.suspended)
                rest = account.limit.amount - account.spent
                assert account.left == (rest if min(rest.loss, rest.delta) >= 0 else Amount())

    @invariant()
    def whatever_was_seen_is_stored(self):
        events = self.books[0].history()
        stored = {(event.analyst, event.release["value"]) for event in events if event.kind == "commit"}
        assert set(self.seen) <= stored

    @invariant()
    def between_two_acts_of_the_owner_nothing_is_released_after_a_failure(self):
        """Read from the record alone: while an account is suspended it has no commit and pays for nothing."""
        closed: dict[str | None, bool] = {}
        for event in self.books[0].history():
            if event.kind in ("suspend", "resume"):
                closed[event.analyst] = event.kind == "suspend"
            if event.kind in ("reserve", "commit"):
                assert not closed.get(event.analyst)

    @invariant()
    def as_many_locks_as_questions_under_way(self):
        assert count_held(self.path) == len(self.waiting)


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


@given(st.lists(st.floats(1e-6, 0.3), max_size=30), st.floats(0.1, 2))
@settings(max_examples=40, deadline=None)
def test_the_accepted_questions_are_exactly_those_that_fit_in_order(losses, limit):
    with Ledger.in_memory() as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=limit))
        room = Fraction(repr(limit))
        for turn, loss in enumerate(losses):
            guarantee = sd.Guarantee(sd.Loss(epsilon=loss), sd.add_remove_row(), "t")
            fits = Fraction(repr(loss)) <= room
            try:
                ledger.reserve("shop", "ann", guarantee, question=f"q{turn}")
                assert fits
                room -= Fraction(repr(loss))
            except sd.BudgetError:
                assert not fits
        assert ledger.account("shop", "ann").left.loss == room
