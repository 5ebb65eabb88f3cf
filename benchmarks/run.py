"""Sordino beside its peers in one run: tables here, JSON in results/, with --write-docs also docs/benchmarks/."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import defaults
import graph_centrality
import graph_counts
import graph_hubs
import graph_top_k
import law_speed
import logs
import noise_speed
import peers
import quantile
import report
import risk
import selection_error
import selection_speed
import series
import server
import solver
import sql_engines
import sql_graph
import sql_groups
import sql_memory
import sql_noise
import sql_peers
import sql_quantiles
import sql_rows
import sql_tpch
import tree_accuracy
import tree_speed
import tree_table
import unit_flows
import unit_keys
import unit_peers
import unit_tpch
from rich.console import Console
from rich.table import Table

QUESTIONS: dict[str, Callable[[bool], report.Report | list[report.Report]]] = {
    "defaults": defaults.run,
    "selection_speed": selection_speed.run,
    "quantile": quantile.run,
    "selection_error": selection_error.run,
    "law_speed": law_speed.run,
    "noise_speed": noise_speed.run,
    "graph_centrality": graph_centrality.run,
    "graph_counts": graph_counts.run,
    "graph_hubs": graph_hubs.run,
    "graph_top_k": graph_top_k.run,
    "tree_speed": tree_speed.run,
    "tree_accuracy": tree_accuracy.run,
    "tree_table": tree_table.run,
    "sql_tpch": sql_tpch.run,
    "sql_noise": sql_noise.run,
    "sql_rows": sql_rows.run,
    "sql_postgresql": sql_engines.run_postgresql,
    "sql_spark": sql_engines.run_spark,
    "sql_memory": sql_memory.run,
    "sql_graph": sql_graph.run,
    "sql_groups": sql_groups.run,
    "sql_peers": sql_peers.run,
    "sql_quantiles": sql_quantiles.run,
    "solver": solver.run,
    "risk": risk.run,
    "unit_flows": unit_flows.run,
    "series": series.run,
    "logs": logs.run,
    "server": server.run,
    "unit_tpch": unit_tpch.run_errors,
    "unit_tpch_time": unit_tpch.run_times,
    "unit_peers": unit_peers.run,
    "unit_peers_slow": unit_peers.run_slow,
    "unit_keys": unit_keys.run,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions: does it run?")
    parser.add_argument("--write-docs", action="store_true", help="rewrite the tables of the pages")
    parser.add_argument("--only", choices=list(QUESTIONS), action="append", help="one question (repeatable)")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    results: dict[str, Any] = {"quick": options.quick}
    checks = []
    for name in options.only or QUESTIONS:
        start = time.perf_counter()
        found = QUESTIONS[name](options.quick)
        for part in found if isinstance(found, list) else [found]:
            show(console, part)
            checks += part.checks
            results[part.marker] = {"table": [part.header, *part.rows], "raw": part.raw}
            results[part.marker] |= {"checks": [check.line() for check in part.checks]}
            if options.write_docs:
                report.rewrite(part.marker, part.markdown())
        console.print(f"[dim]{name}: {time.perf_counter() - start:.0f} s[/dim]")
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), **peers.versions()}
    results["machine"] = machine
    if options.write_docs:
        about = ", ".join(
            f"{key} {value}" for key, value in machine.items() if key not in ("cores", "machine")
        )
        report.rewrite("machine", f"Measured on {machine['cores']} cores ({machine['machine']}), {about}.")
    folder = report.ROOT / "results"
    folder.mkdir(exist_ok=True)
    (folder / "benchmarks.json").write_text(json.dumps(results, indent=1, ensure_ascii=False))
    missed = sum(not check.met for check in checks)
    console.print(f"{len(checks) - missed} of {len(checks)} targets met; results/benchmarks.json written")


def show(console: Console, part: report.Report) -> None:
    table = Table(title=part.marker.replace("-", " "))
    for column in part.header:
        table.add_column(column)
    for row in part.rows:
        table.add_row(*row)
    console.print(table)
    for check in part.checks:
        console.print(check.line().replace("**", ""))


if __name__ == "__main__":
    main()
