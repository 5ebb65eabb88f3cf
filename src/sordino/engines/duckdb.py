"""DuckDB: database files, CSV and Parquet files, frames, or a connection that the caller opened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import narwhals as nw
import pyarrow as pa
from sqlglot import exp

from sordino.core import EngineError, ParameterError
from sordino.engines import files as tables_of
from sordino.engines.engine import Column, ColumnType, Table
from sordino.engines.query import read_through, render
from sordino.engines.result import normalised

_TYPES: dict[str, ColumnType] = {
    "TINYINT": "integer",
    "SMALLINT": "integer",
    "INTEGER": "integer",
    "BIGINT": "integer",
    "HUGEINT": "integer",
    "UTINYINT": "integer",
    "USMALLINT": "integer",
    "UINTEGER": "integer",
    "UBIGINT": "integer",
    "UHUGEINT": "other",  # comparing it with a signed integer raises on some values
    "DECIMAL": "decimal",
    "FLOAT": "float",
    "DOUBLE": "float",
    "VARCHAR": "text",
    "ENUM": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
_CATALOGUE = """
    SELECT schema_name, table_name, column_name, data_type, is_nullable FROM duckdb_columns()
    WHERE NOT internal AND database_name = current_database() ORDER BY schema_name, table_name, column_index
"""
_VIEWS = """
    SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND database_name = current_database()
"""
# Names, and whether the rows are in a table of DuckDB's own.
_NAMES = """
    SELECT schema_name, table_name, type = 'duckdb' FROM duckdb_tables() JOIN duckdb_databases() USING (database_name)
    WHERE database_name = current_database()
    UNION ALL
    SELECT schema_name, view_name, false FROM duckdb_views() WHERE NOT internal AND database_name = current_database()
