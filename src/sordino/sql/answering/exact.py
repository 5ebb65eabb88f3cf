"""The exact answer to a question, in whole steps of its measure, computed inside the engine: only totals come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.expressions.value import case
from sordino.sql.question import (
    GroupKey,
    JoinQuestion,
    Occurrence,
    Statement,
    equate,
    write_literal,
)
from sordino.sql.reading.groups import make_table


def write_answer_query(question: JoinQuestion) -> exp.Select:
    """SELECT of the exact answer in steps, as one integer named ``answer``."""
    total = question.measure.total()
    return write_join([exp.alias_(total, "answer", quoted=True)], question.occurrences, question.conditions)


def compute_answer(snapshot: Snapshot, question: JoinQuestion) -> int:
    """The exact answer, a whole number of the measure's steps. It is private: wrap what is kept of it in a Secret."""
    return int(snapshot.aggregate(write_answer_query(question)).column(0)[0].as_py())


def write_grouped_query(statement: Statement) -> exp.Select:
    """SELECT of all measures of all groups at once.

    Columns ``key_0``, … are places among the key's public values, so not even public values of rows come back; rows
    outside every group are left out. Columns ``measure_0``, … are whole numbers of steps.
    """
    statement.groups()
    places = [
        case(*[(equate(key.column, value), whole_number(i)) for i, value in enumerate(key.values)])
        for key in statement.keys
    ]
    columns = [exp.alias_(place, f"key_{i}", quoted=True) for i, place in enumerate(places)]
    columns += [
        exp.alias_(measure.total(), f"measure_{i}", quoted=True)
        for i, measure in enumerate(statement.measures)
    ]
    known = [_among(key) for key in statement.keys]
    query = write_join(columns, statement.join.occurrences, (*statement.join.conditions, *known))
    return query.group_by(*(place.copy() for place in places), copy=False) if places else query


def compute_answers(snapshot: Snapshot, statement: Statement) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """Every group, empty ones too, with the exact number of steps of every measure. Private, like `compute_answer`."""
    answers = {group: (0,) * len(statement.measures) for group in statement.groups()}
    table = snapshot.aggregate(write_grouped_query(statement))
    depth = len(statement.keys)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        group = tuple(key.values[place] for key, place in zip(statement.keys, row[:depth], strict=True))
        answers[group] = tuple(int(number) for number in row[depth:])
    return answers


def _among(key: GroupKey) -> exp.Expr:
    values = [write_literal(value) for value in key.values if value is not None]
    listed = exp.In(this=key.column.copy(), expressions=values)
    return exp.or_(listed, equate(key.column, None)) if None in key.values else listed


def write_join(
    columns: Sequence[exp.Expr], occurrences: Sequence[Occurrence], conditions: Sequence[exp.Expr]
) -> exp.Select:
    """SELECT of some columns over the join of some tables."""
    first, *others = (make_table(occurrence.table, occurrence.alias) for occurrence in occurrences)
    query = exp.select(*columns, copy=False).from_(first, copy=False)
    for other in others:
        query.join(other, join_type="cross", copy=False)
    return query.where(*map(exp.paren, conditions), copy=False) if conditions else query
