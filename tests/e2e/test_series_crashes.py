"""kill −9 at every step of a series: one payment, and one value per interval, whatever crashes and who goes on."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.ledger import Ledger
from tests.unit.ledger.under_way import await_the_dead

POINTS = ("declared", "opening", "series paid", "opening written", "opened", "claiming", "claim written", "claimed",
          "produced", "commit written", "committed", "claiming 2", "claim written 2", "claimed 3", "produced 2",
          "commit written 3", "committed 2", "never")  # fmt: skip
SUSPENDS = {"claimed", "produced", "commit written"}  # a claim was durable and had no end

PROCESS = """
import os, signal, sys
import duckdb
import sordino as sd
from sordino.ledger import Ledger

path, point = sys.argv[1:]
name, _, times = point.rpartition(" ")
point, left = (name, [int(times)]) if times.isdigit() else (point, [1])  # "claimed 3": the third time

class Killed(Ledger):
    def _reached(self, reached):
        if reached == point:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

connection = duckdb.connect()
connection.execute("CREATE TABLE r AS SELECT TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS ts FROM range(72) AS t(i)")
tables = {"r": {"columns": {"ts": {"fixed": True}}}}
policy = {"version": 1, "dataset": "tiny", "tables": tables, "budgets": {"ann": {"epsilon": 1}}}
with sd.connect(connection, policy=policy, ledger=Killed.open(path)) as curator:
    series = curator.session("ann").series(
        "SELECT COUNT(*) FROM r", time="ts", every="1 day", start="2024-01-01", horizon=3, epsilon=1, name="daily"
    )
    for release in series.catch_up():
        print(series.answered, release.value, flush=True)
    print("all", *series.show().value.tolist(), flush=True)
"""


TOGETHER = """
import os, signal, sys, time
import duckdb
import sordino as sd

path, processes, killed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tables = {"r": {"columns": {"ts": {"fixed": True}}}}
policy = {"version": 1, "dataset": "tiny", "tables": tables, "budgets": {"ann": {"epsilon": 1}}}

def work(number):
    connection = duckdb.connect()
    rows = "SELECT TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS ts FROM range(240) AS t(i)"
    connection.execute(f"CREATE TABLE r AS {rows}")
    with sd.connect(connection, policy=policy, ledger=path) as curator:
        series = curator.session("ann").series(
            "SELECT COUNT(*) FROM r", time="ts", every="1 day", start="2024-01-01", horizon=10, epsilon=1, name="daily",
            base=2
        )
        while True:
            try:
                interval, release = series.answer_next()
                os.write(1, f"{interval} {release.value}\\n".encode())
            except sd.BudgetError:
                time.sleep(0.001)
            except sd.SuspendedError:
                os.write(1, b"suspended\\n")
                return
            except sd.ParameterError:
                return

children = []
for number in range(processes):
    child = os.fork()
    if not child:
        try:
            work(number)
        finally:
            os._exit(0)
    children.append(child)
if killed:
    time.sleep(killed / 1000)
    os.kill(children[0], signal.SIGKILL)
for child in children:
    os.waitpid(child, 0)
"""


def run(forks, path, point):
    finished = forks.run(PROCESS, path, point)
    assert finished.returncode in (0, -9), finished.stderr
    await_the_dead(path)
    return finished.stdout.splitlines()


@pytest.fixture
def place(tmp_path):
    """Where a ledger can be made; `tests/backends` puts a server's database here."""
    return tmp_path / "book"


@pytest.mark.parametrize("point", POINTS)
def test_a_series_survives_being_killed_at_every_step(forks, place, point):
    before = run(forks, place, point)
    told = dict(line.split() for line in before if not line.startswith("all"))
    with Ledger.open(place) as ledger:
        ledger.verify()
        if point.rstrip(" 123") in SUSPENDS:
            assert ledger.account("tiny", "ann").suspended
            ledger.resume("tiny", "ann")
    after = run(forks, place, "never")
    values = after[-1].split()[1:]
    assert len(values) == 3
    for interval, value in told.items():
        assert values[int(interval) - 1] == value, "what was told is what is stored"
    with Ledger.open(place) as ledger:
        ledger.verify()
        assert ledger.account("tiny", "ann").spent.loss == Fraction(1), "paid once"
        stored = [event.question for event in ledger.history() if event.kind == "commit"]
        assert len(stored) == len(set(stored)) == 4, "the opening and one value per interval"


@pytest.mark.parametrize("killed", [0, 60, 90, 130])
def test_processes_that_ask_at_once_are_told_one_value_per_interval(forks, tmp_path, killed):
    """Four of them, and one may be killed after some milliseconds, wherever it is then."""
    path = tmp_path / "book"
    told = {}
    for attempt in range(8):
        finished = forks.run(TOGETHER, path, 4, killed if attempt == 0 else 0)
        assert finished.returncode == 0, finished.stderr
        assert not finished.stderr, finished.stderr
        for line in finished.stdout.splitlines():
            if line != "suspended":
                interval, value = line.split()
                assert told.setdefault(interval, value) == value, "whoever asks is told the same"
        with Ledger.open(path) as ledger:
            ledger.verify()
            if not ledger.account("tiny", "ann").suspended:
                break
            assert killed, "nobody died, so nothing is suspended"
            ledger.resume("tiny", "ann")
    with Ledger.open(path) as ledger:
        assert ledger.account("tiny", "ann").spent.loss == Fraction(1), "paid once"
        stored = [event.question for event in ledger.history() if event.kind == "commit"]
        assert len(stored) == len(set(stored)) == 11
    assert set(told) <= {str(interval) for interval in range(1, 11)}
    assert killed or len(told) == 10