"""


class DuckDBEngine:
    """An engine over one DuckDB connection; each snapshot is a transaction on a cursor of its own.

    What Sordino opens itself is read-only and shut in: no extension is fetched, no file but the given ones is read, and
    the configuration is locked. A connection that the caller passes keeps the caller's settings and stays open;
    its temporary tables and registered frames belong to that connection alone and are not in the catalogue.

    Files are not transactional. Their list is pinned at connect, and a snapshot that ends with a file other than it
    began with raises.
    """

    name = "duckdb"
    dialect = "duckdb"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        owned: bool,
        paths: tuple[Path, ...] = (),
        spill: Any = None,
    ) -> None:
        """``owned``: close the connection with the engine. ``paths``: the files that views read."""
        self._connection = connection
        self._owned = owned
        self._paths = paths
        self._headers = tables_of.headers(paths)
        self._spill = spill
        self._known: dict[str, Table] | None = None

    def catalogue(self) -> dict[str, Table]:
        """Tables and views of the current database; outside the schema ``main`` named ``schema.table``.

        What Sordino opened itself is read-only, so its catalogue is read once.
        """
        cursor = self._cursor()
        try:
            if self._known is None or not self._owned:
                self._known = _catalogue(cursor, own_views=bool(self._paths))
            return dict(self._known)
        except duckdb.Error as error:
            raise _failure("the catalogue cannot be read", error) from None
        finally:
            cursor.close()

    @contextmanager
    def snapshot(self) -> Iterator[DuckDBSnapshot]:
        """One transaction, begun now."""
        before = tables_of.fingerprint(self._paths)
        if tables_of.headers(self._paths) != self._headers:
            raise EngineError("a file has another header than when it was connected: connect again")
        cursor = self._cursor()
        try:
            try:
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                names, veiled = self._names(cursor)
            except duckdb.Error as error:
                raise _failure("a snapshot cannot begin", error) from None
            yield DuckDBSnapshot(cursor, names, veiled, self._paths, before)
            _check_unchanged(self._paths, before)
        finally:
            cursor.close()

    def _names(self, cursor: duckdb.DuckDBPyConnection) -> tuple[frozenset[str], dict[str, Table]]:
        """The tables of a snapshot, and those whose floats are hidden from the planner."""
        if self._owned:  # nobody can write to it
            return frozenset(self.catalogue()), {}
        # A DuckDB transaction begins at its first statement; this is one.
        stored = {
            _name(schema, table): own
            for schema, table, own in cursor.execute(_NAMES).fetchall()
            if "." not in schema and "." not in table
        }
        if all(stored.values()):
            return frozenset(stored), {}
        tables = _catalogue(cursor, own_views=False)
        return frozenset(stored), {
            name: tables[name] for name, own in stored.items() if not own and name in tables
        }

    def lines_and_rows(self, table: str) -> tuple[int, int] | None:
        """Of a table that is a CSV file."""
        file = next((path for path in self._paths if tables_of.table_name(path) == table), None)
        if file is None or file.suffix.lower() == ".parquet":
            return None
        cursor = self._cursor()
        try:
            queries = (tables_of.lines(file), f"SELECT COUNT(*) FROM {_quoted(table)}")
            lines, rows = (int(cursor.execute(query).fetchall()[0][0]) for query in queries)
        except duckdb.Error as error:
            raise _failure(f"the lines of {file.name} cannot be counted", error) from None
        finally:
            cursor.close()
        return lines, rows

    def close(self) -> None:
        """Close what Sordino opened."""
        if self._owned:
            self._connection.close()
        if self._spill is not None:
            self._spill.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.cursor()
        except duckdb.Error as error:
            raise _failure("the connection is closed: connect again", error) from None


class DuckDBSnapshot:
    """One transaction.

    ``veiled``: tables that are not DuckDB's own. What lies behind them may be Parquet, whose minimum and maximum leave
    NaN out (see `sordino.engines.files.view`), so their floats are hidden from the planner.
    """

    def __init__(
        self,
        cursor: duckdb.DuckDBPyConnection,
        tables: frozenset[str],
        veiled: Mapping[str, Table],
        paths: tuple[Path, ...],
        before: tuple[tuple[int, int, int], ...],
    ) -> None:
        self._cursor = cursor
        self._tables = tables
        # Every float goes through TRY, which has no statistics.
        self._veiled = {
            name.casefold(): [_veiled(column) for column in table.columns]
            for name, table in veiled.items()
            if any(column.type == "float" for column in table.columns)
        }
        self._paths = paths
        self._before = before

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Render, run and fetch one query."""
        sql = render(expression, dialect=DuckDBEngine.dialect, tables=self._tables)
        if self._veiled:
            sql = read_through(expression, self._veiled).sql(dialect=DuckDBEngine.dialect)
        try:
            answer = self._cursor.sql(sql).to_arrow_table()
        except (duckdb.Error, pa.ArrowException) as error:
            _check_unchanged(self._paths, self._before)
            raise _failure("DuckDB cannot answer the query", error) from None
        _check_unchanged(self._paths, self._before)
        return normalised(answer)


def open_file(path: Path, *, memory_limit: str | None, threads: int | None) -> DuckDBEngine:
    """A DuckDB database file, read-only."""
    if not path.is_file():
        raise EngineError(
            f"{path} is no file: duckdb:///shop.duckdb is /shop.duckdb, duckdb://shop.duckdb is in this folder"
        )
    return _locked(str(path), memory_limit=memory_limit, threads=threads)


def open_tables(
    target: Path, *, types: tables_of.Types | None, memory_limit: str | None, threads: int | None
) -> DuckDBEngine:
    """CSV and Parquet files as views in an in-memory database."""
    found = tables_of.table_files(target)
    declared = tables_of.checked_types(types, found)
    views = {file.name: tables_of.view(file, declared.get(file.name, {})) for file in found}
    paths = tuple(file.path for file in found)
    return _locked(":memory:", memory_limit=memory_limit, threads=threads, views=views, paths=paths)


def open_frames(frames: Mapping[str, Any], *, memory_limit: str | None, threads: int | None) -> DuckDBEngine:
    """Frames copied into an in-memory database, so that later changes of the frames are not seen."""
    tables = {name: _as_arrow(name, frame) for name, frame in frames.items()}
    return _locked(":memory:", memory_limit=memory_limit, threads=threads, frames=tables)


