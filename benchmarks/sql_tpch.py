"""TPC-H on DuckDB: a private answer beside the plain query, at two scales; and the noise of each analysis."""

from __future__ import annotations

from report import Check, Report
from sql_data import tpch
from sql_measure import VARIANTS, Worker, noises, times
from sql_questions import TPCH
from sql_tables import Times, growth_table, noise_table, ratio_check, time_table

SCALES = ("0.1", "1")
MOST = {"patterns": 6.0, "all": 25.0}
MEMORY = 500.0
MEMORY_LIMIT = "224MB"  # of DuckDB, for the plain query too; beyond it joins and groups go to disk
LIMIT = 45.0


def run(quick: bool = False) -> list[Report]:
    small, large = ("0.01", "0.1") if quick else SCALES
    found: dict[str, dict[str, Times]] = {}
    memory = []
    for scale in (small, large):
        with Worker(tpch(scale), limit=LIMIT, memory_limit=MEMORY_LIMIT) as worker:
            found[scale] = {question.name: times(worker, question, 1 if quick else 7) for question in TPCH}
            memory = [worker.before, worker.peak()]
    with Worker(tpch(small), limit=LIMIT) as worker:
        noise = {question.name: noises(worker, question) for question in TPCH if question.tables > 1}
    checks = [ratio_check(found[large], name, MOST[name], f", scale {large}") for name in VARIANTS]
    told = f"{memory[1]:.0f} MB ({memory[0]:.0f} MB before the first question)"
    checks.append(Check(f"the process stays below {MEMORY:.0f} MB, scale {large}", told, memory[1] < MEMORY))
    return [
        time_table("sql-tpch-times", TPCH, found[large], checks),
        growth_table("sql-tpch-growth", TPCH, found[small], found[large], (small, large)),
        noise_table("sql-tpch-noise", noise),
    ]
