"""Groups that nobody declared: which keys there are, and how many owners hold each, counted inside the engine.

An owner may hold many keys and is counted for a few of them, chosen by a rule that looks at that owner's keys alone:
the smallest by a hash of owner and key. So one owner more raises the numbers of at most so many keys, by one each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.question import Statement
from sordino.sql.units.contributions import write_owned_join
from sordino.sql.units.owners import Owners

Group = tuple[Any, ...]
_TEXT = exp.DataType.Type.TEXT
_NOTHING = "\x01"  # in the hash, in place of NULL


def count_holders(
    snapshot: Snapshot, statement: Statement, owners: Owners, keys_per_unit: int
) -> list[tuple[Group, int]]:
    """Every group with the number of owners that are counted for it. Private, the keys too."""
    found = snapshot.aggregate(write_holders_query(statement, owners, keys_per_unit))
    *keys, counts = (column.to_pylist() for column in found.columns)
    return list(zip(zip(*keys, strict=True), counts, strict=True))


def write_holders_query(statement: Statement, owners: Owners, keys_per_unit: int) -> exp.Select:
    """SELECT of the keys of all groups and the number of owners that hold them."""
    (owner,) = owners.owners
    names = [exp.column(f"key_{i}", quoted=True) for i in range(len(statement.keys))]
    columns = [exp.alias_(owner.key.copy(), "owner", quoted=True)]
    columns += [
        exp.alias_(key.column.copy(), name.name, quoted=True)
        for key, name in zip(statement.keys, names, strict=True)
    ]
    held = write_owned_join(columns, statement, owners)
    held.group_by(owner.key.copy(), *(key.column.copy() for key in statement.keys), copy=False)
    order = [
        exp.Ordered(this=_hash([exp.column("owner", quoted=True), *names])),
        *(exp.Ordered(this=name.copy()) for name in names),
    ]
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column("owner", quoted=True)],
        order=exp.Order(expressions=order),
    )
    placed = exp.select(*(name.copy() for name in names), exp.alias_(place, "place", quoted=True)).from_(
        held.subquery("held")
    )
    kept = exp.LTE(this=exp.column("place", quoted=True), expression=whole_number(keys_per_unit))
    counted = exp.alias_(exp.Count(this=exp.Star(), big_int=True), "holders", quoted=True)
    return (
        exp.select(*(name.copy() for name in names), counted)
        .from_(placed.subquery("placed"))
        .where(kept)
        .group_by(*(name.copy() for name in names))
    )


def with_groups(statement: Statement, groups: Sequence[Group]) -> Statement:
    """The statement with the groups that are shown, as if they had been declared.

    They are sorted: the order in which an engine finds them is nobody's business.
    """
    groups = sorted(
        groups, key=lambda group: [(value is None, "" if value is None else value) for value in group]
    )
    keys = []
    for place, key in enumerate(statement.keys):
        values = key.values
        if key.unknown:
            values = tuple(
                sorted({group[place] for group in groups}, key=lambda value: (value is None, value))
            )
        keys.append(replace(key, values=values))
    return replace(statement, keys=tuple(keys), listed=tuple(groups))


def _hash(names: Sequence[exp.Expr]) -> exp.Expr:
    parts: list[exp.Expr] = []
    for name in names:
        text = exp.cast(name.copy(), _TEXT)
        parts.append(exp.Coalesce(this=text, expressions=[exp.Literal.string(_NOTHING)]))
        parts.append(exp.Literal.string("\x02"))
    joined = parts[0]
    for part in parts[1:]:
        joined = exp.DPipe(this=joined, expression=part)
    return exp.MD5(this=joined)
