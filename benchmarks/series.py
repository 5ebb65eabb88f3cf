"""Running totals: the standard deviation of a total and the time per change, beside a plain tree and OpenDP's.

Errors of ours are exact (`error(i)`); OpenDP's b-ary tree with consistency is measured, from all its totals. It
releases a whole finished stream at once, so later changes help earlier totals: it is no answer as the changes come.
The plain implementation is the binary tree of the textbooks in pure Python, with floating-point Laplace noise.
Speeds are CPU times of one process; of the plain tree and OpenDP's, ten times that of a tenth of the changes.
"""

from __future__ import annotations

import random
import time

import numpy as np
from peers import Peer
from report import Check, Report, interleaved, medians

import sordino as sd

HORIZONS = (365, 8760, 65536)


def plain_tree(changes: list[int], epsilon: float) -> list[float]:
    """Chan, Shi and Song's binary mechanism as it is usually written down; not private to the last bit."""
    levels = len(changes).bit_length()
    sums, noisy, totals = [0.0] * (levels + 1), [0.0] * (levels + 1), []
    for number, change in enumerate(changes, start=1):
        low = (number & -number).bit_length() - 1
        sums[low] = sum(sums[:low]) + change
        for level in range(low):
            sums[level] = noisy[level] = 0.0
        scale = levels / epsilon
        noisy[low] = sums[low] + random.expovariate(1 / scale) - random.expovariate(1 / scale)
        totals.append(sum(noisy[level] for level in range(levels + 1) if number >> level & 1))
    return totals


def errors(quick: bool, opendp: Peer) -> list[Report]:
    rows, raw, checks = [], {}, []
    for horizon in HORIZONS[:1] if quick else HORIZONS:
        found = sd.series.advise(horizon, epsilon=1.0)
        for row in found.rows:
            rows.append(
                [
                    f"{horizon:,}",
                    row.name,
                    f"{row.worst_error:.4g}",
                    f"{row.mean_error:.4g}",
                    f"{row.memory:,}",
                ]
            )
            raw[f"{horizon}, {row.name}"] = [row.worst_error, row.mean_error]
        base = next(
            row for row in found.rows if row.name.startswith("block tree") and not row.name.endswith(" 2")
        )
        runs = 20 if quick else 10**5 // horizon + 10
        answer = opendp.ask(op="tree", leaves=horizon, branching=16, epsilon=1.0, draws=runs)
        totals = np.cumsum(np.array(answer["results"]), axis=1)
        deviations = totals.std(axis=0)
        rows.append(
            [f"{horizon:,}", "OpenDP b-ary tree of 16, consistent, offline", f"{deviations.max():.4g}",
             f"{deviations.mean():.4g}", f"{horizon:,}"]
        )  # fmt: skip
        raw[f"{horizon}, opendp"] = [float(deviations.max()), float(deviations.mean())]
        binary = next(row for row in found.rows if row.name.endswith("base 2"))
        ratio = (binary.worst_error / found.best.worst_error) ** 2
        checks.append(
            Check(
                f"subtraction has less variance than the binary tree at {horizon:,}",
                f"{ratio:.1f} times less",
                ratio > 4,
            )
        )
        checks.append(
            Check(
                f"the automatic base beats base 2 at {horizon:,}",
                f"{binary.worst_error / base.worst_error:.2f} times",
                base.worst_error < binary.worst_error,
            )
        )
    pure = Report(
        "series-error", ["times", "at ε = 1", "worst std", "mean std", "numbers kept"], rows, checks, raw
    )
    rows, raw, checks = [], {}, []
    for horizon in HORIZONS[:1] if quick else HORIZONS:
        found = sd.series.advise(horizon, rho=0.5)
        for row in found.rows:
            rows.append(
                [
                    f"{horizon:,}",
                    row.name,
                    f"{row.worst_error:.4g}",
                    f"{row.mean_error:.4g}",
                    f"{row.memory:,}",
                ]
            )
            raw[f"{horizon}, {row.name}"] = [row.worst_error, row.mean_error]
        if horizon == 365:
            for published, name, largest in (
                ("tree", "block tree of base 2", 8.9),
                ("Honaker's tree", "subtraction tree", 6.9),
                ("factorization", "square-root", 2.95),
            ):
                error = next(row.worst_error for row in found.rows if row.name.startswith(name))
                checks.append(
                    Check(
                        f"no worse than the published {published}, {largest}",
                        f"{name} {error:.3f}",
                        error <= largest,
                    )
                )
    return [
        pure,
        Report(
            "series-zcdp", ["times", "at ρ = 1/2", "worst std", "mean std", "numbers kept"], rows, checks, raw
        ),
    ]


def speed(quick: bool, opendp: Peer) -> Report:
    count = 10**5 if quick else 10**6
    changes = np.random.default_rng(1).integers(0, 5, count)
    listed = changes[: count // 10].tolist()

    def ours(make: object) -> float:
        series = make()  # type: ignore[operator]
        start = time.process_time()
        series.extend(changes)
        return time.process_time() - start

    def plainly() -> float:
        start = time.process_time()
        plain_tree(listed, 1.0)
        return (time.process_time() - start) * 10

    def theirs() -> float:
        request = {
            "op": "tree",
            "leaves": len(listed),
            "branching": 16,
            "epsilon": 1.0,
            "draws": 1,
            "silent": True,
        }
        return float(opendp.ask(**request)["seconds"]) * 10

    methods = {
        "Sordino block tree, base auto": lambda: ours(lambda: sd.series.BlockTree(count, 1.0)),
        "Sordino block tree, base 2": lambda: ours(lambda: sd.series.BlockTree(count, 1.0, base=2)),
        "Sordino subtraction tree": lambda: ours(lambda: sd.series.SubtractionTree(count, 1.0)),
        "plain binary tree in Python": plainly,
        "OpenDP b-ary tree of 16, offline": theirs,
    }
    found = medians(interleaved(methods, 2 if quick else 5))
    rows = [[name, f"{seconds:.3g} s", f"{count / seconds / 1e6:.2f}"] for name, seconds in found.items()]
    best = count / found["Sordino block tree, base auto"]
    tree = sd.series.BlockTree(count, 1.0)
    for change in listed[:200]:
        tree.push(change)
    kept = len(tree._open) + len(tree._released)
    checks = [
        Check("10⁶ changes per second, exact draws", f"{best / 1e6:.2f} million", best > 10**6),
        Check(
            "the state holds two numbers per level",
            f"{kept} numbers for {count:,} times",
            kept == 2 * tree.levels,
        ),
    ]
    return Report(
        "series-speed",
        [f"{count:,} changes in an array", "CPU time", "million per second"],
        rows,
        checks,
        found,
    )


def run(quick: bool = False) -> list[Report]:
    with Peer("opendp") as opendp:
        return [*errors(quick, opendp), speed(quick, opendp)]
