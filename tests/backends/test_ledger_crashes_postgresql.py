"""The crash and race suites of the ledger, of a session's question and of a series, over a ledger in PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

import sordino as sd
from sordino.ledger import Ledger, Limit
from tests.e2e import test_curator_crashes, test_ledger_crashes, test_series_crashes
from tests.e2e.conftest import forks
from tests.e2e.test_ledger_crashes import path

from .postgresql_server import PostgreSQLServer

__all__ = ["forks", "path"]  # fixtures; `place`, which they stand on, is this folder's

ABOUT_FILES = {"test_eight_processes_may_bring_an_old_file_up_to_date_and_declare_one_policy"}
for module in (test_ledger_crashes, test_curator_crashes, test_series_crashes):
    globals().update(
        {
            f"{module.__name__.rpartition('.')[2]}_{name[5:]}": thing
            for name, thing in vars(module).items()
            if name.startswith("test_") and name not in ABOUT_FILES
        }
    )


ASKER = """
import sys
import sordino as sd
from sordino.ledger import Ledger

ledger = Ledger.open(sys.argv[1])
guarantee = sd.Guarantee(sd.Loss(epsilon=0.001), sd.add_remove_row(), "t")
for turn in range(10_000):
    try:
        print(ledger.spend("shop", "ann", guarantee, f"q{turn}", lambda: {"value": turn}).number, flush=True)
    except sd.LedgerError as error:
        print(error, file=sys.stderr)
        break
"""


def test_a_server_that_is_killed_has_kept_all_that_was_told():
    server = PostgreSQLServer(durable=True)
    try:
        server.start()
        with Ledger.open(server.url()) as ledger:
            ledger.grant("shop", "ann", Limit.of(epsilon=1000))
            anchor = ledger.anchor()
        asking = subprocess.Popen(
            [sys.executable, "-c", ASKER, server.url()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        told = [int(asking.stdout.readline()) for _ in range(20)]
        server.kill()
        rest, complaint = asking.communicate(timeout=60)
        told += [int(line) for line in rest.split()]
        assert "nothing was released" in complaint
        assert "Traceback" not in complaint
        server.start_again()
        with Ledger.open(server.url()) as ledger:
            assert ledger.verify(anchor).number >= told[-1]
            events = ledger.history()
            assert set(told) <= {event.number for event in events if event.kind == "commit"}
            paid = sum(event.kind == "reserve" for event in events)
            assert ledger.account("shop", "ann").spent.loss == Fraction(paid, 1000)
            ledger.resume("shop", "ann")
            guarantee = sd.Guarantee(sd.Loss(epsilon=0.001), sd.add_remove_row(), "t")
            assert ledger.spend("shop", "ann", guarantee, "again", lambda: {"value": 1}).content == {
                "value": 1
            }
    finally:
        server.stop()


@pytest.mark.parametrize("end", ["dies", "answers"])
def test_the_server_learns_of_a_death_by_itself(path, end):
    """No connection of the living has to be asked: the lock is gone as soon as the session is."""
    asked = subprocess.Popen(
        [sys.executable, "-c", test_ledger_crashes.DYING, path, end, "q"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert asked.stdout.readline() == "drawn\n"
    with Ledger.open(path) as ledger:
        assert not ledger.account("shop", "ann").suspended
        asked.communicate("go\n", timeout=60)
        test_ledger_crashes.await_the_dead(path)
        assert ledger.account("shop", "ann").suspended == (end == "dies")
