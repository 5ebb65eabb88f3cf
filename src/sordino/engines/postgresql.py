"""PostgreSQL, through psycopg: each snapshot is a repeatable-read transaction on a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from sqlglot import exp

from sordino.core import EngineError, MissingExtraError, ParameterError, Secret
from sordino.engines.engine import Column, ColumnType, Table
from sordino.engines.query import read_through, render
from sordino.engines.result import normalised

if TYPE_CHECKING:
    from sordino.engines.connect import Resources

_TYPES: dict[str, ColumnType] = {
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "numeric": "decimal",  # of any digits as far as `Column` goes: NUMERIC(p, s) too may be NaN
    "float4": "float",
    "float8": "float",
    "text": "text",
    "varchar": "text",
    "bpchar": "text",
    "name": "text",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
}
# Ordinary and partitioned tables, views, materialised views. Foreign tables are left out: what lies behind them
# need not keep to the snapshot. A part of a partitioned table counts as a view: its rows are rows of the whole.
_CATALOGUE = """
    SELECT n.nspname, c.relname, pg_table_is_visible(c.oid), a.attname,
           CASE WHEN t.typtype = 'e' THEN 'text' WHEN t.typtype = 'd' THEN b.typname ELSE t.typname END,
           NOT (a.attnotnull OR t.typnotnull),
           c.relkind IN ('v', 'm') OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid),
           t.typtype = 'e',
           -- the s of numeric(p, s), 11 bits with a sign
           CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 AND (a.atttypmod - 4) & 2047 < 1024
                THEN (a.atttypmod - 4) & 2047 END
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_type b ON b.oid = t.typbasetype
    WHERE c.relkind IN ('r', 'p', 'v', 'm') AND has_table_privilege(c.oid, 'SELECT')
      AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
    ORDER BY n.nspname, c.relname, a.attnum
