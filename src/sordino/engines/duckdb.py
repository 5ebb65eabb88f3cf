"""DuckDB: database files, CSV and Parquet files, frames, or a connection that the caller opened."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa
from sqlglot import exp

from sordino.core import EngineError, ParameterError
from sordino.core.closing import Closing
from sordino.engines import files as tables_of
from sordino.engines.canonical import Found, Reading, read_through
from sordino.engines.duckdb_catalogue import find_plain_readings, find_tables, read_shapes, read_signatures
from sordino.engines.duckdb_extremes import compare_columns
from sordino.engines.engine import Table
from sordino.engines.query import write
from sordino.engines.result import normalise
from sordino.engines.settings import check_settings, holds
from sordino.engines.watch import FileWatch, Mark

# What changes the meaning of a statement or of an answer; a version that does not know one is not asked for it.
_SETTINGS = {
    "search_path": "system.main",
    "default_collation": "",
    "TimeZone": "UTC",
    "Calendar": "gregorian",
    "integer_division": "false",
    "ieee_floating_point_ops": "true",
    "error_on_division_by_zero": "true",
    "default_null_order": "nulls_last",
    "default_order": "asc",
    "order_by_non_integer_literal": "false",
    "old_implicit_casting": "false",
    "preserve_identifier_case": "preserve_case",
    "scalar_subquery_error_on_multiple_rows": "true",
    "regex_match_operator_semantics": "partial",
    "dialect_compatibility_mode": "none",
    "allow_parser_override_extension": "default",
    "disable_timestamptz_casts": "false",
    "legacy_disable_null_type": "false",
    "warnings_as_errors": "false",
    "binary_as_string": "false",
    "arrow_lossless_conversion": "false",
}
# Groups by keys of whole numbers that lie within so many bits are counted in arrays, at half the time of hash tables. A
# number takes 8 or 16 bytes in every thread: 2 to 4 MB each.
_DENSE_KEY_BITS = 18
_DATABASE = """
    SELECT d.database_name, d.type FROM system.main.duckdb_databases() AS d
    WHERE d.database_name IS NOT DISTINCT FROM system.main.current_database()
