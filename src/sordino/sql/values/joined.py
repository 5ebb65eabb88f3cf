"""The joined rows of a question: places of their group keys, whose rows they are, and every cell once, as a double."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sordino.sql.answering.exact import write_among, write_join, write_places
from sordino.sql.question import Statement


def write_joined(
    statement: Statement, cells: Mapping[str, Any], identities: Mapping[str, Sequence[str]]
) -> exp.Select:
    """SELECT of key_0, …, the columns that tell rows apart, by alias, and cell_0, … of all joined rows in a group."""
    fixed = [key for key in statement.keys if not key.spread]
    places = iter(write_places(fixed))
    columns = [
        exp.alias_(name_place(key.spread) if key.spread else next(places), f"key_{i}", quoted=True)
        for i, key in enumerate(statement.keys)
    ]
    for alias, identity in identities.items():
        columns += [
            exp.alias_(exp.column(column, table=alias, quoted=True), name_identity(alias, i), quoted=True)
            for i, column in enumerate(identity)
        ]
    columns += [
        exp.alias_(cell.tree.copy(), f"cell_{i}", quoted=True) for i, cell in enumerate(cells.values())
    ]
    if not columns:
        columns = [exp.alias_(exp.Literal.number(1), "one", quoted=True)]
    conditions = [*statement.join.conditions, *write_among(fixed)]
    groups = [(key.spread, _list_places(len(key.values))) for key in statement.keys if key.spread]
    return write_join(columns, statement.join.occurrences, conditions, groups)


def name_place(groups: str) -> exp.Column:
    """The place of a group, in the table of all groups of a key."""
    return exp.column("place", table=groups, quoted=True)


def _list_places(count: int) -> exp.Select | exp.Union:
    """SELECT of 0, …, count − 1."""
    rows = [
        exp.select(exp.alias_(exp.Literal.number(place), "place", quoted=True), copy=False)
        for place in range(count)
    ]
    return rows[0] if count == 1 else exp.union(*rows, distinct=False, copy=False)


def name_identity(alias: str, place: int) -> str:
    """The column that tells rows of an occurrence apart."""
    return f"row_{alias}_{place}"


def named(name: str) -> exp.Column:
    """A column of what is written here."""
    return exp.column(name, quoted=True)


def name_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Every cell by its name there."""
    return {
        name: replace(cell, tree=named(f"cell_{place}")) for place, (name, cell) in enumerate(cells.items())
    }


def subquery_of(query: exp.Select, name: str) -> exp.Subquery:
    """A query in FROM; the query itself, no copy."""
    return query.subquery(exp.to_identifier(name, quoted=True), copy=False)
