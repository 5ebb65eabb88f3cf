"""Spark, through pyspark: a local session, or one that the caller runs on a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from sqlglot import exp

from sordino.core import EngineError, MissingExtraError, ParameterError, UnsupportedError
from sordino.engines.engine import Column, ColumnType, Table
from sordino.engines.query import render, table_name, tables_read
from sordino.engines.result import normalised

if TYPE_CHECKING:
    from sordino.engines.connect import Resources

_TYPES: dict[str, ColumnType] = {
    "tinyint": "integer",
    "smallint": "integer",
    "int": "integer",
    "bigint": "integer",
    "decimal": "decimal",
    "float": "float",
    "double": "float",
    "string": "text",
    "varchar": "text",
    "char": "text",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp",
}
# Names of pinned views must not meet those of another snapshot in the same session.
_numbers = itertools.count()


class SparkEngine:
    """An engine over the tables and temporary views of a Spark session's current database.

    Spark has no transactions. What a snapshot pins, and what it cannot:

    * A table or view over files: the list of files is taken once, when the snapshot begins; files added later are
      not read. Length and time of each are compared when the snapshot ends, and after every answer, and a difference
      raises `EngineError`. A file rewritten within its clock tick and to the same length is not noticed.
    * A frame made from local rows, Arrow or pandas: never changes.
    * Delta, Iceberg and the like: the version that Spark resolved when the snapshot began, as far as their connector
      keeps it in the plan, plus the check of files above.
    * JDBC, streams, and views whose query is not deterministic (``rand()``, ``current_timestamp()``) are evaluated
      anew by every statement: **not pinned**. Do not give Sordino such views; cache or write them first.

    The session must run in ANSI mode (the default since Spark 4): without it, sums of integers wrap around silently.
    """

    name = "spark"
    dialect = "spark"

    def __init__(self, session: Any, *, owned: bool) -> None:
        """``owned``: stop the session with the engine."""
        _driver()
        if ".connect." in type(session).__module__:
            raise UnsupportedError(
                "a Spark Connect session hides its files, so a snapshot could not be checked: "
                "give a classic SparkSession"
            )
        if str(session.conf.get("spark.sql.ansi.enabled")).lower() != "true":
            raise ParameterError(
                "the Spark session is not in ANSI mode, so sums of integers would wrap around silently: "
                "session.conf.set('spark.sql.ansi.enabled', 'true')"
            )
        self._session = session
        self._owned = owned
        self._closed = False

    def catalogue(self) -> dict[str, Table]:
        """Tables and temporary views of the current database, from their schemas.

        A temporary view is how a frame gets a name in Spark, so it counts as a table; one over several tables, or
        over several rows of one, does not belong into a policy.
        """
        self._check_open()
        try:
            tables = (_table(name, self._session.table(_quoted(name))) for name in self._names())
            views = {t.name for t in self._session.catalog.listTables() if t.tableType == "VIEW"}
            return {table.name: replace(table, view=table.name in views) for table in tables}
        except _errors() as error:
            raise _failure("the catalogue cannot be read", error) from None

    @contextmanager
    def snapshot(self) -> Iterator[SparkSnapshot]:
        """Pin all tables now; see the class for what that means."""
        self._check_open()
        snapshot = SparkSnapshot(self._session)
        try:
            try:
                snapshot.pin(self._names())
            except _errors() as error:
                raise _failure("a snapshot cannot begin", error) from None
            yield snapshot
            snapshot.check()
        finally:
            snapshot.release()

    def close(self) -> None:
        """Stop the session if Sordino started it."""
        if self._owned and not self._closed:
            self._session.stop()
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError("the connection is closed: connect again")

    def _names(self) -> list[str]:
        names = (table.name for table in self._session.catalog.listTables())
        return [name for name in names if not name.startswith(_PREFIX) and "." not in name]


_PREFIX = "sordino_pinned_"


class SparkSnapshot:
    """Views over plans that were analysed once."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._views: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._files: dict[str, tuple[int, int]] = {}

    def pin(self, names: list[str]) -> None:
        """Analyse every table once and keep its plan behind a view of a new name."""
        for name in names:
            frame = self._session.table(_quoted(name))
            view = f"{_PREFIX}{next(_numbers)}"
            _veiled(frame).createTempView(view)
            self._views[name.casefold()] = view
            self._names[name.casefold()] = name
            for path in frame.inputFiles():
                self._files[path] = self._mark(path)

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Render, run and fetch one query over the pinned views."""
        # Checked under the names that the caller knows; what is sent names the views.
        render(expression, dialect=SparkEngine.dialect, tables=self._names.values())
        pinned = expression.copy()
        for table in tables_read(pinned):
            if isinstance(table.this, exp.Identifier):
                name = table.name
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=table.this.quoted)))
                table.set("this", exp.to_identifier(self._views[table_name(table).casefold()]))
        sql = pinned.sql(dialect=SparkEngine.dialect)
        try:
            answer = _arrow(self._session.sql(sql))
        except (*_errors(), pa.ArrowException) as error:
            self.check()
            raise _failure("Spark cannot answer the query", error) from None
        self.check()
        return normalised(answer)

    def check(self) -> None:
        """Raise if a file is not what it was when the snapshot began."""
        for path, before in self._files.items():
            try:
                now = self._mark(path)
            except _errors():
                now = None
            if now != before:
                name = path.rpartition("/")[2]
                raise EngineError(f"{name} changed during the snapshot: ask again when nobody writes to it")

    def release(self) -> None:
        """Drop the views."""
        for view in self._views.values():
            self._session.catalog.dropTempView(view)
        self._views = {}

    def _mark(self, path: str) -> tuple[int, int]:
        # Hadoop's file systems answer for local disks, HDFS and object stores alike.
        place = self._session._jvm.org.apache.hadoop.fs.Path(path)
        settings = self._session._jsparkSession.sessionState().newHadoopConf()
        status = place.getFileSystem(settings).getFileStatus(place)
        return status.getLen(), status.getModificationTime()


def open_url(url: str, resources: Resources) -> SparkEngine:
    """The engine of ``spark-local``: a session in this machine, listening on the loopback address only."""
    pyspark = _driver()
    if url != "spark-local":
        raise EngineError(
            "Spark is given as spark-local or as a SparkSession: open the session yourself for a cluster"
        )
    if pyspark.sql.SparkSession.getActiveSession() is not None:
        raise EngineError("a Spark session is already open in this process: pass that SparkSession instead")
    settings = {
        "spark.master": f"local[{resources.threads or '*'}]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(resources.threads or 2),
        "spark.sql.catalogImplementation": "in-memory",
    }
    if resources.memory_limit is not None:
        # The JVM writes 2g, not 2GB.
        settings["spark.driver.memory"] = resources.memory_limit[:-1].rstrip("Bi").lower()
    builder = pyspark.sql.SparkSession.builder.appName("sordino")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except _errors() as error:
        raise EngineError(
            "Spark cannot start here: it needs Java 17 or newer, in JAVA_HOME or on the path", str(error)
        ) from None
    return SparkEngine(session, owned=True)


def open_session(session: Any) -> SparkEngine:
    """The engine of a session that the caller opened and will stop."""
    return SparkEngine(session, owned=False)


def _driver() -> Any:
    try:
        import pyspark.sql
    except ImportError:
        raise MissingExtraError("Spark needs pyspark: pip install 'sordino[spark]'") from None
    return pyspark


def _errors() -> tuple[type[Exception], ...]:
    """What pyspark raises: its own errors, those of its bridge to Java, and the bridge's sockets'."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JError, OSError)


def _table(name: str, frame: Any) -> Table:
    columns = []
    for field in frame.schema.fields:
        kind = field.dataType.simpleString().partition("(")[0]
        decimal = field.dataType if kind == "decimal" else None
        digits, scale = (decimal.precision, decimal.scale) if decimal is not None else (None, None)
        columns.append(Column(field.name, _TYPES.get(kind, "other"), field.nullable, digits, scale))
    return Table(name, tuple(columns))


def _veiled(frame: Any) -> Any:
    """The frame with its floats hidden from readers of files.

    Those skip parts of a file by its minimum and maximum, which leave NaN out: a comparison would then find a NaN or
    not depending on the other rows. They do not look through a subtraction, and this one changes no number.
    """
    fields = [(_quoted(field.name), field.dataType.simpleString()) for field in frame.schema.fields]
    return frame.selectExpr(
        *(
            f"{name} - CAST(0 AS {kind}) AS {name}" if _TYPES.get(kind) == "float" else name
            for name, kind in fields
        )
    )


def _arrow(frame: Any) -> pa.Table:
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(frame.schema)
    rows = frame.collect()
    arrays = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _failure(what: str, error: Exception) -> EngineError:
    return EngineError(f"{what} (its own words are in .details, for the owner)", str(error))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
