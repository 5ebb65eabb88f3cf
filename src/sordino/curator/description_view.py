"""How a Description looks: as text, as HTML and as columns."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.display.html import Html, join_html, render_facts, render_note, render_table

if TYPE_CHECKING:
    from sordino.curator.description import ColumnDescription, TableDescription

_MOST_VALUES = 8


def write_description(tables: Sequence[TableDescription], facts: Sequence[tuple[str, str]] = ()) -> str:
    """A line per fact, a heading per table, and a line per column."""
    return "\n".join([*map(": ".join, facts), *(line for table in tables for line in _lines(table))])


def render_description(tables: Sequence[TableDescription], facts: Sequence[tuple[str, str]] = ()) -> str:
    """The facts, and a table of columns per table."""
    parts: list[Html] = [render_facts(facts)] if facts else []
    for table in tables:
        parts.append(render_note(_heading(table)))
        rows = [(column.name, _kind(column), *_values(column)) for column in table.columns]
        parts.append(render_table(("column", "type", "bounds", "domain"), rows))
    return join_html(*parts)


def list_description(tables: Sequence[TableDescription]) -> dict[str, list[Any]]:
    """One row per column of every table."""
    rows = [(table, column) for table in tables for column in table.columns]
    return {
        "table": [table.name for table, _ in rows],
        "column": [column.name for _, column in rows],
        "type": [column.type for _, column in rows],
        "private": [table.private for table, _ in rows],
        "low": [None if column.bounds is None else float(column.bounds[0]) for _, column in rows],
        "high": [None if column.bounds is None else float(column.bounds[1]) for _, column in rows],
        "domain": [None if column.domain is None else list(column.domain) for _, column in rows],
    }


def _heading(table: TableDescription) -> str:
    said = ["private" if table.private else "public"]
    if table.owners:
        said.append(f"rows of {' and of '.join(f'one {owner}' for owner in table.owners)}")
    if table.key:
        said.append(f"no two rows share {', '.join(table.key)}")
    said += [f"{column} → {to}" for column, to in table.foreign_keys]
    if table.weight != 1:
        said.append(f"weight {_number(table.weight)}")
    return f"{table.name} ({'; '.join(said)})"


def _lines(table: TableDescription) -> list[str]:
    rows = [(column.name, _kind(column), *filter(None, _values(column))) for column in table.columns]
    name = max((len(row[0]) for row in rows), default=0)
    kind = max((len(row[1]) for row in rows), default=0)
    return [_heading(table)] + [
        f"  {row[0]:<{name}}  {row[1]:<{kind}}  {'  '.join(row[2:])}".rstrip() for row in rows
    ]


def _kind(column: ColumnDescription) -> str:
    return f"{column.type}, fixed" if column.fixed else column.type


def _values(column: ColumnDescription) -> tuple[str, str]:
    """Bounds and domain in words; of a long domain the beginning."""
    bounds = ""
    if column.bounds is not None:
        bounds = f"{_number(column.bounds[0])} to {_number(column.bounds[1])}"
        bounds += f" in steps of {_number(column.granularity)}" if column.granularity is not None else ""
    if column.period is not None:
        bounds = f"{column.period[0]} to {column.period[1]}"
    if column.domain is None:
        return bounds, ""
    shown = ["NULL" if value is None else str(value) for value in column.domain[:_MOST_VALUES]]
    more = len(column.domain) - len(shown)
    return bounds, f"one of {', '.join(shown)}" + (f" and {more} more" if more else "")


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
