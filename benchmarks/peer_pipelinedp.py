"""PipelineDP's side of the benchmarks; runs in its own environment, with its backend for lists."""

from __future__ import annotations

import json
import sys
import time
from operator import itemgetter
from typing import Any

import duckdb
import pipeline_dp

METRICS = {"count": pipeline_dp.Metrics.COUNT, "sum": pipeline_dp.Metrics.SUM}


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The noisy rows of every run: groups are public, and a customer is in one of them."""
    connection = duckdb.connect(request["file"], read_only=True)
    rows = connection.execute("SELECT customer_id, city, amount FROM sales").fetchall()
    seconds, runs = [], []
    until = time.perf_counter() + request["at_most"]
    while len(runs) < request["runs"] and (len(runs) < 3 or time.perf_counter() < until):
        start = time.perf_counter()
        found = aggregate(rows, request)
        seconds.append(time.perf_counter() - start)
        runs.append([[str(city), str(numbers[0])] for city, numbers in found])
    return {"seconds": seconds, "runs": runs}


def aggregate(rows: list[tuple[Any, ...]], request: dict[str, Any]) -> list[Any]:
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=request["epsilon"], total_delta=request["delta"])
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    parameters = pipeline_dp.AggregateParams(
        metrics=[METRICS[request["measure"]]],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=request["most"],
        min_value=0,
        max_value=request["upper"],
    )
    columns = pipeline_dp.DataExtractors(
        privacy_id_extractor=itemgetter(0), partition_extractor=itemgetter(1), value_extractor=itemgetter(2)
    )
    found = engine.aggregate(rows, parameters, columns, public_partitions=request["groups"])
    budget.compute_budgets()
    return list(found)


for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), flush=True)
