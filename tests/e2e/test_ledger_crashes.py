"""kill −9 at every step, and eight processes racing for the last budget."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from fractions import Fraction

import pytest

from sordino.ledger import Ledger, Limit

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
guarantee = sd.Guarantee(sd.add_remove_row(), "t", epsilon=0.25)
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
def path(tmp_path):
    path = tmp_path / "shop.ledger"
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1))
        ledger.set_cap("shop", Limit.of(epsilon=1))
    return path


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
    if point != "never":
        assert committed == turn + (point == "committed")
        assert spent == Fraction(committed + wasted, 4)
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
guarantee = sd.Guarantee(sd.add_remove_row(), "t", epsilon=0.1)
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


def test_eight_processes_race_for_one_account_and_exactly_its_budget_is_spent(tmp_path):
    path = tmp_path / "shop.ledger"
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=5))
        lines = race(path, ["ann"] * 8)
        won = [line for line in lines if line.startswith("value")]
        assert (len(won), len(set(won)), len(lines)) == (50, 50, 320)
        assert ledger.account("shop", "ann").left.loss == 0
        ledger.verify()


def test_eight_analysts_race_for_one_cap_and_exactly_the_cap_is_spent(tmp_path):
    path = tmp_path / "shop.ledger"
    with Ledger.open(path) as ledger:
        analysts = [f"analyst {number}" for number in range(8)]
        for analyst in analysts:
            ledger.grant("shop", analyst, Limit.of(epsilon=2))
        ledger.set_cap("shop", Limit.of(epsilon=5))
        lines = race(path, analysts)
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


def test_eight_processes_may_make_the_same_file_at_once(tmp_path):
    path = tmp_path / "new.ledger"
    at_once(path, "Ledger.open(sys.argv[1]).accounts()")
    with Ledger.open(path, create=False) as ledger:
        assert ledger.accounts() == []


def test_eight_processes_may_bring_an_old_file_up_to_date_and_declare_one_policy(path):
    with Ledger.open(path) as ledger:
        events = len(ledger.history())
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("DROP TABLE declared")
    file.execute("PRAGMA user_version = 1")
    file.close()
    limit = "Limit.of(epsilon=0.5)"
    at_once(
        path,
        f"Ledger.open(sys.argv[1], patience=30).declare('shop', {{'ann': {limit}, 'bob': {limit}}}, "
        f"cap={limit}, distance=sd.add_remove_row())",
    )
    with Ledger.open(path) as ledger:
        ledger.verify()
        assert len(ledger.history()) == events + 3  # said eight times, written once
