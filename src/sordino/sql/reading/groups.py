"""GROUP BY over public values, and whether the groups share no row of any private table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.engines import Snapshot
from sordino.sql.expressions.value import Value
from sordino.sql.policy import Policy, match_name
from sordino.sql.policy.fields import fold
from sordino.sql.question import GroupKey, Occurrence, Statement
from sordino.sql.text import Text

MOST_GROUPS = 10_000
_KEY_KINDS = ("text", "integer", "boolean", "date")
Place = tuple[str, str]


def read_group_key(
    text: Text,
    node: exp.Expr,
    name: str,
    value: Value,
    *,
    occurrences: list[Occurrence],
    conditions: list[exp.Expr],
    policy: Policy,
) -> GroupKey:
    """The key of one GROUP BY expression: a column whose values are public."""
    if value.column is None:
        text.refuse(node, "groups are columns with a declared domain, or columns of a public table")
    if value.kind not in _KEY_KINDS:
        text.refuse(
            node, f"a column of type {value.kind} cannot be a group; text, integer, boolean and date can"
        )
    by_alias = {occurrence.alias: occurrence for occurrence in occurrences}
    same = find_equal_places(value.column, by_alias, conditions)
    values: tuple[Any, ...] | None = None
    source: tuple[str, str] | None = None
    # The column itself first, then those it must equal.
    for alias, column in (value.column, *(place for place in same if place != value.column)):
        table = policy.table_named(by_alias[alias].table)
        if table is None:
            continue
        declared = match_name(column, table.columns)
        domain = table.columns[declared].domain if declared is not None else None
        if domain is not None:
            values = domain
            break
        if not table.private:
            source = (by_alias[alias].table, column)
            break
    if values is None and source is None:
        owner, column = by_alias[value.column[0]].table, value.column[1]
        text.wrong(
            node,
            f"the groups of {column!r} are not public: declare tables.{owner}.columns.{column}.domain in the policy, "
            "or group by a column of a public table",
        )
    others = tuple(
        exp.column(column, table=alias, quoted=True)
        for alias, column in sorted(same)
        if (alias, column) != value.column
    )
    key = GroupKey(name, value.expression, values or (), source if values is None else None, others)
    check_number(text, [key])
    return key


def find_equal_places(
    place: Place, by_alias: Mapping[str, Occurrence], conditions: list[exp.Expr]
) -> set[Place]:
    """The columns that every joined row gives the same value as ``place``: equalities of columns of one type."""
    pairs = []
    for condition in conditions:
        if isinstance(condition, exp.EQ):
            left, right = condition.this, condition.expression
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                a, b = (left.table, left.name), (right.table, right.name)
                if by_alias[a[0]].columns[a[1]] == by_alias[b[0]].columns[b[1]]:
                    pairs.append((a, b))
    same = {place}
    while True:
        further = {q for a, b in pairs for p, q in ((a, b), (b, a)) if p in same} - same
        if not further:
            return same
        same |= further


def is_partition(
    occurrences: tuple[Occurrence, ...], conditions: tuple[exp.Expr, ...], keys: tuple[GroupKey, ...]
) -> bool:
    """Whether every row of every private table belongs to at most one group.

    **Requires** for every private table and *every* key one column that, in *all* occurrences of the table, equals
    the key. One key of two is not enough: a row that fixes the first key alone takes part in the groups of all
    values of the second. A self-join whose occurrences meet the key in different columns is not enough either: a
    row would belong to one group as the first occurrence and to another as the second.
    """
    if not keys:
        return False
    by_alias = {occurrence.alias: occurrence for occurrence in occurrences}
    for key in keys:
        if not isinstance(key.column, exp.Column):
            return False
        if len({fold(value) for value in key.values}) < len(key.values):
            return False
        same = find_equal_places((key.column.table, key.column.name), by_alias, list(conditions))
        for table in {occurrence.table for occurrence in occurrences if occurrence.private}:
            shared = [
                {column for alias, column in same if alias == occurrence.alias}
                for occurrence in occurrences
                if occurrence.table == table
            ]
            if not set.intersection(*shared):
                return False
    return True


def read_public_keys(statement: Statement, snapshot: Snapshot) -> Statement:
    """The statement with the groups that are still to be read from public tables.

    The values come from the public table alone, without the join and its conditions, so they tell nothing of
    private rows. NULL is a group if the column holds it.
    """
    if all(key.source is None for key in statement.keys):
        return statement
    keys = []
    for key in statement.keys:
        if key.source is None:
            keys.append(key)
            continue
        table, column = key.source
        name = exp.column(column, table="p", quoted=True)
        query = (
            exp.select(exp.alias_(name, "value", quoted=True))
            .from_(make_table(table, "p"))
            .group_by(name.copy())
            .limit(MOST_GROUPS + 1)
        )
        values = snapshot.aggregate(query).column(0).to_pylist()
        if len(values) > MOST_GROUPS:
            raise UnsupportedError(
                f"{key.name!r} has more than {MOST_GROUPS} groups: declare a domain in the policy"
            )
        keys.append(replace(key, values=tuple(sorted(values, key=_order)), source=None))
    if math.prod(len(key.values) for key in keys) > MOST_GROUPS:
        raise UnsupportedError(f"the keys make more than {MOST_GROUPS} groups: group by fewer columns")
    conditions = statement.join.conditions
    return replace(
        statement,
        keys=tuple(keys),
        partitions=is_partition(statement.join.occurrences, conditions, tuple(keys)),
    )


def check_number(text: Text, keys: list[GroupKey]) -> None:
    """Refuse more groups than anybody can read."""
    if math.prod(max(len(key.values), 1) for key in keys) > MOST_GROUPS:
        text.refuse(
            "GROUP BY", f"at most {MOST_GROUPS} groups are released; group by fewer columns", keyword="GROUP"
        )


def make_table(name: str, alias: str) -> exp.Table:
    """A table of the catalogue under an alias."""
    schema, dot, table = name.partition(".")
    return exp.Table(
        this=exp.to_identifier(table if dot else schema, quoted=True),
        db=exp.to_identifier(schema, quoted=True) if dot else None,
        alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
    )


def _order(value: Any) -> tuple[bool, Any]:
    shown = value.isoformat() if isinstance(value, date) else value
    return value is None, "" if value is None else shown
