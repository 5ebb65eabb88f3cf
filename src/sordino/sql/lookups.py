"""Lookups: public tables of which a row finds at most one row, read as further columns of that row.

Where no two rows of a public table share a key, joining it by that key gives every row of another table the columns of
one public row, or drops the row. So the two together are a table again, with at most one row for each row of the
first: one private row more or less is one row more or less of it, and each row lies in one group of a public column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

# The names of the two tables in the conditions of a lookup.
OWN, PUBLIC = "own", "public"


@dataclass(frozen=True, slots=True)
class Lookup:
    """The row of a public table that has a row's values in its key.

    ``on``: columns of the row, each with the column of the key that it equals. ``columns``: the names that the row
    gets, each with the public column. ``optional``: a row that finds nothing stays, with NULL in these columns.
    ``conditions``: what must hold, too, for a row to be found, over the columns of the row (`OWN`) and of the public
    table (`PUBLIC`). **Requires**: no two rows of ``table`` share a key without NULL.
    """

    table: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    optional: bool = False
    conditions: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbering:
    """A further column of the rows of a table: their numbers in the order of some columns, from 1 on."""

    name: str
    columns: tuple[str, ...]


def make_table(name: str, alias: str) -> exp.Table:
    """A table of the catalogue under an alias."""
    schema, _, table = name.rpartition(".")
    return exp.Table(
        this=exp.Identifier(this=table, quoted=True),
        db=exp.Identifier(this=schema, quoted=True) if schema else None,
        alias=exp.TableAlias(this=exp.Identifier(this=alias, quoted=True)),
    )


def make_source(
    name: str, alias: str, lookups: Sequence[Lookup], numbering: Numbering | None = None
) -> exp.Expr:
    """What stands in FROM for the rows of a table: the table, perhaps numbered, or with what its rows look up."""
    if not lookups:
        return make_table(name, alias) if numbering is None else _number(name, alias, numbering)
    found: dict[str, exp.Expr] = {}
    rows = exp.select(exp.Column(this=exp.Star(), table=exp.Identifier(this=OWN, quoted=True)))
    rows.from_(make_source(name, OWN, (), numbering), copy=False)
    for place, lookup in enumerate(lookups):
        public = f"public_{place}"
        on: list[exp.Expr] = [
            exp.EQ(this=found.get(own, _column(OWN, own)).copy(), expression=_column(public, key))
            for own, key in lookup.on
        ]
        on += [_write_condition(condition, found, public) for condition in lookup.conditions]
        joined = exp.and_(*on, copy=False)
        kind = "left" if lookup.optional else ""
        rows.join(make_table(lookup.table, public), on=joined, join_type=kind, copy=False)
        # A later one may look up by what an earlier one found.
        found |= {column: _column(public, key) for column, key in lookup.columns}
    rows.select(*(exp.alias_(value, column, quoted=True) for column, value in found.items()), copy=False)
    return rows.subquery(exp.Identifier(this=alias, quoted=True), copy=False)


def _write_condition(condition: exp.Expr, found: Mapping[str, exp.Expr], public: str) -> exp.Expr:
    holder = exp.Paren(this=condition.copy())
    for column in list(holder.find_all(exp.Column)):
        own = found.get(column.name, _column(OWN, column.name))
        column.replace(own.copy() if column.table == OWN else _column(public, column.name))
    return holder


def _number(name: str, alias: str, numbering: Numbering) -> exp.Expr:
    """Rows that agree in all the columns are told apart by their numbers alone."""
    columns = [_column(OWN, column) for column in numbering.columns]
    # Engines that insist on an order get a constant where rows have nothing to be ordered by.
    order = [exp.Ordered(this=column.copy()) for column in columns] or [exp.Ordered(this=exp.null())]
    number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=order))
    rows = exp.select(*columns, exp.alias_(number, numbering.name, quoted=True))
    return rows.from_(make_table(name, OWN)).subquery(exp.Identifier(this=alias, quoted=True))


def count_most_alike(table: str, key: Sequence[str]) -> exp.Select:
    """SELECT of how many rows of a public table share one key, at most; a key with NULL is found by no row."""
    columns = [_column("p", name) for name in key]
    present = [exp.Not(this=exp.Is(this=column.copy(), expression=exp.null())) for column in columns]
    alike = (
        exp.select(exp.alias_(exp.Count(this=exp.Star()), "alike", quoted=True))
        .from_(make_table(table, "p"))
        .where(*present)
        .group_by(*columns)
    )
    most = exp.Coalesce(this=exp.Max(this=_column("keys", "alike")), expressions=[exp.Literal.number(0)])
    return exp.select(exp.alias_(most, "most", quoted=True)).from_(
        alike.subquery(exp.Identifier(this="keys", quoted=True))
    )


def _column(table: str, name: str) -> exp.Column:
    return exp.column(exp.Identifier(this=name, quoted=True), table=exp.Identifier(this=table, quoted=True))
