"""The numbers of a question about values, in whole steps: every cell is read once, and only totals come back."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.question import Statement
from sordino.sql.values.joined import named, subquery_of, write_joined
from sordino.sql.values.measure import ValueMeasure
from sordino.sql.values.stages import write_stages


def list_measures(statement: Statement) -> list[ValueMeasure]:
    """The measures of a question about values."""
    found = [measure for measure in statement.measures if isinstance(measure, ValueMeasure)]
    if len(found) < len(statement.measures):
        raise TypeError("a question about values has measures of values")
    return found


def write_value_answers(statement: Statement) -> exp.Select:
    """SELECT of the places of the keys and of all measures, one row per group."""
    measures = list_measures(statement)
    keys = [f"key_{i}" for i in range(len(statement.keys))]
    # the measures of one question share their cells
    rows = write_joined(statement, measures[0].cells, {})
    staged, terms = write_stages(rows, [measure.term for measure in measures], keys)
    columns: list[exp.Expr] = [named(key) for key in keys]
    columns += [exp.alias_(term, f"term_{i}", quoted=True) for i, term in enumerate(terms)]
    inner = exp.select(*columns, copy=False).from_(subquery_of(staged, "joined"), copy=False)
    totals = [
        exp.alias_(measure.total(named(f"term_{i}")), f"measure_{i}", quoted=True)
        for i, measure in enumerate(measures)
    ]
    query = exp.select(*(named(key) for key in keys), *totals, copy=False)
    query.from_(subquery_of(inner, "terms"), copy=False)
    return query.group_by(*(named(key) for key in keys), copy=False) if keys else query


def compute_value_answers(snapshot: Snapshot, statement: Statement) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """Every group, those without rows too, with the number of steps of every measure. Confidential."""
    answers = {
        group: tuple(measure.nothing for measure in list_measures(statement)) for group in statement.groups()
    }
    table = snapshot.aggregate(write_value_answers(statement))
    depth = len(statement.keys)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        group = tuple(key.values[int(place)] for key, place in zip(statement.keys, row[:depth], strict=True))
        answers[group] = tuple(int(number) for number in row[depth:])
    return answers
