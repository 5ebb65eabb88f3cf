"""From released numbers of steps to what an analyst reads: a number, or rows with names. Post-processing only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from sordino.sql.answering.cell_noise import Drawn
from sordino.sql.answering.plan import AnswerPlan, Group
from sordino.sql.question import Output
from sordino.sql.reading.ordering import in_order

Cells = Mapping[tuple[Group, int], Drawn]


def answer_value(plan: AnswerPlan, cells: Cells) -> Any:
    """One number where one aggregate was asked without GROUP BY, else a list with a dict per group.

    Whole steps are integers, other steps floats. AVG is the noisy sum over the noisy count, moved into the
    bounds of its column, and None where the noisy count is not positive. With an error bar every aggregate
    ``n`` has a column ``n_error`` beside it.
    """
    statement = plan.statement
    if is_single(plan):
        return _number(plan, statement.outputs[0], (), cells)
    return in_order(statement, [(group, _row(plan, group, cells)) for group in statement.groups()])


def answer_error(plan: AnswerPlan, cells: Cells) -> float | None:
    """The 95 % radius; of several numbers the largest, which holds for each of them by itself."""
    radii = [
        _radius(plan, output, group, cells)
        for output in plan.statement.outputs
        for group in plan.statement.groups()
        if output.kind != "key"
    ]
    known = [radius for radius in radii if radius is not None]
    return max(known) if len(known) == len(radii) else None


def is_single(plan: AnswerPlan) -> bool:
    """Whether the answer is one number."""
    statement = plan.statement
    return not statement.keys and len(statement.outputs) == 1


def exact_cells(exact: Mapping[tuple[Group, int], int]) -> dict[tuple[Group, int], Drawn]:
    """Numbers without noise in the shape of released ones: for the owner."""
    return {cell: Drawn(steps) for cell, steps in exact.items()}


def _row(plan: AnswerPlan, group: Group, cells: Cells) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for output in plan.statement.outputs:
        if output.kind == "key":
            row[output.name] = plain(group[output.key or 0])
            continue
        row[output.name] = _number(plan, output, group, cells)
        if plan.options.error_share:
            row[f"{output.name}_error"] = _radius(plan, output, group, cells)
    return row


def _number(plan: AnswerPlan, output: Output, group: Group, cells: Cells) -> int | float | None:
    measures = plan.statement.measures
    numbers = [cells[group, index].steps * measures[index].step for index in output.measures]
    first = measures[output.measures[0]]
    if output.kind == "avg":
        total, count = numbers
        return None if count <= 0 else float(min(max(total / count, first.low), first.high))
    value = numbers[0]
    if plan.options.non_negative and (first.kind == "count" or first.low >= 0):
        value = max(value, Fraction(0))
    return int(value) if first.step.denominator == 1 else float(value)


def _radius(plan: AnswerPlan, output: Output, group: Group, cells: Cells) -> float | None:
    if output.kind == "avg":
        return None
    index = output.measures[0]
    radius = cells[group, index].radius
    return None if radius is None else radius * float(plan.statement.measures[index].step)


def plain(value: Any) -> Any:
    """A public value of a group as JSON has it: dates as text."""
    return value.isoformat() if isinstance(value, date) else value
