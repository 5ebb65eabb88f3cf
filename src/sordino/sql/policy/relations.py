"""Relations: which foreign keys of a catalogue a first policy can declare, and which tables they give an owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sordino.core import ParameterError
from sordino.engines import Reference, Table
from sordino.sql.policy.ownership import ColumnName, ForeignKey
from sordino.sql.policy.policy import KEY_TYPES, match_name, suggest_name

_ODD = "it is not one column of integers or texts"
_TWICE = "its column already says where it leads"
_CIRCLE = "it would close a circle of tables that own one another"
_NOBODY = "its table belongs to nobody yet"


@dataclass(frozen=True, slots=True)
class Relations:
    """``declared``: the foreign keys of each table. ``left``: those that were left out, each with the reason.

    ``ownerless``: the tables from which no way leads to an entity, where users are protected.
    """

    declared: Mapping[str, tuple[ForeignKey, ...]]
    left: Mapping[str, tuple[tuple[Reference, str], ...]]
    ownerless: frozenset[str] = frozenset()


def find_relations(tables: Mapping[str, Table], users: Sequence[ColumnName]) -> Relations:
    """What the enforced foreign keys of the tables say; with ``users``, a set of them without circles.

    Keys on a shortest way to an entity are taken first: they never close a circle.
    """
    distance, entity = _measure_distances(tables, users), {user.table: user.column for user in users}
    declared: dict[str, list[ForeignKey]] = {name: [] for name in tables}
    left: dict[str, list[tuple[Reference, str]]] = {name: [] for name in tables}
    edges = [(name, reference) for name, table in tables.items() for reference in table.references]
    far = len(tables) + 1

    def is_detour(edge: tuple[str, Reference]) -> bool:
        name, reference = edge
        named = reference.to[0] == entity.get(reference.table, reference.to[0])
        return not named or distance.get(reference.table, far) >= distance.get(name, far)

    for name, reference in sorted(edges, key=is_detour):
        if not _is_simple(tables, name, reference):
            reason = _ODD
        elif any(key.column.casefold() == reference.columns[0].casefold() for key in declared[name]):
            reason = _TWICE
        elif users and reference.table not in distance:
            reason = _NOBODY
        elif users and _leads_to(reference.table, name, declared):
            reason = _CIRCLE
        else:
            declared[name].append(
                ForeignKey(reference.columns[0], ColumnName(reference.table, reference.to[0]))
            )
            continue
        left[name].append((reference, reason))
    return Relations(
        {name: tuple(keys) for name, keys in declared.items()},
        {name: tuple(keys) for name, keys in left.items()},
        frozenset(set(tables) - set(distance)) if users else frozenset(),
    )


def find_entities(tables: Mapping[str, Table]) -> list[ColumnName]:
    """What could be protected with all its rows: columns that foreign keys lead to, those of most tables first."""
    found = {
        ColumnName(reference.table, reference.to[0])
        for name, table in tables.items()
        for reference in table.references
        if _is_simple(tables, name, reference) and reference.table != name
    }
    reach = {entity: len(_measure_distances(tables, [entity])) for entity in found}
    return sorted(found, key=lambda entity: (-reach[entity], str(entity)))


def find_users(written: Sequence[str], tables: Mapping[str, Table]) -> tuple[ColumnName, ...]:
    """Entities by the names that somebody wrote (``customers.id``), as the catalogue writes them."""
    users = []
    for name in written:
        table, dot, column = name.rpartition(".")
        if not dot or not table.strip() or not column.strip():
            raise ParameterError(f"users must be a column such as customers.id, got {name!r}")
        found = match_name(table, tables)
        if found is None:
            raise ParameterError(f"users: no table {table!r}: {suggest_name(table, tables, 'the tables')}")
        columns = {item.name: item for item in tables[found].columns}
        key = match_name(column, columns)
        if key is None:
            raise ParameterError(
                f"users: no column {column!r} in table {found!r}: {suggest_name(column, columns, 'its columns')}"
            )
        if columns[key].type not in KEY_TYPES:
            raise ParameterError(
                f"users: {found}.{key} is of type {columns[key].type}; integers and texts can be keys"
            )
        users.append(ColumnName(found, key))
    if len({entity.table for entity in users}) < len(users):
        raise ParameterError("users: a table can be one entity only, by one key")
    return tuple(users)


def _measure_distances(tables: Mapping[str, Table], users: Sequence[ColumnName]) -> dict[str, int]:
    """How many foreign keys lead from each table to an entity; tables that reach none are not in it."""
    distance = {entity.table: 0 for entity in users}
    keys = {entity.table: entity.column for entity in users}
    for step in range(1, len(tables) + 1):
        found = {
            name
            for name, table in tables.items()
            for reference in table.references
            if name not in distance
            and distance.get(reference.table) == step - 1
            and _is_simple(tables, name, reference)
            # whoever refers to another column than the entity's key does not name the entity
            and reference.to[0] == keys.get(reference.table, reference.to[0])
        }
        distance |= dict.fromkeys(found, step)
    return distance


def _is_simple(tables: Mapping[str, Table], name: str, reference: Reference) -> bool:
    """Whether a policy can hold it: one column, of a type that can be a key, without a dot in its name."""
    if len(reference.columns) != 1 or any("." in column for column in (*reference.columns, *reference.to)):
        return False
    kinds = {column.name: column.type for column in tables[name].columns}
    return reference.table in tables and kinds[reference.columns[0]] in KEY_TYPES


def _leads_to(start: str, goal: str, declared: Mapping[str, Sequence[ForeignKey]]) -> bool:
    """Whether the keys so far lead from one table to another; a table leads to itself."""
    seen, ahead = {start}, [start]
    while ahead:
        further = {key.to.table for key in declared[ahead.pop()]} - seen
        seen |= further
        ahead += further
    return goal in seen
