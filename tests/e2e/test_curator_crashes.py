"""kill −9 at every step of a session's question: a value that was told is a value that was paid for and stored."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.ledger import Ledger

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


@pytest.mark.parametrize("point", POINTS)
def test_a_value_that_was_told_is_in_the_ledger_whatever_crashes(forks, tmp_path, point):
    assert not told_but_not_stored(forks, tmp_path / "l", "real", point)


def test_a_session_that_tells_before_the_commit_is_caught(forks, tmp_path):
    caught = [
        point
        for point in POINTS
        if told_but_not_stored(forks, tmp_path / point.replace(" ", "-"), "tells", point)
    ]
    assert caught == ["produced", "commit written"]


PAID_AND_NOT_ANSWERED = ("reserved", "produced", "commit written")


@pytest.mark.parametrize("point", ["reserve written", *PAID_AND_NOT_ANSWERED, "committed"])
def test_who_is_killed_after_the_payment_is_suspended_until_the_owner_resumes(forks, tmp_path, point):
    """A row that kills the process (no memory left, say) tells one bit, not one per question."""
    path = tmp_path / "l"
    ask(forks, path, "real", point)
    failed = point in PAID_AND_NOT_ANSWERED
    with Ledger.open(path) as ledger:
        assert [account.suspended for account in ledger.accounts()] == [failed]
    refused = forks.run(PROCESS, path, "real", "never")
    assert (refused.returncode != 0) == failed
    assert ("SuspendedError: this account is suspended" in refused.stderr) == failed
    assert ("drawn" in refused.stdout) != failed
    with Ledger.open(path) as ledger:
        ledger.verify()
        ends = [event.scope for event in ledger.history() if event.kind == "suspend"]
        assert ends == ["crash"] * failed
        ledger.resume("tiny", "ann")
    assert ask(forks, path, "real", "never")[0] == ["drawn", "value"]
    assert not [file.name for file in tmp_path.iterdir() if "-open-" in file.name]


def test_without_a_crash_the_value_is_told_once(forks, tmp_path):
    words, values = ask(forks, tmp_path / "l", "real", "never")
    assert words == ["drawn", "value"]
    assert state(tmp_path / "l") == (Fraction(1, 4), values)
