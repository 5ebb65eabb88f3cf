"""Whatever is granted, asked, committed, refunded or crashed, in whatever order: spent = events, paid within limits."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import sordino as sd
from sordino.ledger import Amount, Ledger, Limit

ANALYSTS = ("ann", "bob", "eve")
TENTHS = st.integers(1, 12).map(lambda tenths: tenths / 10)
DELTAS = st.sampled_from([0.0, 1e-7, 3e-7])


class Crash(BaseException):
    """Ends an operation where a process would have died; no handler of the library's errors sees it."""


class Crashing(Ledger):
    point: str | None = None

    def _reached(self, point):
        if point == self.point:
            raise Crash


def cost(measure, epsilon, delta):
    """Written from the definitions, in exact arithmetic."""
    epsilon, delta = Fraction(repr(epsilon)), Fraction(repr(delta))
    return Amount(epsilon if measure == "epsilon" else epsilon * epsilon / 2, delta)


def limit_of(loss, measure, delta):
    return Limit.of(**{measure: loss, "delta": delta}, at_delta=1e-6 if measure == "rho" else None)


class LedgerMachine(RuleBasedStateMachine):
    """A model in plain Python beside the ledger in its file; a crash closes the file and opens it again."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "shop.ledger"
        self.ledger = Crashing.open(self.path)
        self.limits: dict[str, Limit] = {}
        self.declared: dict[str, Limit] = {}
        self.asked = False
        self.paid: dict[str, list[tuple[float, float]]] = {analyst: [] for analyst in ANALYSTS}
        self.waiting = []
        self.seen: list[tuple[str, str, int]] = []
        self.turn = 0

    def teardown(self):
        self.ledger.close()
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

    @initialize(epsilon=TENTHS)
    def first_grant(self, epsilon):
        self.grant("ann", epsilon, "epsilon", 1e-6)

    @rule(
        who=st.sampled_from([*ANALYSTS, "cap"]),
        loss=TENTHS,
        measure=st.sampled_from(["epsilon", "rho"]),
        delta=DELTAS,
    )
    def grant(self, who, loss, measure, delta):
        self.limits[who] = limit = limit_of(loss, measure, delta)
        if who == "cap":
            self.ledger.set_cap("shop", limit)
        else:
            self.ledger.grant("shop", who, limit)

    @rule(
        policy=st.dictionaries(
            st.sampled_from([*ANALYSTS, "cap"]), st.builds(limit_of, TENTHS, st.just("epsilon"), DELTAS)
        )
    )
    def declare(self, policy):
        budgets = {who: limit for who, limit in policy.items() if who != "cap"}
        self.ledger.declare("shop", budgets, cap=policy.get("cap"), distance=sd.add_remove_row())
        for who in self.declared.keys() - policy.keys() - {"cap"}:
            self.limits[who] = replace(self.limits[who], amount=Amount())
        for who, limit in policy.items():
            if self.declared.get(who) != limit:
                present = self.limits.get(who)
                smaller = (
                    present is not None
                    and present.measure == limit.measure
                    and present.amount.within(limit.amount)
                )
                self.limits[who] = present if smaller and not self.asked else limit
        self.declared = policy
        self.asked = True

    @rule(analyst=st.sampled_from(ANALYSTS), epsilon=TENTHS, delta=DELTAS)
    def reserve(self, analyst, epsilon, delta):
        self.turn += 1
        try:
            self.waiting.append(
                (
                    self.ledger.reserve(
                        "shop", analyst, self.guarantee(epsilon, delta), question=f"q{self.turn}"
                    ),
                    (epsilon, delta),
                )
            )
            paid = True
        except sd.BudgetError:
            paid = False
        assert paid == self.affordable(analyst, (epsilon, delta))
        if paid:
            self.asked = True
            self.paid[analyst].append((epsilon, delta))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), refund=st.booleans())
    def end(self, data, refund):
        reservation, loss = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        if refund:
            reservation.refund()
            self.paid[reservation.analyst].remove(loss)
        else:
            stored = reservation.commit({"value": reservation.number})
            self.seen.append((reservation.analyst, stored.content["value"]))

    @rule(
        analyst=st.sampled_from(ANALYSTS),
        epsilon=TENTHS,
        point=st.sampled_from(
            ["reserving", "reserve written", "reserved", "produced", "commit written", "committed", None]
        ),
        reopen=st.booleans(),
    )
    def ask(self, analyst, epsilon, point, reopen):
        self.turn += 1
        self.ledger.point = point
        affordable = self.affordable(analyst, (epsilon, 0.0))
        try:
            stored = self.ledger.spend(
                "shop", analyst, self.guarantee(epsilon, 0.0), f"q{self.turn}", lambda: {"value": self.turn}
            )
            self.seen.append((analyst, stored.content["value"]))
            assert affordable
        except sd.BudgetError:
            assert not affordable
        except Crash:
            pass
        if affordable and point not in ("reserving", "reserve written"):
            self.asked = True
            self.paid[analyst].append((epsilon, 0.0))
        self.ledger.point = None
        if reopen:  # what a new process finds
            self.ledger.close()
            self.ledger = Crashing.open(self.path)
            self.waiting = []

    @staticmethod
    def guarantee(epsilon, delta):
        return sd.Guarantee(sd.add_remove_row(), "some mechanism", epsilon=epsilon, delta=delta)

    @invariant()
    def sums_are_those_of_the_events_and_nothing_is_left_where_they_exceed_the_limit(self):
        self.ledger.verify()
        for account in self.ledger.accounts():
            who = account.analyst or "cap"
            assert account.limit == self.limits[who]
            assert account.spent == self.spent(who)
            rest = account.limit.amount - account.spent
            assert account.left == (rest if min(rest.loss, rest.delta) >= 0 else Amount())

    @invariant()
    def whatever_was_seen_is_stored(self):
        stored = {
            (event.analyst, event.release["value"])
            for event in self.ledger.history()
            if event.kind == "commit"
        }
        assert set(self.seen) <= stored


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


@given(st.lists(st.floats(1e-6, 0.3), max_size=30), st.floats(0.1, 2))
@settings(max_examples=40, deadline=None)
def test_the_accepted_questions_are_exactly_those_that_fit_in_order(losses, limit):
    with Ledger.in_memory() as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=limit))
        room = Fraction(repr(limit))
        for turn, loss in enumerate(losses):
            guarantee = sd.Guarantee(sd.add_remove_row(), "t", epsilon=loss)
            fits = Fraction(repr(loss)) <= room
            try:
                ledger.reserve("shop", "ann", guarantee, question=f"q{turn}")
                assert fits
                room -= Fraction(repr(loss))
            except sd.BudgetError:
                assert not fits
        assert ledger.account("shop", "ann").left.loss == room
