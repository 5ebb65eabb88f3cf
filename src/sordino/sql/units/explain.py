"""What the owner may know about a question where users are protected. Nothing here is private, and nothing is spent."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

from sordino.engines import Engine
from sordino.sql.answering.answer_table import make_answer, make_plain, wrap_exact
from sordino.sql.answering.explain import CONFIDENCES, OWNER_ONLY, list_files
from sordino.sql.answering.measured import open_recorder
from sordino.sql.answering.rank_counts import compute_cells
from sordino.sql.reading.lookups import check_lookups
from sordino.sql.units.part import Facts
from sordino.sql.units.plan import UnitPlan
from sordino.sql.units.unknown_keys import count_holders

_TIMES_EPSILON = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))


def explain_units(engine: Engine, plan: UnitPlan) -> dict[str, Any]:
    """Plain data for JSON, in the shape of `explain_plan`; confidential, since it follows the rows."""
    began = time.perf_counter()
    with open_recorder(engine) as snapshot:
        check_lookups(plan.statement, snapshot)
        known = plan
        if plan.keys is not None:
            held = count_holders(snapshot, plan.statement, plan.owners, plan.keys.keys_per_unit)
            known = plan.with_groups([group for group, _ in held])
        statement = known.statement
        exact = compute_cells(snapshot, statement) if statement.groups() else {}
        facts: dict[tuple[Any, int], Facts] = {}
        for part in known.parts if exact else ():
            facts |= part.find_facts(snapshot, statement, plan.owners, CONFIDENCES)
    cells = {cell: found.steps for cell, found in exact.items()}
    numbers = [_number(known, cell, steps, facts[cell]) for cell, steps in cells.items()]
    worst = max((number["error"][f"{CONFIDENCES[-1]:.0%}"] for number in numbers), default=0.0)
    return {
        "warning": OWNER_ONLY,
        "sql": statement.text,
        "engine": engine.name,
        **plan.options.told_budget(),
        "delta": float(plan.options.delta),
        "mechanism": plan.mechanism,
        "guarantee": str(plan.guarantee),
        "budget": plan.guarantee.theorem,
        "exact": make_answer(known, wrap_exact(cells), exact=True).value,
        "files": list_files(engine, statement),
        "numbers": numbers,
        # the limit stays about where it is, and noise shrinks as the budget grows
        "error_against_epsilon": [
            {
                **plan.options.times(factor).told_budget(),
                "error": {f"{CONFIDENCES[-1]:.0%}": worst / _shrinks(plan, factor)},
            }
            for factor in _TIMES_EPSILON
        ],
        "statements": [
            {"sql": text, "seconds": seconds}
            for text, seconds in zip(snapshot.statements, snapshot.seconds, strict=True)
        ],
        "seconds": time.perf_counter() - began,
    }


def _shrinks(plan: UnitPlan, factor: Fraction) -> float:
    """How many times narrower the noise is at so many times the budget."""
    return math.sqrt(factor) if plan.budget.concentrated else float(factor)


def _number(plan: UnitPlan, cell: tuple[Any, int], steps: int, facts: Facts) -> dict[str, Any]:
    group, measure = cell
    asked = plan.statement.measures[measure]
    step = float(asked.step)
    return {
        "group": {key.name: make_plain(value) for key, value in zip(plan.statement.keys, group, strict=True)},
        "aggregate": asked.text,
        "exact": float(steps * asked.step),
        "step": step,
        "beta": None,
        "smooth_bound": facts.limit * step,
        "noise_scale": facts.scale * step,
        "error": {
            f"{confidence:.0%}": radius * step
            for confidence, radius in zip(CONFIDENCES, facts.radii, strict=True)
        },
        "global_sensitivity": "unbounded",
        "owners_above_limit": facts.above,
        "expected_error": None if facts.expected_error is None else facts.expected_error * step,
    }