"""


class DuckDBEngine(Closing):
    """An engine over one DuckDB connection; each snapshot is a transaction on a cursor of its own.

    What Sordino opens itself is read-only and shut in: no extension is fetched, no file but the given ones is read, and
    the configuration is locked. A connection that the caller passes keeps its own settings and stays open: ours are
    pinned on a cursor of our own. Its temporary tables and registered frames belong to that connection alone and are
    not in the catalogue. Built-in functions and operators are found in DuckDB's own schema only, whatever macros the
    database has, and tables are called by their full name.

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
        watch: FileWatch | None = None,
        spill: Any = None,
    ) -> None:
        """``owned``: close the connection with the engine. ``watch``: on the files that it or its views read."""
        self._connection = connection
        self._owned = owned
        self._watch = FileWatch.of() if watch is None else watch
        self._spill = spill
        self._known: Found | None = None
        self._database = ""
        self._asked: tuple[str, ...] = ()
        self._kept: Kept | None = None
        if not owned:
            self._check_functions()

    def catalogue(self) -> dict[str, Table]:
        """Tables and views of the current database; outside the schema ``main`` named ``schema.table``.

        What Sordino opened itself is read-only, so its catalogue is read once.
        """
        return dict(self._found().tables)

    @contextmanager
    def snapshot(self) -> Iterator[DuckDBSnapshot]:
        """One transaction, begun now."""
        before = self._watch.take_state()
        self._watch.check_headers()
        cursor = self._cursor()
        try:
            try:
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                readings = self._readings(cursor)
            except duckdb.Error as error:
                raise _failure("a snapshot cannot begin", error) from None
            yield DuckDBSnapshot(cursor, readings, self._watch, before, self._keep(before))
            self._watch.check(before)
        finally:
            cursor.close()

    def _keep(self, state: tuple[Mark, ...]) -> Kept | None:
        """What is kept of a state: what we opened is read-only, and only the files that views read can change.

        Nothing of the owner's views, whose code may say something else by the hour, and nothing of a file that was
        just written: a further write within a tick of the clock would not show.
        """
        if not self._owned or not all(mark.settled for mark in state):
            return None
        if self._kept is None or self._kept.state != state:
            steady = frozenset(name for name, table in self._found().tables.items() if not table.view)
            self._kept = Kept(state, steady, {})
        return self._kept

    def _found(self) -> Found:
        """All tables, with their columns."""
        cursor = self._cursor()
        try:
            # Nobody can write to what is ours.
            if self._known is None or not self._owned:
                self._known = find_tables(cursor, self._database, own_views=bool(self._watch.tables))
            return self._known
        except duckdb.Error as error:
            raise _failure("the catalogue cannot be read", error) from None
        finally:
            cursor.close()

    def _readings(self, cursor: duckdb.DuckDBPyConnection) -> Mapping[str, Reading]:
        """How the tables of a snapshot are read."""
        if self._owned and self._known is not None:
            return self._known.readings
        if self._owned:
            return self._found().readings
        # A DuckDB transaction begins at its first statement; this is one.
        plain = find_plain_readings(self._database, read_shapes(cursor, self._database))
        return find_tables(cursor, self._database, own_views=False).readings if plain is None else plain

    def lines_and_rows(self, table: str) -> tuple[int, int] | None:
        """Of a table that is a CSV file."""
        texts = (path for path in self._watch.tables if path.suffix.lower() != ".parquet")
        file = next((path for path in texts if tables_of.name_file_table(path) == table), None)
        if file is None:
            return None
        cursor = self._cursor()
        try:
            whole = f"{_quoted(self._database)}.main.{_quoted(table)}"
            queries = (tables_of.write_line_count(file), f"SELECT COUNT(*) FROM {whole}")
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

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """A cursor with pinned settings."""
        try:
            cursor = self._connection.cursor()
        except duckdb.Error as error:
            raise _failure("the connection is closed: connect again", error) from None
        try:
            if not self._database:
                # In full: a macro of the database may have the same name. It stays, as only cursors can USE another.
                name, kind = cursor.execute(_DATABASE).fetchall()[0]
                if kind != "duckdb":
                    raise EngineError(
                        f"{name} is a database of kind {kind}, which need not keep to a snapshot or to its types: "
                        "copy its tables into a DuckDB database"
                    )
                self._database = str(name)
            self._pin(cursor)
        except duckdb.Error as error:
            cursor.close()
            raise _failure("the session's settings cannot be pinned", error) from None
        except EngineError:
            cursor.close()
            raise
        return cursor

    def _pin(self, cursor: duckdb.DuckDBPyConnection) -> None:
        # First, so that what follows is DuckDB's own. It can be set even where the configuration is locked.
        cursor.execute(f"SET SESSION search_path = '{_SETTINGS['search_path']}'")
        if self._asked and self._owned:
            return  # the configuration is locked, and was read when the first cursor was made
        if not self._asked:
            known = dict(cursor.execute("SELECT name, value FROM duckdb_settings()").fetchall())
            # Without a value, where one is needed: of an extension that is not loaded.
            self._asked = tuple(
                name
                for name, needed in _SETTINGS.items()
                if known.get(name) or (not needed and name in known)
            )
        found = _settings(cursor, self._asked)
        wrong = [name for name in self._asked if not holds(found[name], _SETTINGS[name])]
        for name in wrong:
            try:
                cursor.execute(f"SET SESSION {name} = '{_SETTINGS[name]}'")
            except duckdb.Error:
                continue  # locked, or of the whole instance: refused below
        if wrong:
            pinned = _settings(cursor, self._asked)
            self._give_back({name: found[name] for name in wrong if holds(pinned[name], _SETTINGS[name])})
            found = _settings(cursor, self._asked)
        check_settings("DuckDB", found, _SETTINGS, lambda name, value: f"SET GLOBAL {name} = '{value}'")

    def _give_back(self, before: Mapping[str, object]) -> None:
        """Undo a pin that reached the caller: older versions share some settings of a cursor with the instance."""
        with self._connection.cursor() as other:
            seen = _settings(other, tuple(before)) if before else {}
            for name, value in before.items():
                if seen[name] != value:
                    text = str(value).replace("'", "''")
                    other.execute(f"SET GLOBAL {name} = '{text}'")

    def _check_functions(self) -> None:
        """Refuse functions of the caller's that were added to built-in ones, as Python functions can be.

        Macros need no such look: they are not in DuckDB's own schema.
        """
        cursor = self._cursor()
        try:
            added = read_signatures(cursor) - _built_in()
        except duckdb.Error as error:
            raise _failure("the functions cannot be read", error) from None
        finally:
            cursor.close()
        names = {name for name, _ in _built_in()}
        taken = sorted({name for name, types in added if name in names and _PLAIN_TYPES.fullmatch(types)})
        if taken:
            raise EngineError(
                f"the connection has functions under names of built-in ones ({', '.join(taken)}), and statements would "
                "call them: remove_function, or give them names of their own"
            )


