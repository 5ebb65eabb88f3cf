"""A series of a session costs what it says: the blocks that the engine sums, over all small tables and neighbours.

What is released is each block with independent noise of a public rate, so the exact loss of two tables is the rate
times the distance of their vectors of blocks. The blocks are those that the session stores, with noise that is zero.
"""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from itertools import combinations_with_replacement

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.series.block_noise import LaplaceBlocks

HORIZON = 4
TIMES = (None, datetime(2023, 12, 31, 23, 59, 59), *(datetime(2024, 1, day) for day in range(1, 6)))
ROWS = [(at, value) for at in TIMES for value in (-9, 3)]  # -9 is outside the bounds, which clip it
POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {"r": {"columns": {"x": {"bounds": [-2, 3], "granularity": 1}, "ts": {"fixed": True}}}},
    "budgets": {"ann": {"epsilon": 1e9}},
}


@pytest.fixture
def opened(monkeypatch):
    """A connection with an empty table, and its curator; noise is zero."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r (ts TIMESTAMP, x INTEGER)")
    monkeypatch.setattr(LaplaceBlocks, "draw", lambda noise, size: np.zeros(size, dtype=np.int64))
    with sd.connect(connection, policy=POLICY) as curator:
        yield connection, curator


@pytest.fixture
def ask(opened):
    """The vector of blocks that a session stores for a table, by the base; and the share that each block has."""
    connection, curator = opened
    count = iter(range(10**6))

    def blocks(rows, sql, base):
        connection.execute("DELETE FROM r")
        if rows:
            connection.executemany("INSERT INTO r VALUES (?, ?)", rows)
        series = curator.session("ann").series(
            sql,
            time="ts",
            every="1 day",
            start="2024-01-01",
            horizon=HORIZON,
            epsilon=1,
            base=base,
            name=f"series {next(count)}",
        )
        list(series.catch_up())
        vector = [series._content(interval)["released"] for interval in range(1, HORIZON + 1)]
        return vector, series._plan.tree.noise.rate

    return blocks


@pytest.mark.parametrize("base", [2, 3, 5])
@pytest.mark.parametrize("sql", ["SELECT SUM(x) FROM r", "SELECT COUNT(*) FROM r WHERE x > 0"])
def test_every_row_more_or_less_costs_at_most_epsilon(ask, sql, base):
    tables = [*combinations_with_replacement(ROWS, 0), *combinations_with_replacement(ROWS, 1)]
    tables += combinations_with_replacement(ROWS[4:8], 2)
    worst = Fraction(0)
    known = {}
    for rows in tables:
        known[tuple(sorted(rows, key=repr))] = ask(rows, sql, base)
    for rows, (vector, rate) in known.items():
        for gone in range(len(rows)):
            fewer, _ = known[rows[:gone] + rows[gone + 1 :]]
            moved = sum(abs(a - b) for a, b in zip(vector, fewer, strict=True))
            worst = max(worst, moved * rate)
    assert worst == 1, "all of ε and no more: a share for one level less would not do"


HISTORIES = {  # what the table holds of one row, by the interval that is over
    "there from the first day": lambda interval: "2024-01-01",
    "late by two days": lambda interval: "2024-01-01" if interval > 2 else None,
    "deleted on the third day": lambda interval: "2024-01-01" if interval < 3 else None,
    "on and off": lambda interval: "2024-01-01" if interval % 2 else None,
    "moved to every day": lambda interval: f"2024-01-0{interval}",
}


@pytest.mark.parametrize("history", HISTORIES)
def test_a_row_whose_time_stays_costs_at_most_epsilon_whenever_it_is_there(opened, history):
    """The control breaks what the owner promises with ``fixed``: a row in the blocks of all days costs more."""
    connection, curator = opened
    series = curator.session("ann").series(
        "SELECT COUNT(*) FROM r",
        time="ts",
        every="1 day",
        start="2024-01-01",
        horizon=HORIZON,
        epsilon=1,
        base=2,
    )
    for interval in range(1, HORIZON + 1):
        connection.execute("DELETE FROM r")
        if (day := HISTORIES[history](interval)) is not None:
            connection.execute(f"INSERT INTO r VALUES ('{day}', 1)")
        series.next()
    moved = sum(abs(series._content(interval)["released"]) for interval in range(1, HORIZON + 1))
    cost = moved * series._plan.tree.noise.rate  # without the row all blocks are zero
    assert (cost > 1) if history.startswith("moved") else (0 < cost <= 1)
