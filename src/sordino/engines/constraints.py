"""Keys and foreign keys that an engine enforces, as far as they hold for the values that statements compare.

An engine enforces a constraint by its own equality; statements compare values in canonical form
(`sordino.engines.canonical`), text by its bytes.

* **Keys.** The engine's equality may be coarser (a collation that ignores case, the padding of CHAR(n), which the
  canonical form takes off too): two texts of the same bytes are equal under every collation, so what is unique for
  the engine is unique. It must not be finer. Whole numbers, decimals, dates, timestamps, booleans and texts have no
  two forms of one value; a float has (0 and -0, many NaN), and a key with a float in it is left out.
* **Foreign keys.** Here a coarser equality does harm: 'A' may refer to 'a', which no row is. An engine gives only
  those of texts that it compares by their bytes, and of two columns of one kind.

A key or foreign key that names a column that cannot be asked about, or a table that is a view, is left out. So is one
that is enforced for some rows only, or for none yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sordino.engines.engine import ColumnType, Reference, Table

_ONE_FORM: tuple[ColumnType, ...] = ("integer", "decimal", "text", "boolean", "date", "timestamp")


@dataclass(frozen=True, slots=True)
class UniqueKey:
    """A constraint of the catalogue on a table; its names may be written in any case."""

    table: str
    columns: tuple[str, ...]
    primary: bool = False


@dataclass(frozen=True, slots=True)
class ForeignReference:
    """A foreign key of the catalogue, with both tables as the catalogue calls them."""

    table: str
    columns: tuple[str, ...]
    to_table: str
    to: tuple[str, ...]


def add_constraints(
    tables: Mapping[str, Table], keys: Iterable[UniqueKey], references: Iterable[ForeignReference]
) -> dict[str, Table]:
    """The tables with those of their constraints that hold in canonical form, in an order that is always the same."""
    unique: dict[str, set[tuple[bool, tuple[str, ...]]]] = {}
    for key in keys:
        table = _own_table(key.table, tables)
        names = None if table is None else _find_columns(table, key.columns)
        if table is not None and names is not None:
            unique.setdefault(table.name, set()).add((not key.primary, names))
    foreign: dict[str, set[tuple[tuple[str, ...], str, tuple[str, ...]]]] = {}
    for reference in references:
        table, to = _own_table(reference.table, tables), _own_table(reference.to_table, tables)
        if table is None or to is None:
            continue
        own, other = _find_columns(table, reference.columns), _find_columns(to, reference.to)
        if own is not None and other is not None and _kinds(table, own) == _kinds(to, other):
            foreign.setdefault(table.name, set()).add((own, to.name, other))
    return {
        name: replace(
            table,
            keys=tuple(dict.fromkeys(columns for _, columns in sorted(unique.get(name, ())))),
            references=tuple(Reference(*found) for found in sorted(foreign.get(name, ()))),
        )
        for name, table in tables.items()
    }


def _own_table(name: str, tables: Mapping[str, Table]) -> Table | None:
    """A table with rows of its own, by a name in any case."""
    table = tables.get(name)
    if table is None:
        alike = [other for other in tables if other.casefold() == name.casefold()]
        table = tables[alike[0]] if len(alike) == 1 else None
    return None if table is None or table.view else table


def _find_columns(table: Table, names: Iterable[str]) -> tuple[str, ...] | None:
    """The columns as the catalogue writes them; None where one is not there, or has two forms of one value."""
    known = {column.name.casefold(): column for column in table.columns}
    found = [known.get(name.casefold()) for name in names]
    columns = tuple(column.name for column in found if column is not None and column.type in _ONE_FORM)
    return columns if columns and len(columns) == len(found) else None


def _kinds(table: Table, names: Iterable[str]) -> list[ColumnType]:
    known = {column.name: column.type for column in table.columns}
    return [known[name] for name in names]
