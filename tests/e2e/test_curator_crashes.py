"""kill −9 at every step of a session's question: a value that was told is a value that was paid for and stored."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.ledger import Ledger
from tests.unit.ledger.under_way import await_the_dead, count_held

POINTS = (
    "declared",
    "reserving",
    "reserve written",
    "reserved",
    "produced",
    "commit written",
    "committed",
    "never",
)

# "drawn" is told when noise is drawn, "value" when an analyst sees it. The mutant hands out before the commit.
PROCESS = """
import os, signal, sys
import duckdb
import sordino as sd
from sordino.sql.answering.cell_noise import GridNoise
from sordino.ledger import Ledger

path, kind, point = sys.argv[1:]

class Killed(Ledger):
    def _reached(self, reached):
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

class TellsBeforeCommit(Killed):
    def _commit(self, reservation, release):
        say("value", release["value"])
        return super()._commit(reservation, release)

def say(*words):
    print(*words, flush=True)

draw = GridNoise.draw
def told(self, exact, bound):
    say("drawn")
    return draw(self, exact, bound)
GridNoise.draw = told

connection = duckdb.connect()
connection.execute("CREATE TABLE r AS SELECT 1 AS a; CREATE TABLE s AS SELECT 1 AS a")
policy = {"version": 1, "dataset": "tiny", "tables": {"r": {}, "s": {}}, "budgets": {"ann": {"epsilon": 1}}}
ledger = {"real": Killed, "tells": TellsBeforeCommit}[kind].open(path)
with sd.connect(connection, policy=policy, ledger=ledger) as curator:
    release = curator.session("ann").query("SELECT COUNT(*) FROM r JOIN s ON r.a = s.a", 0.25)
    say("value", release.value)
"""


def ask(forks, path, kind, point):
    finished = forks.run(PROCESS, path, kind, point)
    assert finished.returncode in (0, -9), finished.stderr
    await_the_dead(path)
    lines = finished.stdout.split("\n")
    return [line.split()[0] for line in lines if line], {
        int(line.split()[1]) for line in lines if line.startswith("value")
    }


def state(path):
    with Ledger.open(path, create=False) as ledger:
        ledger.verify()
        stored = {event.release["value"] for event in ledger.history() if event.kind == "commit"}
        return sum(account.spent.loss for account in ledger.accounts()), stored


def told_but_not_stored(forks, path, kind, point):
    words, values = ask(forks, path, kind, point)
    spent, stored = state(path)
    if "drawn" in words:
        assert spent == Fraction(1, 4)  # the budget was gone before the noise was drawn
    return bool(values - stored)


@pytest.fixture
def place(tmp_path):
    """Where a ledger can be made; `tests/backends` puts a server's database here."""
    return tmp_path / "l"


@pytest.mark.parametrize("point", POINTS)
def test_a_value_that_was_told_is_in_the_ledger_whatever_crashes(forks, place, point):
    assert not told_but_not_stored(forks, place, "real", point)


@pytest.mark.parametrize("point", POINTS)
def test_a_session_that_tells_before_the_commit_is_caught(forks, place, point):
    caught = told_but_not_stored(forks, place, "tells", point)
    assert caught == (point in ("produced", "commit written"))


PAID_AND_NOT_ANSWERED = ("reserved", "produced", "commit written")


@pytest.mark.parametrize("point", ["reserve written", *PAID_AND_NOT_ANSWERED, "committed"])
def test_who_is_killed_after_the_payment_is_suspended_until_the_owner_resumes(forks, place, point):
    """A row that kills the process (no memory left, say) tells one bit, not one per question."""
    ask(forks, place, "real", point)
    failed = point in PAID_AND_NOT_ANSWERED
    with Ledger.open(place) as ledger:
        assert [account.suspended for account in ledger.accounts()] == [failed]
    refused = forks.run(PROCESS, place, "real", "never")
    assert (refused.returncode != 0) == failed
    assert ("SuspendedError: this account is suspended" in refused.stderr) == failed
    assert ("drawn" in refused.stdout) != failed
    with Ledger.open(place) as ledger:
        ledger.verify()
        ends = [event.scope for event in ledger.history() if event.kind == "suspend"]
        assert ends == ["crash"] * failed
        ledger.resume("tiny", "ann")
    assert ask(forks, place, "real", "never")[0] == ["drawn", "value"]
    assert count_held(place) == 0


def test_without_a_crash_the_value_is_told_once(forks, place):
    words, values = ask(forks, place, "real", "never")
    assert words == ["drawn", "value"]
    assert state(place) == (Fraction(1, 4), values)
