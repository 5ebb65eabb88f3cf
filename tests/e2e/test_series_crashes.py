"""kill −9 at every step of a series: one payment, and one value per interval, whatever crashes and who goes on."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.ledger import Ledger

POINTS = ("declared", "opening", "series paid", "opening written", "opened", "claiming", "claim written", "claimed",
          "produced", "commit written", "committed", "never")  # fmt: skip
SUSPENDS = {"claimed", "produced", "commit written"}  # a claim was durable and had no end

PROCESS = """
import os, signal, sys
import duckdb
import sordino as sd
from sordino.ledger import Ledger

path, point = sys.argv[1:]

class Killed(Ledger):
    def _reached(self, reached):
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

connection = duckdb.connect()
connection.execute("CREATE TABLE r AS SELECT TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS ts FROM range(72) AS t(i)")
policy = {"version": 1, "dataset": "tiny", "tables": {"r": {}}, "budgets": {"ann": {"epsilon": 1}}}
with sd.connect(connection, policy=policy, ledger=Killed.open(path)) as curator:
    series = curator.session("ann").series(
        "SELECT COUNT(*) FROM r", time="ts", every="1 day", start="2024-01-01", horizon=3, epsilon=1, name="daily"
    )
    for release in series.catch_up():
        print(series.answered, release.value, flush=True)
    print("all", *series.show().value.tolist(), flush=True)
"""


def run(forks, path, point):
    finished = forks.run(PROCESS, path, point)
    assert finished.returncode in (0, -9), finished.stderr
    return finished.stdout.splitlines()


@pytest.mark.parametrize("point", POINTS)
def test_a_series_survives_being_killed_at_every_step(forks, tmp_path, point):
    path = tmp_path / "book"
    before = run(forks, path, point)
    told = dict(line.split() for line in before if not line.startswith("all"))
    with Ledger.open(path) as ledger:
        ledger.verify()
        if point in SUSPENDS:
            assert ledger.account("tiny", "ann").suspended
            ledger.resume("tiny", "ann")
    after = run(forks, path, "never")
    values = after[-1].split()[1:]
    assert len(values) == 3
    for interval, value in told.items():
        assert values[int(interval) - 1] == value, "what was told is what is stored"
    with Ledger.open(path) as ledger:
        ledger.verify()
        assert ledger.account("tiny", "ann").spent.loss == Fraction(1), "paid once"
        stored = [event.question for event in ledger.history() if event.kind == "commit"]
        assert len(stored) == len(set(stored)) == 4, "the opening and one value per interval"
