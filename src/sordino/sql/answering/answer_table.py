"""From released numbers of steps to what an analyst reads: a number, or rows with names. Post-processing only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from sordino.sql.aggregates import Part
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.answering.plan import AnswerPlan, Group
from sordino.sql.question import Output
from sordino.sql.reading.ordering import sort_rows

Cells = Mapping[tuple[Group, int], DrawnSteps]


def make_answer(plan: AnswerPlan, cells: Cells) -> Any:
    """One number where one aggregate was asked without GROUP BY, else a list with a dict per group.

    Whole steps are integers, other steps floats. AVG is the noisy sum over the noisy count, moved into the
    bounds of its column, and None where the noisy count is not positive. With an error bar every aggregate
    ``n`` has a column ``n_error`` beside it.
    """
    statement = plan.statement
    if is_single(plan):
        return _number(plan, statement.outputs[0], (), cells)
    return sort_rows(statement, [(group, _row(plan, group, cells)) for group in statement.groups()])


def bound_error(plan: AnswerPlan, cells: Cells) -> float | None:
    """The 95 % radius; of several numbers the largest, which holds for each of them by itself."""
    return _largest(list(_column_errors(plan, cells).values()))


def bound_errors(plan: AnswerPlan, cells: Cells) -> dict[str, float | None] | None:
    """The same for every column that holds noise, over all groups; None where the answer is one number."""
    return None if is_single(plan) else _column_errors(plan, cells)


def _column_errors(plan: AnswerPlan, cells: Cells) -> dict[str, float | None]:
    groups = plan.statement.groups()
    return {
        output.name: _largest([_radius(plan, output, group, cells) for group in groups])
        for output in plan.statement.outputs
        if output.aggregate is not None
    }


def _largest(radii: list[float | None]) -> float | None:
    """The largest radius, if all are known."""
    known = [radius for radius in radii if radius is not None]
    return max(known) if known and len(known) == len(radii) else None


def is_single(plan: AnswerPlan) -> bool:
    """Whether the answer is one number."""
    statement = plan.statement
    return not statement.keys and len(statement.outputs) == 1


def wrap_exact(exact: Mapping[tuple[Group, int], int]) -> dict[tuple[Group, int], DrawnSteps]:
    """Numbers without noise in the shape of released ones: for the owner."""
    return {cell: DrawnSteps(steps) for cell, steps in exact.items()}


def _row(plan: AnswerPlan, group: Group, cells: Cells) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for output in plan.statement.outputs:
        if output.key is not None:
            row[output.name] = make_plain(group[output.key])
            continue
        row[output.name] = _number(plan, output, group, cells)
        if plan.options.error_share:
            row[f"{output.name}_error"] = _radius(plan, output, group, cells)
    return row


def _number(plan: AnswerPlan, output: Output, group: Group, cells: Cells) -> int | float | None:
    return None if output.aggregate is None else output.aggregate.combine(_parts(plan, output, group, cells))


def _radius(plan: AnswerPlan, output: Output, group: Group, cells: Cells) -> float | None:
    if output.aggregate is None or output.aggregate.radius is None:
        return None
    return output.aggregate.radius(_parts(plan, output, group, cells))


def _parts(plan: AnswerPlan, output: Output, group: Group, cells: Cells) -> list[Part]:
    """What was released for a column of the answer; a number that cannot be negative is moved to 0 if asked."""
    parts = []
    for index in output.measures:
        measure, cell = plan.statement.measures[index], cells[group, index]
        number = cell.steps * measure.step
        if plan.options.non_negative and measure.low >= 0:
            number = max(number, Fraction(0))
        radius = None if cell.radius is None else Fraction(cell.radius) * measure.step
        parts.append(Part(measure, number, radius))
    return parts


def make_plain(value: Any) -> Any:
    """A public value of a group as JSON has it: dates as text."""
    return value.isoformat() if isinstance(value, date) else value