def _locked(
    database: str,
    *,
    memory_limit: str | None,
    threads: int | None,
    views: Mapping[str, str] | None = None,
    paths: tuple[Path, ...] = (),
    frames: Mapping[str, pa.Table] | None = None,
) -> DuckDBEngine:
    """Open, fill and shut in."""
    spill = tempfile.TemporaryDirectory(prefix="sordino-")
    config: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
        # DuckDB always lets itself spill here; nothing else may be written.
        "temp_directory": spill.name,
    }
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if threads is not None:
        config["threads"] = threads
    try:
        connection = duckdb.connect(database, read_only=database != ":memory:", config=config)
    except duckdb.Error as error:
        spill.cleanup()
        raise _cannot_open(database, error) from None
    engine = DuckDBEngine(connection, owned=True, paths=paths, spill=spill)
    try:
        for name, table in (frames or {}).items():
            connection.register("sordino_frame", table)
            connection.execute(f"CREATE TABLE {_quoted(name)} AS SELECT * FROM sordino_frame")
            connection.unregister("sordino_frame")
        if paths:
            allowed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
            connection.execute(f"SET allowed_paths = [{allowed}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        for name, select in (views or {}).items():
            try:
                connection.execute(f"CREATE VIEW {_quoted(name)} AS {select}")
            except duckdb.Error as error:
                raise _failure(f"table {name!r} cannot be read from its file", error) from None
    except duckdb.Error as error:
        engine.close()
        raise _failure("the tables cannot be loaded", error) from None
    except EngineError:
        engine.close()
        raise
    return engine


def _cannot_open(database: str, error: duckdb.Error) -> EngineError:
    text = str(error)
    if "lock" in text.lower():
        return EngineError(f"{database} is open for writing in another process: close it there first", text)
    if "different configuration" in text:
        return EngineError(
            f"{database} is already open in this process: pass that duckdb connection instead", text
        )
    return EngineError(f"{database} is not a database that DuckDB {duckdb.__version__} can open", text)


def _catalogue(cursor: duckdb.DuckDBPyConnection, *, own_views: bool) -> dict[str, Table]:
    """``own_views``: the views are ours, each with the rows of one file."""
    columns: dict[str, list[Column]] = {}
    views = set() if own_views else {_name(*row) for row in cursor.execute(_VIEWS).fetchall()}
    for schema, table, column, kind, nullable in cursor.execute(_CATALOGUE).fetchall():
        if "." in schema or "." in table:
            continue
        name = _name(schema, table)
        base, _, rest = kind.partition("(")
        # Lists end in a bracket, whatever they are lists of.
        known = "other" if kind.endswith("]") else _TYPES.get(base, "other")
        digits, scale = map(int, rest[:-1].split(",")) if known == "decimal" else (None, None)
        columns.setdefault(name, []).append(Column(column, known, bool(nullable), digits, scale))
    return {name: Table(name, tuple(found), name in views) for name, found in columns.items()}


def _name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _veiled(column: Column) -> exp.Expr:
    plain = exp.column(column.name, quoted=True)
    if column.type != "float":
        return plain
    return exp.alias_(exp.Anonymous(this="TRY", expressions=[plain]), column.name, quoted=True)


def _as_arrow(name: str, frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    try:
        native = nw.from_native(frame)
        eager = native.collect() if isinstance(native, nw.LazyFrame) else native
        return eager.to_arrow()
    except TypeError:
        raise ParameterError(
            f"frame {name!r} is a {type(frame).__name__}: pandas, polars and Arrow tables are accepted"
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise EngineError(
            f"frame {name!r} has a column of mixed types: give it one type before connecting", str(error)
        ) from None


def _check_unchanged(paths: tuple[Path, ...], before: tuple[tuple[int, int, int], ...]) -> None:
    for path, now, then in zip(paths, tables_of.fingerprint(paths), before, strict=True):
        if now != then:
            raise EngineError(f"{path.name} changed during the snapshot: ask again when nobody writes to it")


def _failure(what: str, error: Exception) -> EngineError:
    return EngineError(f"{what} (its own words are in .details, for the owner)", str(error))


def _quoted(name: str) -> str:
    return '"' + str(name).replace('"', '""') + '"'
