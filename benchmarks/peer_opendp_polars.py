"""OpenDP's data frames; runs in an environment with OpenDP's own Polars."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import duckdb
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The noisy rows of every run: groups are public, and nobody keeps more than ``most`` rows."""
    connection = duckdb.connect(request["file"], read_only=True)
    frame = connection.sql("SELECT customer_id, city, amount FROM sales").pl().lazy()
    groups = pl.LazyFrame({"city": request["groups"]})
    asked = dp.len(signed=True) if request["measure"] == "count" else total(request["upper"])
    seconds, runs = [], []
    until = time.perf_counter() + request["at_most"]
    while len(runs) < request["runs"] and (len(runs) < 2 or time.perf_counter() < until):
        start = time.perf_counter()
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1, identifier="customer_id"),
            privacy_loss=dp.loss_of(epsilon=request["epsilon"]),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["city"], max_length=request["rows"])],
        )
        grouped = context.query().truncate_per_group(request["most"]).group_by("city")
        found = grouped.agg(asked.alias("n")).with_keys(groups).release().collect()
        seconds.append(time.perf_counter() - start)
        runs.append([[row["city"], str(row["n"])] for row in found.to_dicts()])
    return {"seconds": seconds, "runs": runs}


def total(upper: int) -> Any:
    return pl.col("amount").fill_null(0).dp.sum((0, upper))


for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), flush=True)
