"""Groups that nobody declared: which keys there are, and how many owners hold each, counted inside the engine.

An owner may hold many keys and is counted for a few of them, chosen by a rule that looks at that owner's keys alone:
the smallest by a hash of owner and key. So one owner more raises the numbers of at most so many keys, by one each.

All keys leave the engine, those of a single row too, so whether they can be fetched must not depend on them: rows whose
date no calendar of ours has, or whose number needs more than 64 bits, are in no group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.answering.exact import write_places
from sordino.sql.question import GroupKey, Statement, write_literal
from sordino.sql.units.contributions import write_owned_join
from sordino.sql.units.owners import Owners

Group = tuple[Any, ...]
_TEXT = exp.DataType.Type.TEXT
_NOTHING = "\x01"  # in the hash, in place of NULL
# The least and the greatest value of a kind that is fetched.
_ENDS: dict[str, tuple[exp.Expr, exp.Expr]] = {
    "date": (write_literal(date.min), write_literal(date.max)),
    "number": (exp.Neg(this=whole_number(2**63)), whole_number(2**63 - 1)),
}


def count_holders(
    snapshot: Snapshot, statement: Statement, owners: Owners, keys_per_unit: int
) -> list[tuple[Group, int]]:
    """Every group with the number of owners that are counted for it. Private, the keys too.

    Left out are keys that cannot be fetched: whole numbers beyond 64 bits, days beyond the years 1 to 9999. Which these
    are is public, whoever holds them.
    """
    found = snapshot.aggregate(write_holders_query(statement, owners, keys_per_unit))
    *columns, counts = (column.to_pylist() for column in found.columns)
    keys = [
        column if key.unknown else [key.values[place] for place in column]
        for key, column in zip(statement.keys, columns, strict=True)
    ]
    return list(zip(zip(*keys, strict=True), counts, strict=True))


def write_holders_query(statement: Statement, owners: Owners, keys_per_unit: int) -> exp.Select:
    """SELECT of the keys of all groups and the number of owners that hold them.

    Of a key with public values it is the place among them: a value as the engine has it may look otherwise.
    """
    (owner,) = owners.owners
    names = [exp.column(f"key_{i}", quoted=True) for i in range(len(statement.keys))]
    columns = [exp.alias_(owner.key.copy(), "owner", quoted=True)]
    keys = [key.column if key.unknown else write_places([key])[0] for key in statement.keys]
    columns += [exp.alias_(key.copy(), name.name, quoted=True) for key, name in zip(keys, names, strict=True)]
    held = write_owned_join(columns, statement, owners)
    fetched = [_is_fetched(key) for key in statement.keys if key.unknown and key.kind in _ENDS]
    held.where(*fetched, copy=False)
    held.group_by(owner.key.copy(), *(key.copy() for key in keys), copy=False)
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


def is_writable(group: Group) -> bool:
    """Whether a key that was drawn to be shown can be written in a statement: no engine is sent a zero character."""
    return not any(isinstance(value, str) and "\0" in value for value in group)


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


def _is_fetched(key: GroupKey) -> exp.Expr:
    least, greatest = _ENDS[key.kind]
    inside = exp.Between(this=key.column.copy(), low=least.copy(), high=greatest.copy())
    return exp.paren(exp.or_(inside, exp.Is(this=key.column.copy(), expression=exp.null())))


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
