"""Series on an engine: every interval counts its own rows, whatever hostile times there are."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa

from sordino.curator import Curator
from sordino.engines import Engine
from sordino.sql.policy import Policy

TIMES = [datetime(2024, 1, 1) + timedelta(hours=7 * place) for place in range(40)]
EXTREMES = [None, datetime(1, 1, 1), datetime(9999, 12, 31), datetime(2023, 12, 31, 23, 59, 59, 999999)]
ROWS = [*TIMES, *EXTREMES]
TABLES = {
    "visits": pa.table(
        {
            "at": pa.array(ROWS, pa.timestamp("us")),
            "day": pa.array(
                [None if at is None else date(at.year, at.month, at.day) for at in ROWS], pa.date32()
            ),
            "x": pa.array([place % 5 for place in range(len(ROWS))], pa.int64()),
        }
    )
}
POLICY = {
    "version": 1,
    "dataset": "visits",
    "protects": "row",
    "tables": {"visits": {"columns": {"x": {"bounds": [0, 4], "granularity": 1}}}},
    "budgets": {"ann": {"epsilon": 2e9}},
}


def check_series(engine: Engine) -> None:
    """Totals with hardly any noise are those of the rows, by time and by day."""
    with Curator(engine, Policy.load(POLICY), None, owned=False) as curator:
        for time in ("at", "day"):
            series = curator.session("ann").series(
                "SELECT SUM(x) FROM visits WHERE x > 0",
                time=time,
                every="1 day",
                start="2024-01-01",
                horizon=9,
                epsilon=1e9,
                name=time,
            )
            told = [release.value for release in series.catch_up()]
            ends = [datetime(2024, 1, 1) + timedelta(days=days) for days in range(1, 10)]
            assert told == [sum(place % 5 for place, at in enumerate(TIMES) if at < end) for end in ends]