"""
# Object ids of the built-in types, fixed since PostgreSQL exists.
_ARROW = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    700: pa.float32(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
}
_NUMERIC = 1700


class PostgreSQLEngine:
    """An engine over one PostgreSQL database; the user needs no more than SELECT."""

    name = "postgresql"
    dialect = "postgres"

    def __init__(self, url: str) -> None:
        """Connects once, so that what is wrong shows now."""
        self._psycopg = _driver()
        self._url = Secret(url)
        self._place = self._describe(url)
        self._closed = False
        self._connection().close()

    def catalogue(self) -> dict[str, Table]:
        """Tables that the user may read; outside the search path named ``schema.table``."""
        with self._connection() as connection:
            return self._catalogue(connection)[0]

    @contextmanager
    def snapshot(self) -> Iterator[PostgreSQLSnapshot]:
        """One read-only repeatable-read transaction, begun now."""
        connection = self._connection()
        try:
            try:
                connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            except self._psycopg.Error as error:
                raise _failure("a snapshot cannot begin", error) from None
            # PostgreSQL takes its snapshot at the first query, not at BEGIN; the catalogue is one.
            yield PostgreSQLSnapshot(connection, self._psycopg, *self._catalogue(connection))
        finally:
            connection.close()

    def close(self) -> None:
        """Refuse further questions; connections live no longer than their snapshot."""
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connection(self) -> Any:
        if self._closed:
            raise EngineError("the connection is closed: connect again")
        try:
            return self._psycopg.connect(
                self._url.reveal(), autocommit=True, connect_timeout=10, client_encoding="utf8"
            )
        except self._psycopg.Error as error:
            text = str(error)
            if "password" in text or "authentication" in text:
                wrong = "refuses this user and password: check both"
            elif "does not exist" in text:
                wrong = "has no such database or user: check the names"
            else:
                wrong = "cannot be reached: check that the server runs there and accepts connections"
            raise EngineError(f"PostgreSQL {self._place} {wrong}", text) from None

    def _describe(self, url: str) -> str:
        """Where and what, without the password."""
        try:
            parts = self._psycopg.conninfo.conninfo_to_dict(url)
        except self._psycopg.Error:
            # What cannot be parsed cannot be shown either: the password may be anywhere in it.
            raise ParameterError(
                "the PostgreSQL URL cannot be read: it must be postgresql://user:password@host:port/database, "
                "with special characters of the password percent-encoded"
            ) from None
        host, port = parts.get("host", "localhost"), parts.get("port", 5432)
        return f"at {host}:{port} (database {parts.get('dbname', 'default')}, user {parts.get('user', 'default')})"

    def _catalogue(self, connection: Any) -> tuple[dict[str, Table], set[tuple[str, str]]]:
        """The tables, and which columns of which are enumerations."""
        try:
            rows = connection.execute(_CATALOGUE).fetchall()
        except self._psycopg.Error as error:
            raise _failure("the catalogue cannot be read", error) from None
        columns: dict[str, list[Column]] = {}
        views, enums = set(), set()
        for schema, table, visible, column, kind, nullable, view, enum, scale in rows:
            if "." in schema or "." in table:
                continue
            name = table if visible else f"{schema}.{table}"
            columns.setdefault(name, []).append(
                Column(column, _TYPES.get(kind, "other"), nullable, scale=scale)
            )
            if view:
                views.add(name)
            if enum:
                enums.add((name, column))
        return {name: Table(name, tuple(found), name in views) for name, found in columns.items()}, enums


class PostgreSQLSnapshot:
    """One transaction.

    ``enums``: columns that are read as text. By themselves they raise when they are compared with what is none of their
    labels, and have none of text's functions.
    """

    def __init__(
        self, connection: Any, psycopg: Any, tables: Mapping[str, Table], enums: set[tuple[str, str]]
    ) -> None:
        self._connection = connection
        self._psycopg = psycopg
        self._tables = frozenset(tables)
        self._as_text = {
            name.casefold(): [_as_text(column.name, (name, column.name) in enums) for column in table.columns]
            for name, table in tables.items()
            if any(owner == name for owner, _ in enums)
        }

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Render, run and fetch one query.

        A NUMERIC answer without a fraction (a sum of integers) is an integer; the scale of any other is that of its
        digits, which PostgreSQL derives from the columns' types.
        """
        sql = render(expression, dialect=PostgreSQLEngine.dialect, tables=self._tables)
        if self._as_text:
            sql = read_through(expression, self._as_text).sql(dialect=PostgreSQLEngine.dialect)
        try:
            with self._connection.cursor() as cursor:
                # No parameters are passed, so that psycopg leaves every % of the query alone.
                cursor.execute(sql)
                kinds = [(column.name, column.type_code) for column in cursor.description]
                rows = cursor.fetchall()
        except self._psycopg.Error as error:
            raise _failure("PostgreSQL cannot answer the query", error) from None
        arrays = [_column(name, kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(kinds)]
        return normalised(pa.Table.from_arrays(arrays, names=[name for name, _ in kinds]))


def open_url(url: str, resources: Resources) -> PostgreSQLEngine:
    """The engine of a ``postgresql://`` URL."""
    resources.refuse("a PostgreSQL server")
    return PostgreSQLEngine(url)


def _as_text(name: str, enum: bool) -> exp.Expr:
    plain = exp.column(name, quoted=True)
    return exp.alias_(exp.cast(plain, exp.DataType.Type.TEXT), name, quoted=True) if enum else plain


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("PostgreSQL needs psycopg: pip install 'sordino[postgres]'") from None
    return psycopg


def _column(name: str, kind: int, values: Sequence[Any]) -> pa.Array:
    try:
        if kind == _NUMERIC:
            return _numeric(values)
        if kind in _ARROW:
            return pa.array(values, _ARROW[kind])
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise EngineError(
            f"the answer's column {name!r} holds numbers beyond what Arrow can carry: cast it in the query",
            str(error),
        ) from None


def _numeric(values: Sequence[Decimal | None]) -> pa.Array:
    digits = [value for value in values if value is not None]
    if not all(value.is_finite() for value in digits):
        raise ValueError("NUMERIC NaN or infinity")
    scale = max((-int(value.as_tuple().exponent) for value in digits), default=0)
    if scale <= 0:
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    try:
        return pa.array(values, pa.decimal128(38, scale))
    except pa.ArrowInvalid:
        return pa.array(values, pa.decimal256(76, scale))


def _failure(what: str, error: Exception) -> EngineError:
    return EngineError(f"{what} (its own words are in .details, for the owner)", str(error))
