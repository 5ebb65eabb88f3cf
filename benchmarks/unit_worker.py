"""One database whose units are protected, in a process of its own: answers one JSON line per request."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from sql_worker import resident
from unit_questions import UNIT_POLICIES

import sordino as sd
from sordino.engines import connect


def main(file: str, units: str) -> None:
    # One connection for both sides: the same threads, the same memory, the same cached pages.
    engine = connect(Path(file))
    connection = engine._connection
    session = sd.connect(engine, policy=UNIT_POLICIES[units]).session("bench")

    def fetch(request: dict[str, Any]) -> dict[str, Any]:
        cursor = connection.cursor()
        start, work = time.perf_counter(), time.process_time()
        rows = cursor.sql(request["sql"]).to_arrow_table().num_rows
        return {**since(start, work), "rows": rows}

    def private(request: dict[str, Any]) -> dict[str, Any]:
        start, work = time.perf_counter(), time.process_time()
        released = session.query(request["sql"], request["epsilon"])
        return {**since(start, work), "value": released.value}

    def memory(_: dict[str, Any]) -> dict[str, Any]:
        return {"now": resident("VmRSS"), "peak": resident("VmHWM")}

    operations = {"fetch": fetch, "private": private, "memory": memory}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(operations[request["op"]](request)), flush=True)


def since(start: float, work: float) -> dict[str, float]:
    """Wall and processor seconds."""
    return {"seconds": time.perf_counter() - start, "processor": time.process_time() - work}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
