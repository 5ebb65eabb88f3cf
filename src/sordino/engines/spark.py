"""Spark, through pyspark: a local session, or one that the caller runs on a cluster."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sordino.core import EngineError, MissingExtraError, UnsupportedError
from sordino.core.closing import Closing
from sordino.engines.canonical import Reading, read_through, refer_to_place
from sordino.engines.engine import Table
from sordino.engines.query import write
from sordino.engines.resources import Resources
from sordino.engines.result import normalise
from sordino.engines.spark_files import show_files
from sordino.engines.spark_session import check_reading, open_pinned_session
from sordino.engines.spark_tables import (
    catalogue_table,
    check_days,
    find_left_out,
    is_plain,
    is_readable,
    quote_name,
    read_canonically,
)

# Names of pinned views must not meet those of another snapshot in the same session.
_numbers = itertools.count()


class SparkEngine(Closing):
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

    Statements run in a second session of our own with pinned settings, ANSI mode among them (see `spark_session`); the
    caller's is only asked for its tables, and keeps its settings.
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
        self._session = session
        self._owned = owned
        self._closed = False
        try:
            self._inner = open_pinned_session(session)
        except _errors() as error:
            raise _failure("the session's settings cannot be pinned", error) from None

    def catalogue(self) -> dict[str, Table]:
        """Tables and temporary views of the current database, from their schemas.

        A temporary view is how a frame gets a name in Spark, so it counts as a table where its plan does no more than
        that; one that computes, filters or joins is a view. Text files that are read in another mode than PERMISSIVE
        are left out: a bad line would make a statement fail, or count in some statements and not in others.
        """
        self._check_open()
        try:
            found = {}
            for name, frame, plan in self._frames():
                view = name in self._views() or not is_plain(plan)
                found[name] = catalogue_table(name, frame, view=view)
            return found
        except _errors() as error:
            raise _failure("the catalogue cannot be read", error) from None

    @contextmanager
    def snapshot(self) -> Iterator[SparkSnapshot]:
        """Pin all tables now; see the class for what that means."""
        self._check_open()
        check_reading(self._session)
        snapshot = SparkSnapshot(self._session, self._inner)
        try:
            try:
                for name, frame, plan in self._frames():
                    snapshot.pin(name, frame, plan)
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

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError("the connection is closed: connect again")

    def _frames(self) -> Iterator[tuple[str, Any, Any]]:
        """Every table with its frame and analysed plan."""
        for name in dict.fromkeys(table.name for table in self._session.catalog.listTables()):
            if "." not in name:
                frame = self._session.table(quote_name(name))
                plan = frame._jdf.queryExecution().analyzed()
                if is_readable(plan):
                    yield name, frame, plan

    def _views(self) -> set[str]:
        return {table.name for table in self._session.catalog.listTables() if table.tableType == "VIEW"}


_PREFIX = "sordino_pinned_"


class SparkSnapshot:
    """Views in a session of our own, over plans that were analysed once."""

    def __init__(self, session: Any, inner: Any) -> None:
        self._session = session
        self._inner = inner
        self._readings: dict[str, Reading] = {}
        self._files: dict[str, tuple[int, int]] = {}

    def pin(self, name: str, frame: Any, plan: Any) -> None:
        """Keep an analysed plan behind a view of a new name."""
        check_days(self._session, frame)
        view = f"{_PREFIX}{next(_numbers)}"
        jvm = self._session._jvm.org.apache.spark.sql
        rows = jvm.Dataset if self._session.version.startswith("3.") else jvm.classic.Dataset
        ours = type(frame)(rows.ofRows(self._inner._jsparkSession, plan), self._inner)
        read_canonically(ours, find_left_out(frame)).createTempView(view)
        self._readings[name] = Reading(refer_to_place(view))
        for path in frame.inputFiles():
            self._files[path] = self._mark(path)

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Write, run and fetch one query over the pinned views."""
        sql = _written(read_through(expression, self._readings))
        try:
            answer = _arrow(self._inner.sql(sql))
        except (*_errors(), pa.ArrowException) as error:
            self.check()
            raise _failure("Spark cannot answer the query", error) from None
        self.check()
        return normalise(answer)

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
        for reading in self._readings.values():
            self._inner.catalog.dropTempView(reading.place.name)
        self._readings = {}

    def _mark(self, path: str) -> tuple[int, int]:
        # Hadoop's file systems answer for local disks, HDFS and object stores alike.
        place = self._session._jvm.org.apache.hadoop.fs.Path(path)
        settings = self._session._jsparkSession.sessionState().newHadoopConf()
        status = place.getFileSystem(settings).getFileStatus(place)
        return status.getLen(), status.getModificationTime()


# What a setting of the parser, or the replacement of variables, might read otherwise.
_ODD = re.compile(r"""[\\'"`\x00-\x1f\x7f-\U0010ffff]|\$\{""")


def _written(query: exp.Expr) -> str:
    """The text of a query; a literal with anything odd in it is sent as the bytes of its UTF-8, in hexadecimal."""
    for node in list(query.find_all(exp.Literal, exp.CTE)):
        if isinstance(node, exp.CTE):
            if node.alias.casefold().startswith(_PREFIX):
                raise UnsupportedError(f"the name {node.alias!r} is refused: names of {_PREFIX}… are taken")
        elif node.is_string and _ODD.search(node.this):
            try:
                written = exp.HexString(this=node.this.encode().hex().upper())
            except UnicodeEncodeError:
                raise UnsupportedError("a text with half a character is refused: leave it out") from None
            node.replace(exp.cast(written, exp.DataType.Type.TEXT))
    text = write(query, SparkEngine.dialect)
    if "${" in text:
        raise UnsupportedError("a name with ${ in it is refused: Spark might replace it")
    return text


def open_url(url: str, resources: Resources) -> SparkEngine:
    """The engine of ``spark-local``: a session in this machine, listening on the loopback address only.

    ``spark-local://shop`` and ``spark-local:///data/shop`` name the Parquet files of a folder in it.
    """
    pyspark = _driver()
    place = url.removeprefix("spark-local").removeprefix("://")
    if pyspark.sql.SparkSession.getActiveSession() is not None:
        raise EngineError("a Spark session is already open in this process: pass that SparkSession instead")
    settings = {
        "spark.master": f"local[{resources.threads or '*'}]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(resources.threads or 2),
        "spark.sql.catalogImplementation": "in-memory",
        # Names of folders are data: no type is read off them.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        # Made only if somebody creates a table in this session; by default it would be in the folder of the caller.
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / f"sordino-warehouse-{os.getpid()}"),
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
    engine = SparkEngine(session, owned=True)
    try:
        if place:
            show_files(session, Path(place))
    except Exception as error:
        engine.close()
        if isinstance(error, _errors()):
            raise _failure("the files cannot be read", error) from None
        raise
    return engine


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
