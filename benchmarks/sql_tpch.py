"""TPC-H on DuckDB: a private answer beside the plain query, at two scales, and where the time goes."""

from __future__ import annotations

from math import isnan

from report import Check, Report
from sql_data import tpch
from sql_measure import VARIANTS, Worker, profile, times
from sql_questions import TPCH
from sql_tables import (
    Times,
    growth_table,
    median_check,
    profile_table,
    ratio_check,
    time_table,
)

SCALES = ("0.1", "1")
MOST = {"patterns": 5.0, "all": 10.0}
IN_THE_MEDIAN = 5.0
MEMORY = 500.0
LIMIT = 240.0
ROUNDS = 5


def run(quick: bool = False) -> list[Report]:
    small, large = ("0.01", "0.1") if quick else SCALES
    found: dict[str, dict[str, Times]] = {}
    memory, profiles = [], {}
    for scale in (small, large):
        with Worker(tpch(scale), limit=LIMIT) as worker:
            found[scale] = {question.name: times(worker, question, ROUNDS) for question in TPCH}
            profiles = {question.name: profile(worker, question, ROUNDS) for question in TPCH}
            memory = [worker.before, worker.peak()]
    checks = [ratio_check(found[large], name, MOST[name], f", scale {large}") for name in VARIANTS]
    checks.append(median_check(found[large], "all", IN_THE_MEDIAN, f", scale {large}"))
    told = f"{memory[1]:.0f} MB ({memory[0]:.0f} MB before the first question)"
    if isnan(memory[1]):
        told = "not measured, a process was ended as late"
    checks.append(Check(f"the process stays below {MEMORY:.0f} MB, scale {large}", told, memory[1] < MEMORY))
    return [
        time_table("sql-tpch-times", TPCH, found[large], checks),
        profile_table("sql-tpch-profile", profiles),
        growth_table("sql-tpch-growth", TPCH, found[small], found[large], (small, large)),
    ]
