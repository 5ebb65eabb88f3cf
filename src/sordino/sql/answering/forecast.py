"""Forecast: what is public about the numbers of an answer before it is paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sordino.sql.answering.cell_noise import ConcentratedNoise, ConstantNoise, DrawnSteps
from sordino.sql.answering.plan import AnswerPlan
from sordino.sql.question import Statement


@dataclass(frozen=True, slots=True)
class NumberForecast:
    """One number that is measured and gets noise, in every group: COUNT(*), or the sum that an average is made of.

    ``error``: 95 % of draws lie within it of the exact number; None where the noise follows the rows, so that it is
    not known before. ``least_rows``: fewer rows cannot make the number as large as that, whatever they hold.
    ``most``: how far from 0 the exact number can be; None where nothing public bounds it. ``note``: what is public
    about a value that is chosen by its rank, or of noise that follows a limit.

    Where users are protected: ``least_error`` is the error at the least limit that they may be clipped to, and fewer
    than ``least_units`` of them, each a ``unit``, cannot make the number as large as its noise, whatever the limit.
    """

    name: str
    error: float | None = None
    least_rows: int | None = None
    most: float | None = None
    note: str | None = None
    least_error: float | None = None
    least_units: int | None = None
    unit: str = ""

    @property
    def drowned(self) -> bool:
        """Whether the noise is larger than the number can be."""
        error = self.least_error if self.error is None else self.error
        return error is not None and self.most is not None and error >= self.most

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "error": self.error,
            "least_rows": self.least_rows,
            "most": self.most,
            "note": self.note,
            "least_error": self.least_error,
            "least_units": self.least_units,
        }


@dataclass(frozen=True, slots=True)
class Forecast:
    """How a budget is divided, over how many groups (None: they are not public), and what is known of each number.

    ``noises``: of all numbers that one row moves, where all of them are public (`list_public_noises`).
    """

    composition: str
    groups: int | None
    numbers: tuple[NumberForecast, ...]
    noises: tuple[ConstantNoise | ConcentratedNoise, ...] = ()


def forecast_plan(plan: AnswerPlan) -> Forecast:
    """From the plan alone, which follows no private rows."""
    statement, rows = plan.statement, count_most_rows(plan.statement)
    numbers = []
    for measure, noise in zip(statement.measures, plan.noises, strict=True):
        # Of nothing drawn: a radius that is known all the same is public.
        radius = noise.radius(DrawnSteps(0))
        largest = max(abs(measure.low), abs(measure.high))
        error = None if radius is None else radius * float(measure.step)
        numbers.append(
            NumberForecast(
                measure.text,
                error,
                None if error is None or not largest else math.ceil(error / float(largest)),
                None if rows is None else float(rows * largest),
                noise.note(),
            )
        )
    return Forecast(plan.composition(), len(statement.groups()), tuple(numbers), list_public_noises(plan))


def list_public_noises(plan: AnswerPlan) -> tuple[ConstantNoise | ConcentratedNoise, ...]:
    """The noise of every number of an answer whose laws are all public, and of which one row moves one group at most.

    Each moves by at most its noise's sensitivity, in lattice steps. Nothing for all else, so for noise that follows
    the rows, values that are chosen, and groups that one row can be in together.
    """
    noises = tuple(noise for noise in plan.noises if isinstance(noise, ConstantNoise | ConcentratedNoise))
    is_known = plan.shares == len(plan.noises) == len(noises) and not plan.guarantee.delta
    return noises if is_known and all(noise.sensitivity.denominator == 1 for noise in noises) else ()


def count_most_rows(statement: Statement) -> int | None:
    """How many rows of one table a group can have: one where a promised key is fixed by the group or by constants."""
    occurrences = statement.join.everyone
    if len(occurrences) != 1 or not occurrences[0].key:
        return None
    fixed = {key.column.name.casefold() for key in statement.keys if isinstance(key.column, exp.Column)}
    for condition in statement.join.conditions:
        equal = condition.unnest()
        if isinstance(equal, exp.EQ) and not equal.expression.find(exp.Column):
            column = equal.this.unnest()
            if isinstance(column, exp.Column):
                fixed.add(column.name.casefold())
    return 1 if {name.casefold() for name in occurrences[0].key} <= fixed else None
