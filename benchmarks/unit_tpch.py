"""Whole customers, orders and suppliers of TPC-H: the error beside R2T's, and the time beside the plain query by owner.

R2T is rebuilt here: a race of limits, from the plain contributions for one owner and from the same flows for two. Our
mean is that of the exact law; both sides are also drawn two hundred times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import duckdb
import numpy as np
from report import Check, Report
from shared_families import middle, race_errors
from sql_data import tpch
from sql_measure import Worker
from unit_questions import EPSILON, MOST, QUESTIONS, UNIT_POLICIES, UnitQuestion

import sordino as sd
from sordino.engines import connect
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units.contributions import count_sizes
from sordino.sql.units.plan import UnitPlan
from sordino.sql.units.shared import SharedPart, read_shared
from sordino.sql.units.truncated import TruncatedPart
from sordino.units.truncated_total import bound_within

RUNS = 200
RACES = 100_000  # for R2T's mean, which rare draws rule
LESS_ERROR = {1: 10.0, 2: 5.0}
SLOWER = 3.0
SCALES = ("0.1", "1")
ROUNDS = 3
# R2T's limits: powers of two, or of five, by which it comes near its printed errors.
LIMITS = {
    base: [min(base**j, MOST) for j in range(1, math.ceil(math.log(MOST, base)) + 1)] for base in (2, 5)
}


def run_errors(quick: bool = False) -> Report:
    return compare_errors(tpch("0.1" if quick else SCALES[1]))


def run_times(quick: bool = False) -> list[Report]:
    small, large = ("0.01", "0.1") if quick else SCALES
    return compare_times(small, large, 1 if quick else ROUNDS)


@dataclass(frozen=True)
class Found:
    """Of one question: the truth, the largest contribution, what each of R2T's limits leaves, and our errors."""

    exact: int
    largest: int
    totals: dict[int, list[float]]
    expected: float
    drawn: Sequence[float]


def compare_errors(file: Path) -> Report:
    rows, checks, raw = [], [], {}
    engine = connect(file)
    for question in QUESTIONS:
        with sd.connect(engine, policy=UNIT_POLICIES[question.units]) as curator:
            plan = curator.plan(question.sql, AnswerOptions.checked(EPSILON, 0.0))
        found = (
            _ask_one(engine, plan, question)
            if len(question.owners) == 1
            else _ask_two(engine, plan, question)
        )
        truth = float(found.exact)
        by_base = {
            base: race_errors(found.totals[base], truth, limits, EPSILON, RUNS, seed=2)
            for base, limits in LIMITS.items()
        }
        theirs = min(by_base.values(), key=middle)
        their_mean = min(
            float(race_errors(found.totals[base], truth, limits, EPSILON, RACES, seed=3).mean())
            for base, limits in LIMITS.items()
        )
        ours = np.array(found.drawn)
        known = _middle_laplace(found.largest / EPSILON)
        ratio, ratio_of_means = middle(theirs) / middle(ours), their_mean / found.expected
        cells = [*map(middle, by_base.values()), middle(ours), known, their_mean, found.expected, mean(ours)]
        rows.append(
            [
                f"{question.name}, {question.units}",
                f"{found.exact:,}",
                f"{found.largest:,}",
                *(f"{cell:,.0f}" for cell in cells),
                f"{ratio:.0f}×",
                f"{ratio_of_means:.0f}×",
            ]
        )
        least = LESS_ERROR[len(question.owners)]
        checks.append(
            Check(
                f"{question.name}: at least {least:.0f} times less error than R2T, and no larger mean",
                f"{ratio:.0f} times, mean {ratio_of_means:.0f} times",
                ratio >= least and ratio_of_means >= 1,
            )
        )
        raw[question.name] = {
            "r2t": middle(theirs),
            "ours": middle(ours),
            "means": [their_mean, found.expected],
        }
    engine.close()
    header = [
        "question, units",
        "exact",
        "largest",
        "R2T, base 2",
        "R2T, base 5",
        "Sordino",
        "largest known",
        "R2T, mean",
    ]
    header += ["Sordino, mean", "of the runs", "R2T / Sordino", "means"]
    return Report("unit-tpch-error", header, rows, checks, raw)


def _ask_one(engine: Any, plan: UnitPlan, question: UnitQuestion) -> Found:
    """Minima per owner; R2T's straight from the plain query by owner."""
    (part,) = plan.parts
    if not isinstance(part, TruncatedPart):
        raise SystemExit(f"{question.name} has more than one owner")
    (noise,) = part.noises
    with engine.snapshot() as snapshot:
        (sizes,) = count_sizes(snapshot, plan.statement, plan.owners, [noise.grid])
    every = [limit for limits in LIMITS.values() for limit in limits]
    least = ", ".join(f"SUM(LEAST(n, {limit}))" for limit in every)
    exact, largest, *found = _fetch(engine, f"SELECT SUM(n), MAX(n), {least} FROM ({question.grouped})")
    left = dict(zip(every, found, strict=True))
    totals = {base: [left[limit] for limit in limits] for base, limits in LIMITS.items()}
    drawn = []
    for _ in range(RUNS):
        index = noise.choose(sizes.above)
        (cell,) = noise.draw(noise.grid[index], [sizes.totals[index]], 1)
        drawn.append(abs(cell.steps - exact))
    return Found(int(exact), int(largest), totals, noise.expected_error(sizes.above, sizes.totals), drawn)