@dataclass(frozen=True, slots=True)
class Kept:
    """``numbers`` of ``tables``, which stay true while the files are in this ``state``."""

    state: tuple[Mark, ...]
    tables: frozenset[str]
    numbers: dict[Hashable, int]


class DuckDBSnapshot:
    """One transaction; ``readings``: the tables and their columns in canonical form."""

    def __init__(
        self,
        cursor: duckdb.DuckDBPyConnection,
        readings: Mapping[str, Reading],
        watch: FileWatch,
        before: tuple[Mark, ...],
        kept: Kept | None,
    ) -> None:
        self._cursor = cursor
        self._readings = readings
        self._watch = watch
        self._before = before
        self._kept = kept

    def kept(self, tables: Iterable[str]) -> dict[Hashable, int] | None:
        """What is kept, where it is kept of all of these."""
        return self._kept.numbers if self._kept is not None and self._kept.tables.issuperset(tables) else None

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Write, run and fetch one query."""
        sql = write(compare_columns(read_through(expression, self._readings)), DuckDBEngine.dialect)
        try:
            answer = self._cursor.sql(sql).to_arrow_table()
        except (duckdb.Error, pa.ArrowException) as error:
            self._watch.check(self._before)
            raise _failure("DuckDB cannot answer the query", error) from None
        self._watch.check(self._before)
        return normalise(answer)


def open_file(path: Path, *, memory_limit: str | None, threads: int | None) -> DuckDBEngine:
    """A DuckDB database file, read-only."""
    if not path.is_file():
        raise ParameterError(
            f"{path} is no file: duckdb:///shop.duckdb is /shop.duckdb, duckdb://shop.duckdb is in this folder"
        )
    return _locked(str(path), memory_limit=memory_limit, threads=threads)


def open_tables(
    target: Path, *, types: tables_of.Types | None, memory_limit: str | None, threads: int | None
) -> DuckDBEngine:
    """CSV and Parquet files as views in an in-memory database."""
    found = tables_of.list_table_files(target)
    declared = tables_of.check_types(types, found)
    views = {file.name: tables_of.write_view(file, declared.get(file.name, {})) for file in found}
    paths = tuple(path for file in found for path in file.files)
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
    watch = FileWatch.of(paths, None if database == ":memory:" else Path(database))
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
    engine = DuckDBEngine(connection, owned=True, watch=watch, spill=spill)
    try:
        for name, table in (frames or {}).items():
            connection.register("sordino_frame", table)
            connection.execute(f"CREATE TABLE {_quoted(name)} AS SELECT * FROM sordino_frame")
            connection.unregister("sordino_frame")
        if paths:
            allowed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
            connection.execute(f"SET allowed_paths = [{allowed}]")
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute(f"SET GLOBAL perfect_ht_threshold = {_DENSE_KEY_BITS}")
        # All other settings are as DuckDB comes.
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


@cache
def _built_in() -> frozenset[tuple[str, str]]:
    """The scalar functions of an instance that nobody has touched."""
    with duckdb.connect(":memory:") as untouched:
        return frozenset(read_signatures(untouched))


# Types that arguments of our statements have. A function of an extension's own types cannot be taken for another.
_PLAIN_TYPES = re.compile(
    r"\[(ANY|BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL[^,]*|VARCHAR|DATE|"
    r"TIMESTAMP[A-Z_ ]*|, )*\]"
)


def _settings(cursor: duckdb.DuckDBPyConnection, names: tuple[str, ...]) -> dict[str, object]:
    read = ", ".join(f"current_setting('{name}')" for name in names)
    return dict(zip(names, cursor.execute(f"SELECT {read}").fetchall()[0], strict=True))


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


def _failure(what: str, error: Exception) -> EngineError:
    return EngineError(f"{what} (its own words are in .details, for the owner)", str(error))


def _quoted(name: str) -> str:
    return '"' + str(name).replace('"', '""') + '"'
