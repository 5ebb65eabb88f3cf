"""A snapshot over sqlite for tests of statements: a hundred thousand tiny databases in minutes.

Queries come as sqlglot trees and answers go as Arrow, like those of the engines; `tests/backends` compare with them.
"""

from __future__ import annotations

import sqlite3

import pyarrow as pa
from sqlglot import exp

from tests.oracles.joins import Database, JoinQuery


class SQLiteSnapshot:
    """One connection whose tables are filled anew for every database."""

    def __init__(self, query: JoinQuery) -> None:
        self.tables = query.tables
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.texts: dict[int, tuple[exp.Expr, str]] = {}  # by identity: comparing trees is slow
        for table in query.tables:
            columns = ", ".join(f"{name} INTEGER" for name in table.columns)
            self.connection.execute(f"CREATE TABLE {table.name} ({columns})")

    def fill(self, database: Database) -> SQLiteSnapshot:
        for table in self.tables:
            self.connection.execute(f"DELETE FROM {table.name}")
            marks = ", ".join("?" * len(table.columns))
            self.connection.executemany(
                f"INSERT INTO {table.name} VALUES ({marks})", list(database[table.name].elements())
            )
        return self

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        if id(expression) not in self.texts:
            self.texts[id(expression)] = expression, expression.transform(_whole).sql(dialect="sqlite")
        cursor = self.connection.execute(self.texts[id(expression)][1])
        rows = cursor.fetchall()
        names = [column[0] for column in cursor.description]
        columns = list(zip(*rows, strict=True)) or [[] for _ in names]
        return pa.table({name: list(values) for name, values in zip(names, columns, strict=True)})

    def close(self) -> None:
        self.connection.close()


def _whole(node: exp.Expr) -> exp.Expr:
    """sqlite has no decimals; its integers are exact."""
    if isinstance(node, exp.Cast) and node.is_type("decimal"):
        return exp.cast(node.this, "INT")
    return node
