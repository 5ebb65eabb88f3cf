"""What the owner may know about a question before anybody asks it. Nothing here is private, and nothing is spent."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

from sordino.core import SordinoError
from sordino.engines import Engine, FileEngine
from sordino.sql.aggregates import RankedValue
from sordino.sql.analysis import SOLVER, Analysis, find_limits
from sordino.sql.answering.answer_table import make_answer, make_plain, wrap_exact
from sordino.sql.answering.measured import Measured, measure_all, open_recorder
from sordino.sql.answering.plan import AnswerPlan
from sordino.sql.answering.solver_noise import list_row_limits
from sordino.sql.question import Statement
from sordino.sql.reading.ordering import list_notes

CONFIDENCES = (0.5, 0.8, 0.95)
_TIMES_EPSILON = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))
OWNER_ONLY = "NOT PRIVATE: for the owner of the data only"


def explain_plan(engine: Engine, plan: AnswerPlan) -> dict[str, Any]:
    """Plain data for JSON. Every number that follows the rows is here, so the whole of it is confidential."""
    began = time.perf_counter()
    others = _other_plans(plan)
    betas = tuple(sorted({beta for other in others for noise in other.noises for beta in noise.betas}))
    with open_recorder(engine) as snapshot:
        measured = measure_all(snapshot, plan, betas=betas)
    exact = wrap_exact({(cell.group, cell.measure): cell.exact for cell in measured})
    return {
        "warning": OWNER_ONLY,
        "sql": plan.statement.text,
        "engine": engine.name,
        **plan.options.told_budget(),
        "delta": float(plan.options.delta),
        "mechanism": plan.mechanism,
        "guarantee": str(plan.guarantee),
        "budget": plan.composition(),
        "exact": make_answer(plan, exact, exact=True).value,
        "notes": [*list_notes(plan.statement), *plan.list_notes()],
        "files": list_files(engine, plan.statement),
        "numbers": [_number(plan, cell) for cell in measured],
        "error_against_epsilon": [_at_other_epsilon(other, measured) for other in others],
        "statements": [
            {"sql": text, "seconds": seconds}
            for text, seconds in zip(snapshot.statements, snapshot.seconds, strict=True)
        ],
        "seconds": time.perf_counter() - began,
    }


def list_files(engine: Engine, statement: Statement) -> list[dict[str, Any]]:
    """What the reader made of text files: a stray quote may swallow all lines up to the next one."""
    if not isinstance(engine, FileEngine):
        return []
    found = []
    for table in sorted(
        {occurrence.table for occurrence in statement.join.everyone if occurrence.rows is None}
    ):
        counts = engine.lines_and_rows(table)
        if counts is not None:
            found.append({"table": table, "lines": counts[0], "rows": counts[1]})
    return found


def _number(plan: AnswerPlan, cell: Measured) -> dict[str, Any]:
    measure, noise = plan.statement.measures[cell.measure], plan.noises[cell.measure]
    step = float(measure.step)
    facts = noise.facts(cell.exact, cell.follows, CONFIDENCES)
    found: dict[str, Any] = {
        "group": {
            key.name: make_plain(value) for key, value in zip(plan.statement.keys, cell.group, strict=True)
        },
        "aggregate": measure.text,
        "exact": float(cell.exact * measure.step),
        "step": step,
        "beta": facts["beta"],
        "smooth_bound": facts["smooth_bound"] * step,
        "noise_scale": facts["noise_scale"] * step,
        "error": {
            f"{confidence:.0%}": radius * step
            for confidence, radius in zip(CONFIDENCES, facts["radii"], strict=True)
        },
        "global_sensitivity": _global_sensitivity(plan, cell.measure),
    }
    limits = list_row_limits(plan.readings[cell.measure], _weights(plan))
    if cell.analysis is not None and facts["beta"] is not None:
        found["bounds"] = _bounds(cell.analysis, facts["beta"], step)
        found["analysis_seconds"] = cell.analysis.seconds
    elif limits:  # the noise follows no rows
        found["bounds"] = [
            {"table": table, "analysis": SOLVER, "local": float(limit) * step, "smooth": float(limit) * step}
            for table, limit in limits
        ]
    return found


def _bounds(analysis: Analysis, beta: float, step: float) -> list[dict[str, Any]]:
    """Per table and analysis: what one row can change here (k = 0), and the smooth bound; per unit of distance."""
    return [
        {
            "table": table,
            "analysis": name,
            "local": float(bounds[0]) * step,
            "smooth": analysis.at(beta, analysis=name, table=table) * step,
        }
        for table, by_name in analysis.per_table.items()
        for name, bounds in by_name.items()
    ]


def _global_sensitivity(plan: AnswerPlan, index: int) -> float | str:
    """What one row can do whatever the other rows are."""
    measure, occurrences = plan.statement.measures[index], plan.statement.join.everyone
    if isinstance(measure, RankedValue):
        return float(measure.high - measure.low)
    weights = _weights(plan)
    limits = find_limits(plan.readings[index])
    known = None if limits is None else limits.constant(weights)
    if known is not None:
        return float(known * measure.step)
    if len(occurrences) == 1:
        weight = occurrences[0].weight or Fraction(1)
        return float(measure.reach * measure.step / weight)
    if sum(occurrence.private for occurrence in occurrences) == 1:
        return "bounded by the public tables alone"
    return "unbounded"


def _weights(plan: AnswerPlan) -> dict[str, Fraction]:
    return {o.table: o.weight for o in plan.statement.join.occurrences if o.weight is not None}


def _other_plans(plan: AnswerPlan) -> list[AnswerPlan]:
    """The same question at other budgets, where they can be paid for."""
    plans = []
    for factor in _TIMES_EPSILON:
        try:
            plans.append(plan.at_budget(plan.options.times(factor)))
        except SordinoError:  # a δ that no noise can use at this ε
            continue
    return plans


def _at_other_epsilon(plan: AnswerPlan, measured: list[Measured]) -> dict[str, Any]:
    worst = max(
        plan.noises[cell.measure].facts(cell.exact, cell.follows, (CONFIDENCES[-1],))["radii"][0]
        * float(plan.statement.measures[cell.measure].step)
        for cell in measured
    )
    return {**plan.options.told_budget(), "error": {f"{CONFIDENCES[-1]:.0%}": worst}}
