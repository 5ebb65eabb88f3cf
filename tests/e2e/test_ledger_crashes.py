"""kill −9 at every step, and eight processes racing for the last budget."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from sordino.ledger import Ledger, Limit
from tests.unit.ledger.old_formats import write_old
from tests.unit.ledger.under_way import await_the_dead, count_held

POINTS = ("reserving", "reserve written", "reserved", "produced", "commit written", "committed", "never")

# Asks until refused. "drawn" is told when noise is drawn, "value" when an analyst sees it. Three ledgers: the real
# one, one that hands out before the commit, one that draws before the reservation.
PROCESS = """
import os, signal, sys
import sordino as sd
from sordino.ledger import Ledger

path, kind, point, turn = sys.argv[1:]

class Killed(Ledger):
    turns = 0
    def _reached(self, reached):
        if reached == point and self.turns == int(turn):
            os.kill(os.getpid(), signal.SIGKILL)

class TellsBeforeCommit(Killed):
    def spend(self, dataset, analyst, guarantee, question, produce):
        with self.reserve(dataset, analyst, guarantee, question=question) as reservation:
            self._reached("reserved")
            release = produce()
            say("value", release["value"])
            self._reached("produced")
            reservation.commit(release)
        self._reached("committed")

class DrawsBeforeReserve(Killed):
    def spend(self, dataset, analyst, guarantee, question, produce):
        release = produce()
        self._reached("produced")
        return self.reserve(dataset, analyst, guarantee, question=question).commit(release)

def say(*words):
    print(*words, flush=True)

def draw():
    say("drawn", ledger.turns)
    return {"value": 1000 + ledger.turns}

ledger = {"real": Killed, "tells": TellsBeforeCommit, "draws": DrawsBeforeReserve}[kind].open(path)
guarantee = sd.Guarantee(sd.Loss(epsilon=0.25), sd.add_remove_row(), "t")
while True:
    try:
        stored = ledger.spend("shop", "ann", guarantee, f"q{ledger.turns}", draw)
    except sd.BudgetError:
        say("refused")
        break
    if stored is not None:
        say("value", stored.content["value"])
    ledger.turns += 1
"""


def run(path, kind, point, turn):
    arguments = [sys.executable, "-c", PROCESS, path, kind, point, str(turn)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, -9), done.stderr
    await_the_dead(path)
    return done


def told(done, word):
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith(word + " ")]


def check(path, runs):
    """What must hold after any crash: seen ⇒ stored, drawn ⇒ paid for, spent = events ≤ limit, and all usable."""
    with Ledger.open(path, create=False) as ledger:
        ledger.verify()
        events = ledger.history("shop", "ann")
        stored = {str(event.release["value"]) for event in events if event.kind == "commit"}
        paid = sum(event.kind == "reserve" for event in events)
        spent = ledger.account("shop", "ann").spent.loss
    assert spent == Fraction(paid, 4) <= 1
    assert {value for done in runs for value in told(done, "value")} <= stored, "seen and not stored"
    assert sum(len(told(done, "drawn")) for done in runs) <= paid, "drawn and not paid for"


@pytest.fixture
def place(tmp_path):
    """Where a ledger can be made; `tests/backends` puts a server's database here."""
    return tmp_path / "shop.ledger"


@pytest.fixture
def path(place):
    with Ledger.open(place) as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1))
        ledger.set_cap("shop", Limit.of(epsilon=1))
    return place


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_step_never_overspends_and_never_tells_what_is_not_stored(path, point, turn):
    crashed = run(path, "real", point, turn)
    assert crashed.returncode == (0 if point == "never" else -9)
    check(path, [crashed])
    # A crash after the reservation wastes its budget; one before it costs nothing.
    wasted = point in ("reserved", "produced", "commit written")
    with Ledger.open(path) as ledger:
        spent = ledger.account("shop", "ann").spent.loss
        committed = sum(event.kind == "commit" for event in ledger.history())
        assert ledger.account("shop", "ann").suspended == wasted
    if point != "never":
        assert committed == turn + (point == "committed")
        assert spent == Fraction(committed + wasted, 4)
    if wasted:
        refused = run(path, "real", "never", 0)
        assert told(refused, "drawn") == []
        assert "refused" in refused.stdout
        with Ledger.open(path) as ledger:
            ledger.verify()
            assert ledger.resume("shop", "ann").spent.loss == spent
    rest = run(path, "real", "never", 0)
    assert "refused" in rest.stdout
    assert len(told(rest, "value")) == 4 - spent * 4
    check(path, [crashed, rest])


@pytest.mark.parametrize("point", ["produced", "commit written"])
def test_the_crash_test_catches_a_ledger_that_tells_before_it_commits(path, point):
    crashed = run(path, "tells", point, 0)
    with pytest.raises(AssertionError, match="seen and not stored"):
        check(path, [crashed])


def test_the_crash_test_catches_a_ledger_that_draws_before_it_reserves(path):
    crashed = run(path, "draws", "produced", 0)
    with pytest.raises(AssertionError, match="drawn and not paid for"):
        check(path, [crashed])


