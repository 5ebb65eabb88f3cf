"""PostgreSQL, through psycopg: each snapshot is a repeatable-read transaction on a connection of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sordino.core import EngineError, MissingExtraError, ParameterError, Secret, UnsupportedError
from sordino.core.closing import Closing
from sordino.engines.canonical import Found, Reading, read_through
from sordino.engines.engine import Table
from sordino.engines.postgresql_catalogue import CATALOGUE, CONSTRAINTS, find_tables, order_by_bytes
from sordino.engines.query import write
from sordino.engines.resources import Resources
from sordino.engines.result import normalise
from sordino.engines.settings import check_settings

# What changes the meaning of a statement or of an answer. Plans, memory and time limits are the server's business.
_SETTINGS = {
    "standard_conforming_strings": "on",
    "backslash_quote": "safe_encoding",
    "escape_string_warning": "off",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "xmloption": "content",
    "client_encoding": "UTF8",
    "row_security": "on",
    "gin_fuzzy_search_limit": "0",
    "quote_all_identifiers": "off",  # before the next: it would be read back quoted
    "search_path": "pg_catalog, pg_temp",
}
_LONGEST_NAME = 63  # bytes; PostgreSQL cuts longer ones, and two may become one
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


class PostgreSQLEngine(Closing):
    """An engine over one PostgreSQL database; the user needs no more than SELECT.

    Every connection is ours alone and lives no longer than its snapshot. Its settings are pinned, whatever the
    database, the role or the URL says; built-in functions, operators and types are found in pg_catalog only, and
    tables are called by their schema.
    """

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
            return self._found(connection, self._pinned(connection)).tables

    @contextmanager
    def snapshot(self) -> Iterator[PostgreSQLSnapshot]:
        """One read-only repeatable-read transaction, begun now."""
        connection = self._connection()
        try:
            schemas = self._pinned(connection)
            try:
                connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            except self._psycopg.Error as error:
                raise _failure("a snapshot cannot begin", error) from None
            # PostgreSQL takes its snapshot at the first query, not at BEGIN; the catalogue is one.
            found = self._found(connection, schemas)
            yield PostgreSQLSnapshot(connection, self._psycopg, found.readings)
        finally:
            connection.close()

    def close(self) -> None:
        """Refuse further questions; connections live no longer than their snapshot."""
        self._closed = True

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
            parts = {"port": ""}
        host, port = parts.get("host", "localhost"), str(parts.get("port", 5432))
        # What cannot be parsed, or only by taking the password apart at its @ or /, cannot be shown either.
        if not re.fullmatch("[0-9,]+", port) or "@" in host or "@" in parts.get("dbname", ""):
            raise ParameterError(
                "the PostgreSQL URL cannot be read: it must be postgresql://user:password@host:port/database, "
                "with special characters of the password percent-encoded"
            )
        return f"at {host}:{port} (database {parts.get('dbname', 'default')}, user {parts.get('user', 'default')})"

    def _pinned(self, connection: Any) -> list[str]:
        """Pin the settings of a new connection, and give the schemas of the search path that it had."""
        try:
            schemas = connection.execute(
                "SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]"
            ).fetchall()[0][0]
            connection.execute(
                "; ".join(f"SET {name} = {_value(value)}" for name, value in _SETTINGS.items())
            )
            read = ", ".join(f"current_setting('{name}')" for name in (*_SETTINGS, "server_encoding"))
            found = connection.execute(f"SELECT {read}").fetchall()[0]
        except self._psycopg.Error as error:
            raise _failure("the session's settings cannot be pinned", error) from None
        check_settings(
            "PostgreSQL",
            dict(zip((*_SETTINGS, "server_encoding"), found, strict=True)),
            # The encoding is the database's own: in another one texts have other bytes, and some literals none.
            _SETTINGS | {"server_encoding": "UTF8"},
            lambda name, value: (
                f"CREATE DATABASE ... ENCODING '{value}'"
                if name == "server_encoding"
                else "allow SET for this user"
            ),
        )
        return list(schemas)

    def _found(self, connection: Any, schemas: list[str]) -> Found:
        try:
            tables = connection.execute(CATALOGUE, [schemas]).fetchall()
            return find_tables(tables, connection.execute(CONSTRAINTS).fetchall())
        except self._psycopg.Error as error:
            raise _failure("the catalogue cannot be read", error) from None


class PostgreSQLSnapshot:
    """One transaction; ``readings``: the tables and their columns in canonical form."""

    def __init__(self, connection: Any, psycopg: Any, readings: Mapping[str, Reading]) -> None:
        self._connection = connection
        self._psycopg = psycopg
        self._readings = readings

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Write, run and fetch one query.

        A NUMERIC answer without a fraction (a sum of integers) is an integer; the scale of any other is that of its
        digits, which PostgreSQL derives from the columns' types.
        """
        sql = _written(read_through(expression, self._readings))
        try:
            with self._connection.cursor() as cursor:
                # No parameters are passed, so that psycopg leaves every % of the query alone. What is prepared is one
                # statement: PostgreSQL refuses a second one behind it.
                cursor.execute(sql, prepare=True)
                kinds = [(column.name, column.type_code) for column in cursor.description]
                rows = cursor.fetchall()
        except (self._psycopg.Error, UnicodeError) as error:
            raise _failure("PostgreSQL cannot answer the query", error) from None
        arrays = [_column(name, kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(kinds)]
        return normalise(pa.Table.from_arrays(arrays, names=[name for name, _ in kinds]))


def open_url(url: str, resources: Resources) -> PostgreSQLEngine:
    """The engine of a ``postgresql://`` URL."""
    resources.refuse("a PostgreSQL server")
    return PostgreSQLEngine(url)


_TEXTS = (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)


def _written(query: exp.Expr) -> str:
    """The text of a query in which nothing but bytes decides what equals what.

    Columns come under the collation "C" from their readings; literals and casts to text would bring the database's own
    into a comparison that has nothing else. A literal under a cast to another type keeps none. A backslash is
    written in the one form that no setting changes.
    """
    # The parts are listed first: what is put around them must not be visited.
    for node in list(query.walk()):
        if isinstance(node, exp.Literal) and node.is_string:
            cast = node.parent if isinstance(node.parent, exp.Cast) and node.arg_key == "this" else None
            form = exp.var(_escaped(node.this)) if "\\" in node.this else node.copy()
            node.replace(form if cast is not None else order_by_bytes(form))
        elif (
            isinstance(node, exp.Cast) and node.to.this in _TEXTS and not isinstance(node.parent, exp.Collate)
        ):
            around = order_by_bytes(exp.null())
            node.replace(around)
            around.set("this", node)
        elif isinstance(node, exp.Identifier) and len(node.name.encode()) > _LONGEST_NAME:
            raise UnsupportedError(
                f"the name {node.name!r} is refused: PostgreSQL cuts names at {_LONGEST_NAME} bytes"
            )
    return write(query, PostgreSQLEngine.dialect)


def _escaped(text: str) -> str:
    doubled = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{doubled}'"


def _value(setting: str) -> str:
    return setting if setting.startswith("pg_catalog") else f"'{setting}'"


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
