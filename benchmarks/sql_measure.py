"""Time, memory and noise of private answers on one database, each database in a process of its own."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from sql_questions import Question

EPSILON = 1.0
SLOW = 8.0
ALL = ("patterns", "residual", "elastic")
VARIANTS: dict[str, tuple[str, ...]] = {"patterns": ("patterns",), "all": ALL}


class Worker:
    """A running `sql_worker`. Where an answer is later than its limit, the process is ended and a new one started."""

    def __init__(self, file: Path, *, limit: float, memory_limit: str = "", units: str = "") -> None:
        """``units``: who is protected, by a policy of `unit_questions`; rows where nothing is said."""
        script = Path(__file__).with_name("unit_worker.py" if units else "sql_worker.py")
        self.command = [sys.executable, str(script), str(file), units or memory_limit]
        self.limit = limit
        self.before = 0.0
        self.restarts = 0
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.before = self.ask(limit=600.0, op="memory")["peak"]

    def ask(self, *, limit: float | None = None, **request: Any) -> dict[str, Any]:
        """The answer, or {"late": seconds}, or {"refused": why}."""
        pipes = self.process.stdin, self.process.stdout
        if pipes[0] is None or pipes[1] is None:
            raise SystemExit("the worker has no pipes")
        print(json.dumps(request), file=pipes[0], flush=True)
        allowed = self.limit if limit is None else limit
        if not select.select([pipes[1]], [], [], allowed)[0]:
            self.process.kill()
            self.process.wait()
            self.restarts += 1
            self._start()
            return {"late": allowed}
        line = pipes[1].readline()
        if not line:
            raise SystemExit(f"a worker stopped while answering {request['op']} (see above)")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def peak(self) -> float:
        """The most memory in MB; NaN after a restart, since what the process before it needed is not known."""
        if self.restarts:
            return float("nan")
        return float(self.ask(op="memory")["peak"])

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(timeout=30)


def times(worker: Worker, question: Question, rounds: int) -> dict[str, float | str]:
    """Median seconds of the plain query and of each variant, in turns; a text where there is none.

    The first turn warms up; what takes longer than `SLOW` then is not asked again, and that time counts.
    """
    requests: dict[str, dict[str, Any]] = {"plain": {"op": "plain", "sql": question.sql}}
    for name, analyses in VARIANTS.items():
        requests[name] = {"op": "private", "sql": question.sql, "epsilon": EPSILON, "analyses": analyses}
    found: dict[str, list[float]] = {}
    done: dict[str, float | str] = {}
    for turn in range(rounds + 1):
        for name, request in requests.items():
            if name in done:
                continue
            answer = worker.ask(**request)
            if "seconds" not in answer:
                done[name] = _why(answer)
            elif turn:
                found.setdefault(name, []).append(answer["seconds"])
            elif answer["seconds"] > SLOW:
                done[name] = answer["seconds"]
    return {name: done[name] if name in done else median(found[name]) for name in requests}


def profile(worker: Worker, question: Question, rounds: int) -> dict[str, float]:
    """Median seconds of each stage of an answer with all analyses, and how many distances are followed."""
    request = {"op": "profile", "sql": question.sql, "epsilon": EPSILON, "analyses": ALL}
    found = [worker.ask(**request) for _ in range(rounds)]
    if any("planning" not in one for one in found):
        return {}
    return {stage: median(one[stage] for one in found) for stage in found[0]}


def errors(worker: Worker, question: Question) -> dict[str, float]:
    """Expected errors at ε = 1: see `sql_errors.compare_errors`."""
    return _errors(worker, question, ALL)


def error_summary(worker: Worker, question: Question) -> dict[str, Any]:
    """Of an answer as it is by default, over all its numbers: see `sql_errors.summarise_errors`."""
    return _errors(worker, question, None)


def _errors(worker: Worker, question: Question, analyses: Sequence[str] | None) -> dict[str, Any]:
    answer = worker.ask(op="errors", sql=question.sql, epsilon=EPSILON, analyses=analyses)
    if "late" in answer or "refused" in answer:
        raise SystemExit(f"{question.name}: {_why(answer)}")
    return answer


def _why(answer: dict[str, Any]) -> str:
    return f"> {answer['late']:g} s" if "late" in answer else str(answer["refused"])