def _ask_two(engine: Any, plan: UnitPlan, question: UnitQuestion) -> Found:
    """Flows, for R2T too, at its own limits."""
    (part,) = plan.parts
    if not isinstance(part, SharedPart):
        raise SystemExit(f"{question.name} has one owner only")
    flow = part.flow
    with engine.snapshot() as snapshot:
        shared = read_shared(snapshot, plan.statement, plan.owners, most=flow.most_results)
    results = flow.gather(shared.owners, shared.added)
    measures = flow.measure(results)
    exact, *largest = _fetch(
        engine,
        f"WITH pairs AS ({question.grouped}) SELECT (SELECT SUM(n) FROM pairs)"
        + "".join(
            f", (SELECT MAX(t) FROM (SELECT SUM(n) AS t FROM pairs GROUP BY {owner}))"
            for owner in question.owners
        ),
    )
    drawn = [abs(flow.release(flow.choose(measures), measures) - exact) for _ in range(RUNS)]
    left = dict(zip(flow.grid, measures.totals, strict=True))
    left |= {limit: bound_within(results.cut(MOST), limit) for limit in LIMITS[5] if limit not in left}
    totals = {base: [float(left[limit]) for limit in limits] for base, limits in LIMITS.items()}
    return Found(int(exact), int(max(largest)), totals, flow.expected_error(measures), drawn)


def _fetch(engine: Any, sql: str) -> list[float]:
    cursor: duckdb.DuckDBPyConnection = engine._connection.cursor()
    row = cursor.execute(sql).fetchall()[0]
    return [float(cell) for cell in row]


def _middle_laplace(scale: float) -> float:
    """The mean of the middle 60 % of |Laplace noise|: of −scale·ln(1 − p) over p from 0.2 to 0.8."""
    return scale * (0.6 + 0.2 * math.log(0.2) - 0.8 * math.log(0.8)) / 0.6


def compare_times(small: str, large: str, rounds: int) -> list[Report]:
    """Medians of turns in a process per question, whose peak is then known too."""
    found = {
        scale: {question.name: _measure(tpch(scale), question, rounds) for question in QUESTIONS}
        for scale in (small, large)
    }
    rows, growth, checks = [], [], []
    for question in QUESTIONS:
        before, after = found[small][question.name], found[large][question.name]
        ratios = [after["private"][i] / after["grouped"][i] for i in (0, 1)]
        rows.append(
            [
                f"{question.name}, {question.units}",
                *(f"{after[kind][0]:.2f} s" for kind in ("plain", "grouped", "private")),
                f"{ratios[0]:.1f}×",
                f"{ratios[1]:.1f}×",
                f"{after['memory'][0]:,.0f} MB",
            ]
        )
        times = {kind: after[kind][1] / before[kind][1] for kind in ("plain", "grouped", "private")}
        growth.append([f"{question.name}, {question.units}", *(f"{times[kind]:.1f}×" for kind in times)])
        if len(question.owners) == 1:
            told = f"{ratios[0]:.1f}×, processor time {ratios[1]:.1f}×"
            target = f"{question.name}: at most {SLOWER:.0f} times the plain query by owner"
            checks.append(Check(target, told, ratios[0] <= SLOWER))
    header = [
        "question, units",
        "plain",
        "plain by owner",
        "private",
        "private / by owner",
        "processor",
        "peak",
    ]
    reports = [Report("unit-tpch-time", header, rows, checks, raw=found)]
    header = ["question, units", "plain", "plain by owner", "private"]
    return [*reports, Report("unit-tpch-growth", header, growth)]


def _measure(file: Path, question: UnitQuestion, rounds: int) -> dict[str, tuple[float, float]]:
    requests: dict[str, dict[str, Any]] = {
        "plain": {"op": "fetch", "sql": question.sql},
        "grouped": {"op": "fetch", "sql": question.grouped},
        "private": {"op": "private", "sql": question.sql, "epsilon": EPSILON},
    }
    taken: dict[str, list[tuple[float, float]]] = {kind: [] for kind in requests}
    warm_up = len(question.owners) == 1  # flows take so long that imports do not matter
    with Worker(file, limit=600.0, units=question.units) as worker:
        for turn in range(rounds + warm_up):
            for kind, request in requests.items():
                answer = worker.ask(**request)
                if "seconds" not in answer:
                    raise SystemExit(f"{question.name}: {answer}")
                if turn >= warm_up:
                    taken[kind].append((answer["seconds"], answer["processor"]))
        peak = worker.peak()
    medians = {
        kind: (median(w for w, _ in pairs), median(p for _, p in pairs)) for kind, pairs in taken.items()
    }
    return {**medians, "memory": (peak, peak)}
