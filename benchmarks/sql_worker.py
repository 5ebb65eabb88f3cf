"""One database in a process of its own: answers one JSON line per request, so that its memory and time are its own."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from sql_questions import GRAPH_POLICY, TPCH_POLICY

import sordino as sd
from sordino.engines import connect
from sordino.sql.analysis.steps import find_steps
from sordino.sql.answering.measured import measure_all, open_recorder
from sordino.sql.answering.plan import AnswerOptions

MEGABYTE = 1e6


def resident(kind: str) -> float:
    """VmRSS (now) or VmHWM (peak) in MB; unlike getrusage's, the peak does not begin with the parent's."""
    status = Path("/proc/self/status").read_text()
    found = re.search(rf"{kind}:\s+(\d+) kB", status)
    return int(found.group(1)) * 1024 / MEGABYTE if found else float("nan")


def main(file: str, memory_limit: str) -> None:
    # One connection for both sides: the same threads, the same memory, the same cached pages.
    engine = connect(Path(file), memory_limit=memory_limit or None)
    connection = engine._connection
    curator = sd.connect(engine, policy=GRAPH_POLICY if "facebook" in file else TPCH_POLICY)
    session = curator.session("bench")

    def plain(request: dict[str, Any]) -> dict[str, Any]:
        cursor = connection.cursor()
        start = time.perf_counter()
        found = cursor.execute(request["sql"]).fetchone()
        return {"seconds": time.perf_counter() - start, "exact": float(found[0])}

    def private(request: dict[str, Any]) -> dict[str, Any]:
        start = time.perf_counter()
        released = session.query(request["sql"], request["epsilon"], analyses=request["analyses"])
        return {"seconds": time.perf_counter() - start, "value": released.value}

    def scale(request: dict[str, Any]) -> dict[str, Any]:
        # As `explain` has it, without the bounds at other ε, which need longer sequences.
        options = AnswerOptions.checked(request["epsilon"], 0.0, analyses=request["analyses"])
        plan = curator.plan(request["sql"], options)
        with engine.snapshot() as snapshot:
            cell = measure_all(snapshot, plan)[0]
        step = float(plan.statement.measures[0].step)
        return {"noise_scale": plan.noises[0].facts(cell.bound, ())["noise_scale"] * step}

    def profile(request: dict[str, Any]) -> dict[str, Any]:
        options = AnswerOptions.checked(request["epsilon"], 0.0, analyses=request["analyses"])
        marks = [time.perf_counter()]
        plan = curator.plan(request["sql"], options)
        marks.append(time.perf_counter())
        with open_recorder(engine) as recorder:
            cell = measure_all(recorder, plan)[0]
            marks.append(time.perf_counter())
            plan.noises[0].draw(cell.exact, cell.bound)
            marks.append(time.perf_counter())
        exact, *counts = recorder.seconds
        betas = plan.noises[0].betas
        last = find_steps(plan.statement.join, min(betas)).last if betas else 0
        return {
            "planning": marks[1] - marks[0],
            "exact answer": exact,
            "counts": float(sum(counts)),
            "bounds": marks[2] - marks[1] - sum(recorder.seconds),
            "draw": marks[3] - marks[2],
            "distances": last,
        }

    def memory(_: dict[str, Any]) -> dict[str, Any]:
        return {"now": resident("VmRSS"), "peak": resident("VmHWM")}

    operations = {"plain": plain, "private": private, "scale": scale, "profile": profile, "memory": memory}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = operations[request["op"]](request)
        except sd.SordinoError as error:
            answer = {"refused": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
