"""Tumult Analytics' side of the benchmarks; runs in its own environment, with Spark on two threads."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

import duckdb

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The noisy rows of every run: groups are public, and nobody keeps more than ``most`` rows."""
    connection = duckdb.connect(request["file"], read_only=True)
    frame = connection.execute("SELECT customer_id, city, amount FROM sales").df()
    spark = make_spark()
    session = Session.from_dataframe(
        PureDPBudget(float("inf")),
        "sales",
        spark.createDataFrame(frame),
        protected_change=AddRowsWithID(id_column="customer_id"),
    )
    groups = KeySet.from_dict({"city": request["groups"]})
    grouped = QueryBuilder("sales").enforce(MaxRowsPerID(request["most"])).groupby(groups)
    asked = (
        grouped.count("n")
        if request["measure"] == "count"
        else grouped.sum("amount", 0, request["upper"], name="n")
    )
    seconds, runs = [], []
    until = time.perf_counter() + request["at_most"]
    while len(runs) < request["runs"] and (len(runs) < 2 or time.perf_counter() < until):
        start = time.perf_counter()
        rows = session.evaluate(asked, PureDPBudget(request["epsilon"])).collect()
        seconds.append(time.perf_counter() - start)
        runs.append([[row["city"], str(row["n"])] for row in rows])
    return {"seconds": seconds, "runs": runs}


def make_spark() -> Any:
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": WAREHOUSE,
    }
    builder = SparkSession.builder.master("local[2]").appName("bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


# Spark and its launcher write to standard output too: the answers go where only they go.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
with tempfile.TemporaryDirectory() as WAREHOUSE:
    for line in sys.stdin:
        print(json.dumps(ask(json.loads(line))), file=ANSWERS, flush=True)
