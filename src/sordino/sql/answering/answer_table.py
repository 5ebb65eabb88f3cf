"""From released numbers of steps to what an analyst reads: a number, or rows with names. Post-processing only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Protocol

from sordino.sql.aggregates import Part
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.answering.plan import AnswerOptions, Group
from sordino.sql.identity import identify_measure
from sordino.sql.known import Scalar
from sordino.sql.question import Output, Statement
from sordino.sql.reading.ordering import arrange_rows
from sordino.sql.released import ReleasedRow

Cells = Mapping[tuple[Group, int], DrawnSteps]


class Bounded(Protocol):
    """A noise that knows the radius of what was drawn."""

    def radius(self, cell: DrawnSteps, /) -> float | None:
        """In steps; None where none is known."""


class ShownPlan(Protocol):
    """What a plan has to say about how its numbers are shown, whatever unit it protects."""

    @property
    def statement(self) -> Statement:
        """The question."""

    @property
    def options(self) -> AnswerOptions:
        """How it shall be answered."""

    @property
    def noises(self) -> Sequence[Bounded]:
        """One per measure."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """What is handed out: the value, and the 95 % radius of the least certain number and of every column."""

    value: Any
    error: float | None
    errors: dict[str, float | None] | None


def make_answer(plan: ShownPlan, cells: Cells, *, exact: bool = False) -> AnswerTable:
    """One number where one aggregate was asked without GROUP BY, else a list with a dict per group.

    Whole numbers are integers, all others floats. With an error bar every column ``n`` that holds noise has a column
    ``n_error`` beside it. An error is the largest of all rows, which holds for each of them by itself, and None where
    no radius is known for one of them. ``exact``: the cells have no noise, and there are no errors.
    """
    statement = plan.statement
    rows = [_released(plan, group, cells, exact) for group in statement.groups()]
    shown = arrange_rows(statement, rows)
    with_bars = bool(plan.options.error_share) and not exact
    errors = {
        output.name: _largest([_radius(output, row) for row in shown])
        for output in statement.outputs
        if output.measures
    }
    error = _largest(list(errors.values()))
    if is_single(plan):
        return AnswerTable(make_plain(statement.outputs[0].expression.evaluate(rows[0]).value), error, None)
    return AnswerTable([_row(plan, row, with_bars) for row in shown], error, errors)


def store_cells(plan: ShownPlan, cells: Cells) -> dict[str, dict[str, list[Any]]]:
    """The released numbers as plain data, by what was measured, in the order of the groups.

    All that was paid for and nothing else: whatever is shown of them is made of this.
    """
    groups = plan.statement.groups()
    found = {}
    for place, measure in enumerate(plan.statement.measures):
        drawn = [cells[group, place] for group in groups]
        stored = {"steps": [cell.steps for cell in drawn]}
        if any(cell.scale is not None for cell in drawn):
            stored["scales"] = [cell.scale for cell in drawn]  # type: ignore[misc]
        found[identify_measure(measure, plan.statement)] = stored
    return found


def restore_cells(plan: ShownPlan, stored: Mapping[str, Mapping[str, Sequence[Any]]]) -> Cells:
    """The cells that were stored for a statement of the same numbers."""
    groups = plan.statement.groups()
    cells = {}
    for place, measure in enumerate(plan.statement.measures):
        found = stored[identify_measure(measure, plan.statement)]
        scales = found.get("scales") or [None] * len(groups)
        for group, steps, scale in zip(groups, found["steps"], scales, strict=True):
            cells[group, place] = DrawnSteps(steps, scale)
    return cells


def is_single(plan: ShownPlan) -> bool:
    """Whether the answer is one number."""
    statement = plan.statement
    cut = statement.having is not None or statement.limit is not None or statement.offset
    if statement.keys or len(statement.outputs) != 1 or cut:
        return False
    return statement.outputs[0].expression.kind != "list"


def wrap_exact(exact: Mapping[tuple[Group, int], int]) -> dict[tuple[Group, int], DrawnSteps]:
    """Numbers without noise in the shape of released ones: for the owner."""
    return {cell: DrawnSteps(steps) for cell, steps in exact.items()}


def _row(plan: ShownPlan, released: ReleasedRow, with_bars: bool) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for output in plan.statement.outputs:
        row[output.name] = make_plain(output.expression.evaluate(released).value)
        if with_bars and output.measures:
            row[f"{output.name}_error"] = _radius(output, released)
    return row


def _radius(output: Output, row: ReleasedRow) -> float | None:
    radius = output.expression.evaluate(row).radius()
    return None if radius is None else _as_float(radius)


def _largest(radii: list[float | None]) -> float | None:
    """The largest radius, if all are known."""
    known = [radius for radius in radii if radius is not None]
    return max(known) if known and len(known) == len(radii) else None


def _released(plan: ShownPlan, group: Group, cells: Cells, exact: bool) -> ReleasedRow:
    """What was released for a group; a number that cannot be negative is moved to 0 if asked."""
    parts = []
    for place, measure in enumerate(plan.statement.measures):
        cell = cells[group, place]
        number = cell.steps * measure.step
        if plan.options.non_negative and measure.low >= 0:
            number = max(number, Fraction(0))
        radius = None if exact else plan.noises[place].radius(cell)
        parts.append(Part(measure, number, None if radius is None else Fraction(radius) * measure.step))
    return ReleasedRow(group, parts)


def make_plain(value: Scalar) -> Any:
    """A value as JSON has it: dates as text, fractions as floats, several numbers as a list."""
    if isinstance(value, tuple):
        return [make_plain(number) for number in value]
    if isinstance(value, Fraction):
        return _as_float(value)
    return value.isoformat() if isinstance(value, date) else value


def _as_float(number: int | Fraction) -> float | None:
    """The nearest double; None, as NULL, where there is none."""
    try:
        return float(number)
    except OverflowError:
        return None
