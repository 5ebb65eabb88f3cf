"""What one row changes in a query's result, from the definition: over all relations on two values, by a database.

All databases stand in one: every table has a column ``db``, every join is made within one ``db`` and every result row
tells its own. So a query is run once, by DuckDB, for all databases, and two databases that differ in a row are compared
by what it gave for each.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass

import duckdb
import sqlglot
from sqlglot import exp

VALUES = (0, 1)
Relation = tuple[tuple[int | str | None, ...], ...]


@dataclass(frozen=True)
class OracleTable:
    """Columns over a few values; no two rows agree in ``key``, if there is one, unless one of them is NULL there.

    ``values``: of each column, where they are not 0 and 1. ``most``: rows of a relation; with values rows may repeat.
    ``types``: of each column, where they are not those of the values; a text is read as one of them.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    values: tuple[tuple[int | str | None, ...], ...] | None = None
    most: int | None = None
    types: tuple[str, ...] | None = None

    def relations(self) -> list[Relation]:
        domains = self.values or (VALUES,) * len(self.columns)
        rows = sorted(itertools.product(*domains), key=repr)
        places = [self.columns.index(column) for column in self.key]
        choose = itertools.combinations if self.values is None else itertools.combinations_with_replacement
        found = []
        for size in range((len(rows) if self.most is None else self.most) + 1):
            for chosen in choose(rows, size):
                keys = [tuple(row[i] for i in places) for row in chosen]
                whole = [key for key in keys if None not in key]
                if not self.key or len(set(whole)) == len(whole):
                    found.append(tuple(chosen))
        return found

    def kinds(self) -> tuple[str, ...]:
        if self.types is not None:
            return self.types
        domains = self.values or (VALUES,) * len(self.columns)
        return tuple("VARCHAR" if any(isinstance(v, str) for v in d) else "INTEGER" for d in domains)

    def create(self) -> str:
        columns = ", ".join(
            f"{column} {kind} NOT NULL" for column, kind in zip(self.columns, self.kinds(), strict=True)
        )
        key = f", PRIMARY KEY ({', '.join(self.key)})" if self.key else ""
        return f"CREATE TABLE {self.name} ({columns}{key})"


class AllDatabases:
    """Every database over some tables."""

    def __init__(self, tables: tuple[OracleTable, ...]) -> None:
        self.tables = tables
        self.schema = "; ".join(table.create() for table in tables)
        self.databases = list(itertools.product(*(table.relations() for table in tables)))
        self._numbers = {database: i for i, database in enumerate(self.databases)}
        self._connection = duckdb.connect()
        for k, table in enumerate(tables):
            columns = ", ".join(
                f"{column} {kind}" for column, kind in zip(table.columns, table.kinds(), strict=True)
            )
            self._connection.execute(f"CREATE TABLE {table.name} (db INTEGER, {columns})")
            rows = [(i, *row) for i, database in enumerate(self.databases) for row in database[k]]
            listed = ", ".join(f"({', '.join(_literal(value) for value in row)})" for row in rows)
            self._connection.execute(f"INSERT INTO {table.name} VALUES {listed}")
        self._pairs = {table.name: self._neighbours(k) for k, table in enumerate(tables)}

    def _neighbours(self, k: int) -> list[tuple[int, int]]:
        found = []
        for i, database in enumerate(self.databases):
            for place in range(len(database[k])):
                rest = database[k][:place] + database[k][place + 1 :]
                found.append((i, self._numbers[(*database[:k], rest, *database[k + 1 :])]))
        return found

    def neighbours(self) -> dict[int, list[int]]:
        """Of every database those with one row more or less in one table."""
        found: dict[int, list[int]] = {i: [] for i in range(len(self.databases))}
        for pairs in self._pairs.values():
            for a, b in pairs:
                found[a].append(b)
                found[b].append(a)
        return found

    def results(self, sql: str) -> dict[int, Counter]:
        """Per database the multiset of result rows."""
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        for select in list(tree.find_all(exp.Select)):
            sources = [source.alias_or_name for source in select.find_all(exp.Table)]
            first = exp.column("db", table=sources[0])
            select.set("expressions", [first, *select.expressions])
            for other in sources[1:]:
                select.where(exp.EQ(this=first.copy(), expression=exp.column("db", table=other)), copy=False)
            if select.args.get("group"):
                select.args["group"].expressions.insert(0, first.copy())
        found: dict[int, Counter] = defaultdict(Counter)
        for db, *row in self._connection.execute(tree.sql(dialect="duckdb")).fetchall():
            found[db][tuple(row)] += 1
        return found

    def sensitivity(self, sql: str, table: str) -> int:
        """The most result rows that come or go with one row of the table."""
        found, none = self.results(sql), Counter()
        return max(
            sum((found.get(a, none) - found.get(b, none)).values())
            + sum((found.get(b, none) - found.get(a, none)).values())
            for a, b in self._pairs[table]
        )

    def changed_groups(self, sql: str, table: str, keys: int) -> int:
        """The most groups, by the first columns of the result, whose row comes, goes or changes."""
        found, none = self.results(sql), Counter()
        return max(
            len(
                {
                    row[:keys]
                    for row in (found.get(a, none) - found.get(b, none))
                    + (found.get(b, none) - found.get(a, none))
                }
            )
            for a, b in self._pairs[table]
        )


def _literal(value: int | str | None) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
