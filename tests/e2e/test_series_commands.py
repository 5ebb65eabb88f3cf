"""`sordino series`: open, next, show, plot, and what needs no database."""

from __future__ import annotations

import json

import pytest

from sordino.cli.app import run

POLICY = """
version: 1
dataset: club
protects: row
tables:
  orders:
    columns:
      ts: {type: timestamp, fixed: true}
      amount: {type: integer, bounds: [0, 10], granularity: 1}
budgets:
  ann: {epsilon: 1000000001}
"""


@pytest.fixture
def club(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club").mkdir()
    rows = [f"2024-01-0{day} {hour:02}:00:00,{day}" for day in range(1, 4) for hour in range(5)]
    (tmp_path / "club" / "orders.csv").write_text("ts,amount\n" + "\n".join(rows) + "\n")
    (tmp_path / "club.yaml").write_text(POLICY)
    return ["--policy", "club.yaml", "--ledger", "club.ledger", "--analyst", "ann"]


def say(capsys, *words):
    code = run([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


OPEN = ("series", "open", "club", "SELECT SUM(amount) FROM orders", "--name", "daily", "--time", "ts", "--every",
        "1 day", "--start", "2024-01-01", "--horizon", "30", "--epsilon", "1000000000")  # fmt: skip


def test_a_series_is_opened_answered_shown_and_drawn(club, capsys, tmp_path):
    code, opened = say(capsys, *OPEN, *club)
    assert (code, opened["name"], opened["answered"]) == (0, "daily", 0)
    assert opened["budget"]["left"]["epsilon"] == 1
    code, again = say(capsys, *OPEN, *club)
    assert (code, again["budget"]["left"]["epsilon"]) == (0, 1)
    code, first = say(capsys, "series", "next", "club", "daily", "--now", "2024-01-02", *club)
    assert (code, first["totals"][0]["total"], first["totals"][0]["interval"]) == (0, 5, 1)
    code, rest = say(capsys, "series", "next", "club", "daily", "--now", "2024-01-04", "--all", *club)
    assert (code, [row["total"] for row in rest["totals"]]) == (0, [15, 30])
    code, shown = say(capsys, "series", "show", "club", "daily", *club)
    assert (code, [row["total"] for row in shown["totals"]]) == (0, [5, 15, 30])
    assert (
        run(["series", "plot", "club", "daily", "--output", "daily.png", "--step-variance", "4", *club]) == 0
    )
    assert (tmp_path / "daily.png").stat().st_size > 5000
    capsys.readouterr()
    code, early = say(capsys, "series", "next", "club", "daily", "--now", "2024-01-04", *club)
    assert (code != 0, early["error"]["code"]) == (True, "parameter")
    code, missing = say(capsys, "series", "show", "club", "weekly", *club)
    assert (code != 0, "no series" in missing["error"]["message"]) == (True, True)


def test_what_needs_no_database(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "changes.csv").write_text("x\n10\n12\n11\n15\n")
    code, totals = say(capsys, "series", "tree", "changes.csv", "--horizon", "7", "--epsilon", "1000000000")
    assert (code, totals["value"], totals["times"]) == (0, [10, 22, 33, 48], [1, 2, 3, 4])
    words = ["series", "kalman", "changes.csv", "--step-variance", "1", "--noise-variance", "8"]
    code, smoothed = say(capsys, *words)
    assert code == 0
    assert smoothed["estimates"] == pytest.approx([10, 11.058824, 11.035556, 12.392766], abs=1e-6)
    code, advice = say(capsys, "series", "advise", "--horizon", "365", "--epsilon", "1")
    assert (code, advice["mechanisms"][0]["name"]) == (0, "subtraction tree of base 28")
    code, wrong = say(capsys, "series", "tree", "changes.csv", "--horizon", "3", "--epsilon", "1")
    assert (code != 0, "horizon" in wrong["error"]["message"]) == (True, True)


def test_events_and_budgets(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("provenance,added,removed,value\na,1,,5\nb,2,4,3\na,3,,2\nc,2,3,7\n")
    words = ("series", "events", "rows.csv", "--horizon", "4", "--epsilon", "1000000000")
    code, found = say(capsys, *words, "--allowance", "4")
    assert (code, found["totals"]) == (0, [5, 15, 10, 7])
    code, limited = say(capsys, *words)
    assert (code, max(limited["charges"].values())) == (0, 1), (
        "one level, so one block each: what is beyond is left out"
    )
    code, plan = say(capsys, "series", "budget", "--limit", "1", "--correlation", "1/2", "--times", "3")
    assert (code, plan["plan"]) == (0, pytest.approx([2 / 3, 1 / 3, 2 / 3]))
    code, wrong = say(capsys, "series", "budget", "--limit", "1", "--correlation", "1")
    assert (code != 0, wrong["error"]["code"]) == (True, "parameter")
