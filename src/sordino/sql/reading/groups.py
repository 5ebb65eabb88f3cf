"""GROUP BY over public values, and whether the groups share no row of any private table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date
from typing import Any

from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.engines import Snapshot
from sordino.sql.expressions.moments import list_starts
from sordino.sql.expressions.value import Value
from sordino.sql.lookups import make_table
from sordino.sql.policy import ColumnPolicy, Policy, match_name
from sordino.sql.policy.fields import fold
from sordino.sql.question import GroupKey, Occurrence, Statement
from sordino.sql.released import ReleasedKind
from sordino.sql.text import Text

MOST_GROUPS = 10_000
_KEY_KINDS: dict[str, ReleasedKind] = {
    "text": "text", "integer": "number", "boolean": "boolean", "date": "date",
}  # fmt: skip
_COMPUTED_KINDS: dict[str, ReleasedKind] = {**_KEY_KINDS, "timestamp": "timestamp"}
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
    outer: AbstractSet[str] = frozenset(),
) -> GroupKey:
    """The key of one GROUP BY expression: a column whose values are public.

    ``outer``: the tables behind LEFT JOIN, of which NULL is a group too: that of the rows without a partner.
    """
    if value.column is None:
        return _read_computed(text, node, value, may_be_unknown=bool(policy.users))
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
        domain = _list_domain(table.columns[declared]) if declared is not None else None
        if domain is not None:
            values = domain
            break
        if not table.private:
            source = (by_alias[alias].table, column)
            break
    if values is None and value.values is not None:
        values = value.values  # a key of a sub-select, whose values are public there
    if values is None and source is None and value.kind == "boolean":
        values = (False, True, None)  # nobody has to declare what a truth value can be
    unknown = values is None and source is None and bool(policy.users)
    if values is None and source is None and not unknown:
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
    absent = value.column[0] in outer
    if values is not None and absent and None not in values:
        values = (*values, None)
    key = GroupKey(name, value.expression, values or (), source if values is None else None, others,
                   _KEY_KINDS[value.kind], unknown, absent)  # fmt: skip
    check_number(text, [key])
    return key


def _list_domain(column: ColumnPolicy) -> tuple[Any, ...] | None:
    """The declared values; of a date with bounds its days, and NULL."""
    if column.domain is None and column.period is not None:
        return list_starts(column.period, "DAY")
    return column.domain


def _read_computed(text: Text, node: exp.Expr, value: Value, *, may_be_unknown: bool) -> GroupKey:
    """An expression that says itself what it can be: a choice among literals, a condition, a bounded whole number.

    NULL is a group of its own where the expression can be NULL. Rows with other values are in no group, as beyond a
    declared domain. ``may_be_unknown``: what says nothing of the kind is like a column that nobody declared.
    """
    if value.expression.find(exp.Column) is None:
        text.refuse(node, "a group needs a column; leave it out of GROUP BY", keyword="GROUP")
    low, high, step = value.range.low, value.range.high, value.range.step
    values: tuple[Any, ...]
    if value.values is not None:
        values = value.values
    elif value.kind == "boolean":
        values = (False, True, None)
    elif value.is_number and low is not None and high is not None and step is not None and step % 1 == 0:
        width = int(step) or 1  # of bins such as FLOOR(x / 10) * 10; a step of 0 fits any
        first, last = math.ceil(low / width) * width, math.floor(high / width) * width
        if (last - first) // width >= MOST_GROUPS:
            text.refuse(node, f"it lies between {first} and {last}, and at most {MOST_GROUPS} groups are released; "
                        "group by fewer values, such as those of CASE", keyword="GROUP")  # fmt: skip
        values = (*range(first, last + 1, width), None)
    elif value.period is not None:
        text.refuse(node, f"it has more than {MOST_GROUPS} values between {value.period[0]} and {value.period[1]}; "
                    "group by longer units, such as DATE_TRUNC('month', x)", keyword="GROUP")  # fmt: skip
    elif may_be_unknown and value.kind in _KEY_KINDS:
        return GroupKey(
            node.sql(comments=False),
            exp.Paren(this=value.expression),
            (),
            kind=_KEY_KINDS[value.kind],
            unknown=True,
        )
    else:
        text.refuse(
            node, "groups are columns with a declared domain, columns of a public table, and expressions that say what "
            "they can be: CASE with literals, conditions, EXTRACT, DATE_TRUNC and EXTRACT(YEAR ...) of a date with "
            "bounds in the policy, FLOOR of a bounded number", keyword="GROUP",
        )  # fmt: skip
    kind: ReleasedKind = "number" if value.is_number else _COMPUTED_KINDS[value.kind]
    return GroupKey(node.sql(comments=False), exp.Paren(this=value.expression), values, kind=kind)


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


def is_partition(occurrences: tuple[Occurrence, ...], keys: tuple[GroupKey, ...]) -> bool:
    """Whether every row of every private table belongs to at most one group.

    **Requires** for every private table and *every* key one column that, in *all* occurrences of the table, equals
    the key. One key of two is not enough: a row that fixes the first key alone takes part in the groups of all
    values of the second. A self-join whose occurrences meet the key in different columns is not enough either: a
    row would belong to one group as the first occurrence and to another as the second. What is computed from one
    occurrence's columns is fixed by its rows alone, so that it must be the only private one. Keys that rows move
    between share the budget in any case, so that only the others are asked.
    """
    keys = tuple(key for key in keys if not key.spread)
    if not keys:
        return False
    for key in keys:
        if len({fold(value) for value in key.values}) < len(key.values):
            return False
        if not isinstance(key.column, exp.Column):
            private = [occurrence.alias for occurrence in occurrences if occurrence.private]
            if len(private) != 1 or {column.table for column in key.column.find_all(exp.Column)} != set(
                private
            ):
                return False
            continue
        same = {
            (column.table, column.name)
            for column in (key.column, *key.equals)
            if isinstance(column, exp.Column)
        }
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
        values += [None] if key.absent and None not in values else []
        keys.append(replace(key, values=tuple(sorted(values, key=_order)), source=None))
    if math.prod(len(key.values) for key in keys) > MOST_GROUPS:
        raise UnsupportedError(f"the keys make more than {MOST_GROUPS} groups: group by fewer columns")
    return replace(statement, keys=tuple(keys), partitions=is_partition(statement.join.everyone, tuple(keys)))


def check_number(text: Text, keys: list[GroupKey]) -> None:
    """Refuse more groups than anybody can read."""
    if math.prod(max(len(key.values), 1) for key in keys) > MOST_GROUPS:
        text.refuse(
            "GROUP BY", f"at most {MOST_GROUPS} groups are released; group by fewer columns", keyword="GROUP"
        )


def _order(value: Any) -> tuple[bool, Any]:
    shown = value.isoformat() if isinstance(value, date) else value
    return value is None, "" if value is None else shown
