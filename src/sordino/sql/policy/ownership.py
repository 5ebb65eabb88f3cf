"""Ownership: which entities the rows of a table belong to, found through declared foreign keys.

A *unit* is an entity (a customer) together with all rows that reach it. A row reaches an entity along a way of foreign
keys; a table may have several ways, and then a row several owners. A row whose keys lead nowhere belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.core.distance import WITH_ALL_ROWS
from sordino.sql.policy.fields import read_mapping, read_string
from sordino.sql.policy.places import field_error

if TYPE_CHECKING:
    from sordino.sql.policy.policy import TablePolicy


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column of a table, written ``customers.id``."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A column whose values are those of a column of another table."""

    column: str
    to: ColumnName


@dataclass(frozen=True, slots=True)
class OwnerPath:
    """A way from a table's rows to an entity; no hops where the table is the entity's own."""

    entity: ColumnName
    hops: tuple[ForeignKey, ...] = ()

    def after_first_hop(self) -> OwnerPath:
        """The rest of the way, from the table that the first hop leads to."""
        return OwnerPath(self.entity, self.hops[1:])


def read_column_name(path: str, value: Any) -> ColumnName:
    """``table.column``, where the table may have a schema in front."""
    table, dot, column = read_string(path, value).rpartition(".")
    if not dot or not table.strip() or not column.strip():
        raise field_error(path, f" must be a column such as customers.id, got {value!r}")
    return ColumnName(table, column)


def read_users(value: Any) -> tuple[ColumnName, ...]:
    """One entity or a list of them, each once."""
    listed = value if isinstance(value, list | tuple) else [value]
    if not listed or value is None:
        raise field_error("users", " lacks an entity: name its key, such as users: customers.id")
    found = tuple(read_column_name("users", item) for item in listed)
    if len({str(entity).casefold() for entity in found}) < len(found):
        raise field_error("users", ": an entity is named twice")
    tables = [entity.table.casefold() for entity in found]
    if len(set(tables)) < len(tables):
        raise field_error("users", ": a table can be one entity only, by one key")
    return found


def read_foreign_keys(path: str, value: Any) -> tuple[ForeignKey, ...]:
    """``{o_custkey: customer.c_custkey}``."""
    written = read_mapping(path, value, None)
    if len({column.casefold() for column in written}) < len(written):
        raise field_error(path, ": two names differ in upper and lower case only")
    return tuple(
        ForeignKey(column, read_column_name(f"{path}.{column}", to)) for column, to in written.items()
    )


def find_owner_paths(
    table: str, tables: Mapping[str, TablePolicy], users: tuple[ColumnName, ...]
) -> tuple[OwnerPath, ...]:
    """All ways from a private table to the entities; keys into public tables lead to nobody.

    **Requires**: names as they are declared, and no cycles (`check_ownership` sees to both).
    """
    own = [OwnerPath(entity) for entity in users if entity.table == table]
    further = [
        OwnerPath(path.entity, (key, *path.hops))
        for key in tables[table].foreign_keys
        if tables[key.to.table].private
        for path in find_owner_paths(key.to.table, tables, users)
        # whoever refers to another column than the entity's key does not name the entity
        if path.hops or key.to.column.casefold() == path.entity.column.casefold()
    ]
    return (*own, *further)


def check_ownership(tables: Mapping[str, TablePolicy], users: tuple[ColumnName, ...]) -> None:
    """Raise unless every entity is private, no table owns itself, and every private table reaches an entity."""
    for entity in users:
        if not tables[entity.table].private:
            raise field_error(
                "users",
                f": {entity.table} is public, and a public table protects nobody: make it private, or name another "
                "entity",
            )
    for name, table in tables.items():
        _refuse_cycle(name, (), tables)
        if table.weight != 1:
            raise field_error(
                f"tables.{name}.weight", ": rows have no weights where whole users are protected"
            )
        if table.private and table.view:
            raise field_error(
                f"tables.{name}.view",
                f": a row of the view {name} may be made of the rows of several users: list the tables below it",
            )
    for name, table in tables.items():
        if table.private and not find_owner_paths(name, tables, users):
            _refuse_other_column(name, table, users)
            raise field_error(
                f"tables.{name}",
                f": no way of foreign_keys leads from {name} to {' or '.join(map(str, users))}, so its rows belong to "
                "nobody: declare foreign_keys, or private: false",
            )


def _refuse_other_column(name: str, table: TablePolicy, users: tuple[ColumnName, ...]) -> None:
    """A key that leads to the entity's table, but not to its key: one of the two is misspelt."""
    for key in table.foreign_keys:
        for entity in users:
            if key.to.table == entity.table:
                raise field_error(
                    f"tables.{name}.foreign_keys.{key.column}",
                    f" leads to {key.to}, and users names {entity}: they must be the same column",
                )


def _refuse_cycle(name: str, before: tuple[str, ...], tables: Mapping[str, TablePolicy]) -> None:
    if name in before:
        circle = " → ".join((*before[before.index(name) :], name))
        raise field_error(
            f"tables.{before[-1]}.foreign_keys",
            f": the tables own one another in a circle ({circle}): leave out the key that does not say who owns a row",
        )
    for key in tables[name].foreign_keys:
        if tables[key.to.table].private:
            _refuse_cycle(key.to.table, (*before, name), tables)


def name_unit(users: tuple[ColumnName, ...]) -> str:
    """What a unit is, in words: ``customer with all their rows``."""
    return " or ".join(_singular(entity.table) for entity in users) + WITH_ALL_ROWS


def _singular(table: str) -> str:
    name = table.rpartition(".")[2]
    if name.casefold().endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    plural = name.casefold().endswith("s") and not name.casefold().endswith(("ss", "us"))
    return name[:-1] if plural and len(name) > 2 else name
