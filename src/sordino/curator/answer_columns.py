"""The columns of an answer, before it is asked: names and kinds, by the question alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sordino.sql.aggregates.aggregate import take_first
from sordino.sql.answering.answer_table import ShownPlan
from sordino.sql.question import Statement
from sordino.sql.released import Aggregated, Released

AnswerKind = Literal["integer", "number", "text", "boolean", "date", "timestamp"]


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column of an answer; an ``integer`` is whole in every release."""

    name: str
    kind: AnswerKind


def list_answer_columns(plan: ShownPlan) -> tuple[AnswerColumn, ...]:
    """All columns in order, those of error bars included."""
    columns = []
    for output in plan.statement.outputs:
        columns.append(AnswerColumn(output.name, _kind(output.expression, plan.statement)))
        if plan.options.error_share and output.measures:
            columns.append(AnswerColumn(f"{output.name}_error", "number"))
    return tuple(columns)


def _kind(expression: Released, statement: Statement) -> AnswerKind:
    if isinstance(expression, Aggregated) and expression.aggregate.combine is take_first:
        steps = [statement.measures[place].step for place in expression.measures]
        return "integer" if all(step.denominator == 1 for step in steps) else "number"
    return "text" if expression.kind == "list" or expression.kind == "null" else expression.kind
