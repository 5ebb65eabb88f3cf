"""Series on an engine: every interval counts its own rows, whatever hostile times there are."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

from sordino.core import ParameterError
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
            "zoned": pa.array(
                [at if at is None or at.year in (2023, 2024) else None for at in ROWS],
                pa.timestamp("us", tz="UTC"),
            ),
            "x": pa.array([place % 5 for place in range(len(ROWS))], pa.int64()),
        }
    )
}
POLICY = {
    "version": 1,
    "dataset": "visits",
    "protects": "row",
    "tables": {
        "visits": {
            "columns": {"x": {"bounds": [0, 4], "granularity": 1}}
            | {name: {"fixed": True} for name in ("at", "day", "zoned")}
        }
    },
    "budgets": {"ann": {"epsilon": 4e9}},
}


def check_series(engine: Engine) -> None:
    """Totals with hardly any noise are those of the rows, by time, by day and by time with a zone, which is in UTC."""
    with Curator(engine, Policy.load(POLICY), None, owned=False) as curator:
        for time in ("at", "day", "zoned"):
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
        for time in ("at", "zoned"):
            series = curator.session("ann").series(
                "SELECT COUNT(*) FROM visits",
                time=time,
                every="90 minutes",
                start="2023-12-31 22:30:00",
                horizon=8,
                epsilon=1e8,
                name=f"{time} by minutes",
            )
            told = [release.value for release in series.catch_up()]
            begin = datetime(2023, 12, 31, 22, 30)
            ends = [begin + timedelta(minutes=90 * count) for count in range(1, 9)]
            assert told == [sum(at is not None and begin <= at < end for at in ROWS) for end in ends]
        with pytest.raises(ParameterError, match="holds days"):
            curator.session("ann").series(
                "SELECT COUNT(*) FROM visits",
                time="day",
                every="12 hours",
                start="2024-01-01",
                horizon=9,
                epsilon=1,
            )
