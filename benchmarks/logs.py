"""Event logs: a million entries in the clear, and secret correlation against the number of entries.

In the clear, the peer is the rule in plain Python, with a dictionary from values to chains. Each runs in a process of
its own without garbage collection; seconds are CPU time of all its threads, and peak memory is what it needs above an
idle one with the library and the log. In secret: three processes with MPyC beside the emulation and beside the report's
prototype, emulated with the same equality tests. Exponents are slopes of the logarithms by least squares, from 50
entries on: below, starting three processes takes most of the time.

    python benchmarks/logs.py [--quick] [--write-docs]
"""

from __future__ import annotations

import gc
import json
import math
import resource
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
from log_prototype import run_prototype
from report import Check, Report, medians, rewrite

import sordino as sd
from sordino.logs.codes import draw_key, encode_secretly
from sordino.logs.entries import make_entries
from sordino.logs.machine import Emulation, Machine
from sordino.logs.synthesis import synthesise_logs

SIZES = (12, 25, 50, 100, 200, 400)
PROTOTYPE_SIZES = (12, 25, 50, 100, 200)
VALUES = ["ip", "user"]


def make_log(entries: int) -> pa.Table:
    """Two owners, addresses and users in use several times each, a tenth of the values missing."""
    generator = np.random.default_rng(18)
    columns = {}
    for name, pool in (("ip", entries // 3), ("user", entries // 4)):
        texts = pa.array([f"{name}-{number:08d}" for number in range(pool)])
        places = pa.array(generator.integers(0, pool, entries), mask=generator.random(entries) < 0.1)
        columns[name] = texts.take(places)
    owners = pa.array(["a", "b"]).take(pa.array(generator.integers(0, 2, entries)))
    return pa.table({"time": generator.integers(0, entries, entries), "owner": owners, **columns})


def correlate_plainly(log: pa.Table) -> dict[str, list[tuple[int, int]]]:
    """The rule as it is usually written down: for each value the chains whose last entry has it."""
    rows = list(zip(*(log.column(name).to_pylist() for name in ("time", "owner", *VALUES)), strict=True))
    order = sorted(range(len(rows)), key=lambda row: rows[row][0])
    ends: dict[str, set[int]] = {}
    number, last_of = [0] * len(rows), {}
    for place, row in enumerate(order, start=1):
        values = {value for value in rows[row][2:] if value is not None}
        candidates = [chain for value in values for chain in ends.get(value, ())]
        if candidates:
            chain = max(candidates, key=lambda chain: last_of[chain][0])
            for value in last_of[chain][1]:
                ends[value].discard(chain)
        else:
            chain = place
        last_of[chain] = (place, values)
        for value in values:
            ends.setdefault(value, set()).add(chain)
        number[place - 1] = chain
    chains: dict[int, list[int]] = {}
    for place, chain in enumerate(number, start=1):
        chains.setdefault(chain, []).append(place)
    result: dict[str, list[tuple[int, int]]] = {"a": [], "b": []}
    for chain, places in chains.items():
        for owner in {rows[order[place - 1]][1] for place in places} if len(places) > 1 else ():
            result[owner].extend((place, chain) for place in places)
    return result


def work(method: str, entries: int) -> dict[str, float]:
    """In a process of its own: CPU seconds, peak memory above the idle process with the log, and a sum to compare."""
    log = make_log(entries)
    sd.logs.correlate(make_log(100), values=VALUES)  # loads what it needs, and compiles once
    gc.disable()  # it would take half of the plain version's time
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if method == "sordino":
        begun = time.process_time()
        chains = sd.logs.correlate(log, values=VALUES)
        seconds = time.process_time() - begun
        found = chains.for_owner("a")
        check = sum((found.column("place").to_numpy() * found.column("chain").to_numpy() % 1000003).tolist())
    else:
        begun = time.process_time()
        result = correlate_plainly(log)
        seconds = time.process_time() - begun
        check = sum(place * chain % 1000003 for place, chain in result["a"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "memory": (peak - idle) / 1024, "check": check}


def run_plain(quick: bool) -> Report:
    rows, raw, checks = [], {}, []
    for entries in (10**4, 10**5) if quick else (10**5, 10**6):
        found: dict[str, list[dict[str, float]]] = {"sordino": [], "plain Python": []}
        for _ in range(1 if quick else 3):
            for method, runs in found.items():
                said = subprocess.run(
                    [sys.executable, __file__, "--work", method, str(entries)],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                runs.append(json.loads(said.stdout))
        seconds = medians({name: [run["seconds"] for run in runs] for name, runs in found.items()})
        memory = medians({name: [run["memory"] for run in runs] for name, runs in found.items()})
        same = len({run["check"] for runs in found.values() for run in runs}) == 1
        for name in found:
            ratio = seconds[name] / seconds["sordino"]
            rows.append([f"{entries:,}", name, f"{seconds[name]:.2f}", f"{ratio:.1f}", f"{memory[name]:.0f}"])
        raw[str(entries)] = {"seconds": seconds, "memory": memory}
        checks.append(Check(f"both find the same chains at {entries:,}", "yes" if same else "no", same))
    fast = seconds["sordino"] < 10
    checks.append(Check(f"{entries:,} entries take seconds", f"{seconds['sordino']:.2f} s", fast))
    header = ["entries, 2 columns", "", "CPU seconds", "times Sordino's", "peak memory, MB"]
    return Report("logs-plain", header, rows, checks, raw)


def fit_slope(points: dict[int, float]) -> float:
    large = {n: value for n, value in points.items() if n >= 50}
    x, y = ([math.log(value) for value in values] for values in (large.keys(), large.values()))
    return float(np.polyfit(x, y, 1)[0])


def run_secret(quick: bool) -> Report:
    sizes, small = (SIZES[:4], PROTOTYPE_SIZES[:4]) if quick else (SIZES, PROTOTYPE_SIZES)
    rows, checks = [], []
    products: dict[str, dict[int, float]] = {"ours": {}, "prototype": {}}
    seconds: dict[str, dict[int, float]] = {"ours": {}, "emulated": {}, "prototype": {}}
    for n in sizes:
        logs = synthesise_logs(n)
        plain = sd.logs.correlate(logs, values=VALUES)
        begun = time.perf_counter()
        emulated = sd.logs.correlate_secret(logs, values=VALUES, backend="emulate")
        middle = time.perf_counter()
        secret = sd.logs.correlate_secret(logs, values=VALUES, progress=None)
        seconds["ours"][n], seconds["emulated"][n] = time.perf_counter() - middle, middle - begun
        done = secret.operations
        products["ours"][n] = done.products
        same = plain.numbers == emulated.numbers == secret.numbers and done == emulated.operations
        row = [str(n), f"{done.products:,}", f"{done.rounds:,}", f"{seconds['emulated'][n]:.2f}"]
        row.append(f"{seconds['ours'][n]:.1f}")
        if n in small:
            entries = make_entries(logs, values=VALUES)
            machine = Machine(Emulation())
            begun = time.perf_counter()
            labels = run_prototype(encode_secretly(entries, draw_key()), machine)
            seconds["prototype"][n] = time.perf_counter() - begun
            products["prototype"][n] = machine.operations.products
            same = same and labels.tolist() == plain.numbers
            row += [f"{products['prototype'][n]:,}", f"{seconds['prototype'][n]:.2f}"]
        else:
            row += ["", ""]
        rows.append(row)
        checks.append(Check(f"equal chains for n = {n}", "yes" if same else "no", same))
    slopes = {name: fit_slope(points) for name, points in products.items()}
    timed, prototype = fit_slope(seconds["ours"]), fit_slope(seconds["prototype"])
    rows.append(
        [
            "exponent",
            f"{slopes['ours']:.2f}",
            "",
            "",
            f"{timed:.2f}",
            f"{slopes['prototype']:.2f}",
            f"{prototype:.2f}",
        ]
    )
    checks = [
        Check(
            "plain, emulated and secret chains are equal at every n",
            f"{len(sizes)} sizes",
            all(c.met for c in checks),
        ),
        Check("products grow with the square", f"exponent {slopes['ours']:.2f}", 1.8 < slopes["ours"] < 2.2),
        Check(
            "the prototype's grow faster",
            f"{slopes['prototype']:.2f}",
            slopes["prototype"] > slopes["ours"] + 0.3,
        ),
    ]
    if 200 in seconds["ours"]:
        took = seconds["ours"][200]
        checks.append(Check("n = 200 on three processes in minutes", f"{took:.1f} s", took < 600))
    header = [
        "n",
        "products",
        "rounds",
        "emulated, s",
        "three processes, s",
        "prototype's products",
        "its emulation, s",
    ]
    raw = {"products": products, "seconds": seconds, "slopes": slopes}
    return Report("logs-secret", header, rows, checks, raw)


def run(quick: bool) -> list[Report]:
    return [question(quick) for question in (run_plain, run_secret)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        print(json.dumps(work(sys.argv[2], int(sys.argv[3]))))
    else:
        for question in (run_plain, run_secret):
            found = question("--quick" in sys.argv)
            print(found.markdown(), end="\n\n", flush=True)
            if "--write-docs" in sys.argv:
                rewrite(found.marker, found.markdown())
