"""Canonical reading: tables are read through a SELECT that gives every column in the one form that statements compare.

**The text rule.** Text is compared, grouped and joined by its bytes in UTF-8, without the padding of CHAR(n): two texts
are equal if and only if they are the same characters. Collations, padding, enumerations and whatever else an engine
attaches to a column are taken off where the table is read, before any statement sees it. So '=' in a question, GROUP
BY in its analysis and a literal handed from one column to another all speak of the same equality.

A table is also called by its full name here, so that no search path decides which one is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sordino.engines.engine import Table
from sordino.engines.query import check_query, find_name, find_tables_read, name_table


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a table stands, and its columns in canonical form; None: they have it already."""

    place: exp.Table
    columns: tuple[exp.Expr, ...] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The tables of a database, and how each is read."""

    tables: dict[str, Table]
    readings: dict[str, Reading]


def refer_to_place(*names: str) -> exp.Table:
    """A table by its full name, each part in quotes: database, schema, table."""
    *above, table = (exp.to_identifier(name, quoted=True) for name in names)
    db, catalog = (above[-1] if above else None), (above[0] if len(above) > 1 else None)
    return exp.Table(this=table, db=db, catalog=catalog)


def read_through(query: exp.Expr, readings: Mapping[str, Reading]) -> exp.Expr:
    """The query over the readings of its tables; refuses what an engine is not asked (see `check_query`)."""
    check_query(query, readings)
    changed = query.copy()
    for node in find_tables_read(changed):
        if not isinstance(node.this, exp.Identifier):
            continue  # UNNEST and its like
        reading = readings[find_name(name_table(node), readings)]
        alias = node.args.get("alias") or exp.TableAlias(
            this=exp.to_identifier(node.name, quoted=node.this.quoted)
        )
        source: exp.Expr = reading.place.copy()
        if reading.columns is not None:
            # Copied: the same reading serves many statements.
            columns = [column.copy() for column in reading.columns] or [exp.Literal.number(1)]
            source = exp.Subquery(this=exp.select(*columns, copy=False).from_(source, copy=False))
        source.set("alias", alias)
        if node.args.get("joins"):
            source.set("joins", node.args["joins"])
        node.replace(source)
    return changed


def rename_column(expression: exp.Expr, name: str) -> exp.Expr:
    """An expression under the name of the column that it stands for."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name, quoted=True))


def list_projection(columns: Iterable[tuple[str, exp.Expr | None]]) -> tuple[exp.Expr, ...]:
    """The list of a SELECT: each column as it is, or what it is read as."""
    return tuple(
        exp.column(name, quoted=True) if form is None else rename_column(form, name) for name, form in columns
    )