RACER = """
import sys
import sordino as sd
from sordino.ledger import Ledger

ledger = Ledger.open(sys.argv[1], patience=30)
analyst = sys.argv[2]
guarantee = sd.Guarantee(sd.Loss(epsilon=0.1), sd.add_remove_row(), "t")
print("ready", flush=True)
sys.stdin.readline()
for turn in range(40):
    try:
        stored = ledger.spend("shop", analyst, guarantee, f"q{turn}", lambda: {"value": turn})
        print("value", stored.number, flush=True)
    except sd.BudgetError:
        print("refused", flush=True)
"""


def race(path, analysts):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, path, analyst],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for analyst in analysts
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    return [line for racer in racers for line in racer.communicate(timeout=60)[0].splitlines()]


def test_eight_processes_race_for_one_account_and_exactly_its_budget_is_spent(place):
    with Ledger.open(place) as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=5))
        lines = race(place, ["ann"] * 8)
        won = [line for line in lines if line.startswith("value")]
        assert (len(won), len(set(won)), len(lines)) == (50, 50, 320)
        assert ledger.account("shop", "ann").left.loss == 0
        ledger.verify()


def test_eight_analysts_race_for_one_cap_and_exactly_the_cap_is_spent(place):
    with Ledger.open(place) as ledger:
        analysts = [f"analyst {number}" for number in range(8)]
        for analyst in analysts:
            ledger.grant("shop", analyst, Limit.of(epsilon=2))
        ledger.set_cap("shop", Limit.of(epsilon=5))
        lines = race(place, analysts)
        assert sum(line.startswith("value") for line in lines) == 50
        assert ledger.cap("shop").left.loss == 0
        ledger.verify()


def at_once(path, code):
    """Eight processes that do the same to one file."""
    code = f"import sys; import sordino as sd; from sordino.ledger import Ledger, Limit; sys.stdin.readline(); {code}"
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for maker in makers:
        _, complaint = maker.communicate("go\n", timeout=60)
        assert maker.returncode == 0, complaint


def test_eight_processes_may_make_the_same_ledger_at_once(place):
    at_once(place, "Ledger.open(sys.argv[1]).accounts()")
    with Ledger.open(place, create=False) as ledger:
        assert ledger.accounts() == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_eight_processes_may_bring_an_old_file_up_to_date_and_declare_one_policy(tmp_path, version):
    path = write_old(tmp_path / "old.ledger", version)
    limit = "Limit.of(epsilon=0.5)"
    at_once(
        path,
        f"Ledger.open(sys.argv[1], patience=30).declare('shop', {{'ann': {limit}, 'bob': {limit}}}, "
        f"cap={limit}, distance=sd.add_remove_row(), tables={{'orders': 'private'}})",
    )
    with Ledger.open(path) as ledger:
        ledger.verify()
        kinds = [event.kind for event in ledger.history()]
        assert kinds[6:] == ["declare", "grant", "grant", "grant"]  # said eight times, written once


# Eight processes ask in one account at once, each of them one question that takes a while; some die of it.
DYING = """
import os, signal, sys, time
import sordino as sd
from sordino.ledger import Ledger

ledger = Ledger.open(sys.argv[1], patience=30)
guarantee = sd.Guarantee(sd.Loss(epsilon=0.01), sd.add_remove_row(), "t")

def draw():
    print("drawn", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "fails":
        raise OverflowError
    return {"value": 1}

try:
    ledger.spend("shop", "ann", guarantee, sys.argv[3], draw)
    print("value", flush=True)
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize("end", ["dies", "fails"])
def test_after_the_first_failure_or_death_all_that_is_under_way_ends_alike(path, end):
    kinds = ["answers", end, end, "answers", end, "answers", "answers", end]
    asked = [
        subprocess.Popen(
            [sys.executable, "-c", DYING, path, kind, f"q{turn}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for turn, kind in enumerate(kinds)
    ]
    for one in asked:
        assert one.stdout.readline() == "drawn\n"  # all have paid
    said = []
    for one in asked:  # and now end one by one
        said.append(one.communicate("go\n", timeout=60)[0].strip())
        await_the_dead(path)
    assert said[0] == "value"  # ended before the first failure
    assert said[1] == {"dies": "", "fails": "OverflowError"}[end]
    after = {kind: {said[turn] for turn in range(2, 8) if kinds[turn] == kind} for kind in ("answers", end)}
    assert after["answers"] == {"SuspendedError"}
    assert after[end] == {{"dies": "", "fails": "SuspendedError"}[end]}
    with Ledger.open(path) as ledger:
        account = ledger.account("shop", "ann")
        assert account.suspended
        assert account.spent.loss == Fraction(8, 100)
        ledger.resume("shop", "ann")
        ledger.verify()
        assert sum(event.kind == "commit" for event in ledger.history()) == 1
    assert count_held(path) == 0


def test_a_death_in_one_account_stops_nobody_else(path):
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "bob", Limit.of(epsilon=1))
    run(path, "real", "produced", 0)
    assert (
        "value"
        in subprocess.run(
            [
                sys.executable,
                "-c",
                DYING.replace("'ann'", "'bob'").replace('"ann"', '"bob"'),
                path,
                "answers",
                "q",
            ],
            input="go\n",
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.splitlines()
    )
