"""What every database looks like from above: a dialect, a catalogue, snapshots and aggregates in Arrow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self, runtime_checkable

import pyarrow as pa
from sqlglot import exp

ColumnType = Literal["integer", "decimal", "float", "text", "boolean", "date", "timestamp", "other"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the catalogue declares it; ``nullable`` is True unless the engine promises otherwise.

    ``digits``: of a decimal, how many each value has at most, before and behind the point together; None where a value
    may have more than 38, be NaN or infinite. ``scale``: how many digits the type leaves behind the point, so that
    every number is a whole multiple of 10^-scale; None where the type does not say. ``labels``: of an enumeration, all
    values that its type allows, in the type's order.
    """

    name: str
    type: ColumnType
    nullable: bool = True
    digits: int | None = None
    scale: int | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key that the engine enforces: no row holds values here that no row of ``table`` has there.

    A row with a NULL among them refers to nothing.
    """

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its columns, in the order of the catalogue.

    ``view``: its rows are made from those of other tables, so that one row there may be many here, or none.
    ``left_out``: columns that do not exist for questions, each with the reason, for the owner.
    ``keys``: columns that no two rows agree in (unless one is NULL), by a constraint that the engine enforces; the
    primary key first. ``references``: its enforced foreign keys. Both hold for the values in canonical form
    (`sordino.engines.constraints`), and a view has none.
    """

    name: str
    columns: tuple[Column, ...]
    view: bool = False
    left_out: tuple[tuple[str, str], ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    references: tuple[Reference, ...] = ()


class Snapshot(Protocol):
    """One state of the data: all statements inside it see the same rows."""

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """The answer to one query: integers as int64, floats as double, text as string."""
        ...


@runtime_checkable
class KeepingSnapshot(Protocol):
    """A snapshot of a state of the data that the engine can tell from every other."""

    def kept(self, tables: Iterable[str]) -> dict[Hashable, int] | None:
        """Numbers that stay true while the data is as it is now: shared by the snapshots of one state, then dropped.

        None where the engine does not know whether somebody wrote, or where one of the tables is a view: its code may
        say something else by the hour.
        """
        ...


@runtime_checkable
class Engine(Protocol):
    """A database. Queries come as sqlglot trees, so that no text of anybody reaches it unread."""

    name: str
    dialect: str

    def catalogue(self) -> dict[str, Table]:
        """The tables and their declared types; reads no rows.

        A name is ``table`` or ``schema.table``; tables with a dot in their own name are left out. So are columns that
        run code when they are read: what raises on some rows would tell of them.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A read-only view of the data in which all statements agree."""
        ...

    def close(self) -> None:
        """Give the connection back; closing twice is fine."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class FileEngine(Protocol):
    """An engine whose tables are text files."""

    def lines_and_rows(self, table: str) -> tuple[int, int] | None:
        """How many lines below its header a table's file has, and how many rows they make; for the owner.

        None for a table that is no text file.
        """
        ...
