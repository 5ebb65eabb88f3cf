"""One database in a process of its own: answers one JSON line per request, so that its memory and time are its own.

All times are processor time: the machine may have other work.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from sql_questions import POLICIES, with_keys
from sqlglot import exp

import sordino as sd
from sordino.engines import connect
from sordino.sql.analysis.steps import find_steps
from sordino.sql.answering.measured import Recorder, measure_all
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units.plan import UnitPlan

MEGABYTE = 1e6


def resident(kind: str) -> float:
    """VmRSS (now) or VmHWM (peak) in MB; unlike getrusage's, the peak does not begin with the parent's."""
    status = Path("/proc/self/status").read_text()
    found = re.search(rf"{kind}:\s+(\d+) kB", status)
    return int(found.group(1)) * 1024 / MEGABYTE if found else float("nan")


class Clock(Recorder):
    """Keeps the processor time of every statement, all threads of the engine included."""

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        began = time.process_time()
        answer = self.inner.aggregate(expression)
        self.seconds.append(time.process_time() - began)
        return answer


def main(file: str, memory_limit: str) -> None:
    # One connection for both sides: the same threads, the same memory, the same cached pages.
    engine = connect(Path(file), memory_limit=memory_limit or None)
    connection = engine._connection
    curator = sd.connect(engine, policy=POLICIES[Path(file).stem])
    session = curator.session("bench")
    keyed = sd.connect(engine, policy=with_keys(POLICIES[Path(file).stem]))

    def plain(request: dict[str, Any]) -> dict[str, Any]:
        cursor = connection.cursor()
        start = time.process_time()
        found = cursor.execute(request["sql"]).fetchone()
        return {"seconds": time.process_time() - start, "exact": float(found[0])}

    def private(request: dict[str, Any]) -> dict[str, Any]:
        start = time.process_time()
        released = session.query(request["sql"], request["epsilon"], analyses=request["analyses"])
        return {"seconds": time.process_time() - start, "value": released.value}

    def errors(request: dict[str, Any]) -> dict[str, Any]:
        # Here, since what it loads is no part of the memory of an answer.
        from sql_errors import compare_errors, further_betas, summarise_errors

        epsilon = request["epsilon"]
        plan = curator.plan(request["sql"], AnswerOptions.checked(epsilon, 0.0, analyses=request["analyses"]))
        compared = request["analyses"] is not None
        with engine.snapshot() as snapshot:
            cells = measure_all(snapshot, plan, betas=further_betas(epsilon) if compared else ())
        return compare_errors(plan, cells[0], epsilon) if compared else summarise_errors(plan, cells)

    def rows(request: dict[str, Any]) -> dict[str, Any]:
        """With keys or without, by smooth bounds or by truncation: the mean expected error, and the time."""
        from sql_errors import summarise_errors

        asked = keyed if request["keys"] else curator
        start = time.perf_counter()
        try:
            asked.session("bench").query(request["sql"], request["epsilon"], mechanism=request["mechanism"])
        except sd.EngineError:
            asked.resume("bench")  # more results than are shared out
            raise
        seconds = time.perf_counter() - start
        options = AnswerOptions.checked(request["epsilon"], mechanism=request["mechanism"])
        plan = asked.plan(request["sql"], options)
        with engine.snapshot() as snapshot:
            if isinstance(plan, UnitPlan):
                (part,) = plan.parts
                facts = part.find_facts(snapshot, plan.statement, plan.owners, (0.95,))
                found = [one.expected_error for one in facts.values() if one.expected_error is not None]
                error = sum(found) / len(found)
                return {"seconds": seconds, "error": error, "owners": len(plan.owners.owners)}
            error = summarise_errors(plan, measure_all(snapshot, plan))["error"]
        return {"seconds": seconds, "error": error}

    def profile(request: dict[str, Any]) -> dict[str, Any]:
        options = AnswerOptions.checked(request["epsilon"], 0.0, analyses=request["analyses"])
        marks = [time.process_time()]
        plan = curator.plan(request["sql"], options)
        marks.append(time.process_time())
        with engine.snapshot() as snapshot:
            recorder = Clock(snapshot, engine.dialect)
            cell = measure_all(recorder, plan)[0]
            marks.append(time.process_time())
            plan.noises[0].draw(cell.exact, cell.follows)
            marks.append(time.process_time())
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

    operations = {
        "plain": plain,
        "private": private,
        "errors": errors,
        "rows": rows,
        "profile": profile,
        "memory": memory,
    }
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = operations[request["op"]](request)
        except sd.SordinoError as error:
            answer = {"refused": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
