"""Whether the bounds of each group of a GROUP BY are computed from the rows of that group alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sordino.sql.analysis.analysis import AnalysisPlan
from sordino.sql.analysis.counting import Counted, collect_links
from sordino.sql.analysis.formula import Cell, atom, write_cell
from sordino.sql.question import GroupKey, equate

# The columns of each private table that equal a key wherever the conditions hold.
Columns = Mapping[str, frozenset[str]]


def is_confined(plan: AnalysisPlan, keys: Sequence[GroupKey], group: tuple[Any, ...]) -> bool:
    """Whether every count of private rows that the plan reads asks of each row that it has the group's keys.

    **Guarantee**: if so, the bounds of the group are a function of public tables and of the rows that belong to the
    group, so that a row of another group changes neither the answer nor the noise of this one. It is read off the
    counts that will be sent, and does not rely on how an analysis came to them.
    """
    aliases = {occurrence.alias: occurrence for occurrence in plan.question.occurrences}
    private = {occurrence.table for occurrence in plan.question.occurrences if occurrence.private}
    columns = [_columns_of(key, {alias: found.table for alias, found in aliases.items()}) for key in keys]
    return all(
        any(_asks(counted, alias, name, value) for name in mine.get(table, ()))
        for counted in collect_links(plan.counts)
        for alias, table in counted.tables
        if table in private
        for mine, value in zip(columns, group, strict=True)
    )


def _columns_of(key: GroupKey, tables: Mapping[str, str]) -> Columns:
    found: dict[str, frozenset[str]] = {}
    for column in (key.column, *key.equals):
        if isinstance(column, exp.Column):
            table = tables[column.table]
            found[table] = found.get(table, frozenset()) | {column.name}
    return found


def _asks(counted: Counted, alias: str, name: str, value: Any) -> bool:
    return atom(equate(write_cell(Cell(alias, name)), value)) in counted.conditions
