"""Columns of the rows that a statement asks about, as expressions that no row makes fail: places and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sordino.engines import Column
from sordino.sql.aggregates.measure import is_there, whole_number
from sordino.sql.answering.exact import write_join
from sordino.sql.expressions.value import Value, as_double, case
from sordino.sql.question import Statement, equate


def place_value(
    statement: Statement, column: str, values: Sequence[Any], otherwise: int | None = None
) -> exp.Case:
    """The place of the column's value among public ones, by the rule that groups go by; else ``otherwise`` or NULL."""
    return case(
        *[
            (equate(_column(statement, column), value), whole_number(place))
            for place, value in enumerate(values)
        ],
        default=None if otherwise is None else whole_number(otherwise),
    )


def write_number(statement: Statement, column: Column) -> exp.Expr:
    """A column of numbers in doubles; NULL where a decimal is larger than all engines can hold."""
    value = Value(
        _column(statement, column.name),
        column.type,
        (1.0, 3.5e38),
        digits=column.digits,
        scale=column.scale,
    )
    return exp.cast(as_double(value).expression, exp.DataType.Type.DOUBLE)


def select_rows(statement: Statement, columns: Sequence[exp.Expr], needed: exp.Expr) -> exp.Select:
    """SELECT of some columns of all rows for which the statement's conditions hold and ``needed`` is not NULL."""
    join = statement.join
    return write_join(columns, join.occurrences, (*join.conditions, is_there(needed)), outer=join.outer)


def _column(statement: Statement, name: str) -> exp.Column:
    return exp.column(name, table=statement.join.occurrences[0].alias, quoted=True)
