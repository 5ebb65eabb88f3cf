"""What the owner may know about a question where contents are protected. Nothing here is private, nothing is spent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sordino.core import SordinoError
from sordino.engines import Engine, Table
from sordino.sql.answering.answer_table import make_answer, make_plain, wrap_exact
from sordino.sql.answering.explain import CONFIDENCES, OWNER_ONLY, list_files
from sordino.sql.answering.measured import open_recorder
from sordino.sql.policy import Policy
from sordino.sql.reading.ordering import list_notes
from sordino.sql.values.answers import compute_value_answers
from sordino.sql.values.filters import Filters
from sordino.sql.values.measure import ValueMeasure
from sordino.sql.values.plan import ValueCell, ValuePlan, make_value_plan
from sordino.sql.values.reading import read_value_question

_TIMES_EPSILON = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))


def explain_values(
    engine: Engine, plan: ValuePlan, policy: Policy, catalogue: Mapping[str, Table]
) -> dict[str, Any]:
    """Plain data for JSON, in the shape of `explain_plan`; confidential, since it follows the rows.

    ``exact`` is the answer to the question as it was asked, ``continuous`` the one that noise is added to. Of every
    number: ``approximation``, how far the two are apart, c of each table at each β of the grid, and beside it the
    largest there is for any database.
    """
    began = time.perf_counter()
    others = {factor: _at_epsilon(plan, factor, policy) for factor in _TIMES_EPSILON}
    further = {beta for other in others.values() if other is not None for beta in other.betas}
    with open_recorder(engine) as snapshot:
        cells = plan.measure(snapshot)
        statements = [
            {"sql": text, "seconds": seconds}
            for text, seconds in zip(snapshot.statements, snapshot.seconds, strict=True)
        ]
        further_cells = plan.measure(snapshot, tuple(further))
        asked = _read_exact(plan, policy, catalogue, engine.dialect)
        found = None if asked is None else compute_value_answers(snapshot, asked.statement)
    errors = [
        {
            "epsilon": float(plan.options.pure * factor),
            "error": {f"{CONFIDENCES[-1]:.0%}": _largest_error(other, further_cells)},
        }
        for factor, other in others.items()
        if other is not None
    ]
    continuous = wrap_exact({(cell.group, cell.measure): cell.exact for cell in cells})
    shown = make_answer(plan, continuous, exact=True).value
    exact = shown
    numbers = [_number(plan, cell) for cell in cells]
    if asked is not None and found is not None:
        steps = {(group, i): number for group, row in found.items() for i, number in enumerate(row)}
        exact = make_answer(replace(plan, question=asked), wrap_exact(steps), exact=True).value
        for number, cell in zip(numbers, cells, strict=True):
            step = asked.statement.measures[cell.measure].step
            number["approximation"] = abs(float(steps[cell.group, cell.measure] * step) - number["exact"])
    return {
        "warning": OWNER_ONLY,
        "sql": plan.statement.text,
        "engine": engine.name,
        "epsilon": float(plan.options.pure),
        "delta": 0.0,
        "mechanism": plan.mechanism,
        "guarantee": str(plan.guarantee),
        "budget": plan.guarantee.theorem,
        "exact": exact,
        "continuous": shown,
        "filters": str(plan.question.filters),
        "notes": [*list_notes(plan.statement), *plan.list_notes()],
        "files": list_files(engine, plan.statement),
        "numbers": numbers,
        "error_against_epsilon": errors,
        "statements": statements,
        "seconds": time.perf_counter() - began,
    }


def _number(plan: ValuePlan, cell: ValueCell) -> dict[str, Any]:
    measure, noise = plan.statement.measures[cell.measure], plan.noises[cell.measure]
    step = float(measure.step)
    facts = noise.facts(cell.exact, cell.bound, CONFIDENCES)
    return {
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
        "global_sensitivity": _largest_slope(plan, measure),
        "bounds_by_beta": {
            name: {f"{beta:.6g}": bound * step for beta, bound in zip(cell.betas, found, strict=True)}
            for name, found in cell.bounds.items()
        },
    }


def _largest_slope(plan: ValuePlan, measure: Any) -> float | str:
    """What one unit can do whatever the cells are; of a join per joined row."""
    if not isinstance(measure, ValueMeasure):
        return "unknown"
    largest = measure.function.largest_slope()
    alone = len(plan.statement.join.occurrences) == 1
    return largest if alone or measure.kind != "sum" else f"{largest:.6g} per joined row"


def _largest_error(plan: ValuePlan, cells: list[ValueCell]) -> float:
    return max(
        float(plan.noises[cell.measure].facts(cell.exact, cell.bound, (CONFIDENCES[-1],))["radii"][0])
        * float(plan.statement.measures[cell.measure].step)
        for cell in cells
    )


def _at_epsilon(plan: ValuePlan, factor: Fraction, policy: Policy) -> ValuePlan | None:
    options = replace(plan.options, epsilon=plan.options.pure * factor)
    try:
        return make_value_plan(plan.question, options, plan.guarantee.distance, policy)
    except SordinoError:  # rounding costs more than so small an ε
        return None


def _read_exact(plan: ValuePlan, policy: Policy, catalogue: Mapping[str, Table], dialect: str) -> Any:
    """The question with exact filters; None if it is too steep to be written down."""
    exact = Filters(compares_all=True)
    try:
        found = read_value_question(
            plan.statement.text, policy=policy, catalogue=catalogue, dialect=dialect, filters=exact
        )
    except SordinoError:
        return None
    return replace(found, statement=replace(found.statement, keys=plan.statement.keys))
