"""A Spark session of our own beside the caller's: the same tables, with settings that nobody else changes.

Settings, temporary functions and temporary views belong to a Spark session. Statements run in a second one, made by
``newSession``, so the caller's settings neither change what they mean nor are changed, and a function that the caller
registered under a built-in's name is not seen. What is *read* keeps to the session that made the relation; the few
settings that matter there are checked on the caller's.
"""

from __future__ import annotations

from typing import Any

from sordino.engines.settings import check_settings, holds

# What changes the meaning of a statement. Every other spark.sql setting of ours is at Spark's own default, unless it
# begins as one of those below.
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.charAsVarchar": "false",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.function.concatBinaryAsString": "false",
    "spark.sql.function.eltOutputAsString": "false",
    "spark.sql.parquet.aggregatePushdown": "false",  # a file's minimum and maximum leave NaN out
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
# Where tables are, and how fast they are read: nothing that a statement's meaning depends on.
_CARRIED = (
    "spark.sql.catalog.",
    "spark.sql.catalogImplementation",
    "spark.sql.defaultCatalog",
    "spark.sql.warehouse.dir",
    "spark.sql.extensions",
    "spark.sql.hive.metastore",
    "spark.sql.shuffle.",
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.codegen.",
    "spark.sql.files.maxPartition",
    "spark.sql.files.minPartition",
    "spark.sql.files.openCostInBytes",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.leafNodeDefaultParallelism",
    "spark.sql.sources.parallelPartitionDiscovery",
    "spark.sql.ui.",
)
# What the caller's session decides while it reads files: rows left out silently.
_READING = {"spark.sql.files.ignoreCorruptFiles": "false", "spark.sql.files.ignoreMissingFiles": "false"}
# Old calendars: by its name, whether reading a day raises.
REBASE = tuple(
    f"spark.sql.{kind}RebaseModeInRead" for kind in ("parquet.datetime", "parquet.int96", "avro.datetime")
)


def open_pinned_session(session: Any) -> Any:
    """A session of our own over the caller's tables, with pinned settings that were read back."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import session as made

    inner = session.newSession()
    # newSession also makes itself the one that RDD.toDF uses: that stays the caller's.
    made._monkey_patch_RDD(session)
    for key in _explicit(inner):
        if key.startswith("spark.sql.") and not key.startswith(_CARRIED):
            try:
                inner.conf.unset(key)
            except (PySparkException, Py4JError):
                continue  # fixed for the whole application; those that matter are read back below
    for key, value in _explicit(session).items():
        if key.startswith(_CARRIED) or not key.startswith("spark.sql."):
            try:
                inner.conf.set(key, value)
            except (PySparkException, Py4JError):
                continue
    for key, value in _SETTINGS.items():
        if not holds(read_setting(inner, key), value):
            inner.conf.set(key, value)
    found = {key: read_setting(inner, key) for key in _SETTINGS}
    check_settings("Spark", found, _SETTINGS, _remedy)
    return inner


def check_reading(session: Any) -> None:
    """Raise where the caller's session would read other rows than there are."""
    check_settings("Spark", {key: read_setting(session, key) for key in _READING}, _READING, _remedy)


def read_setting(session: Any, key: str) -> str | None:
    """A setting, explicit or by default; None where this version does not know it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return str(session.conf.get(key))
    except (PySparkException, Py4JError):
        return None


def read_given_schema(index: Any) -> set[str]:
    """The columns of the schema that a reader of files was given; Spark keeps it where only reflection finds it."""
    from py4j.protocol import Py4JError

    kind = index.getClass()
    while kind is not None:
        for field in kind.getDeclaredFields():
            if str(field.getName()).endswith("userSpecifiedSchema"):
                try:
                    field.setAccessible(True)
                    given = field.get(index)
                except Py4JError:
                    continue
                return (
                    {str(name).casefold() for name in given.get().fieldNames()}
                    if given.isDefined()
                    else set()
                )
        kind = kind.getSuperclass()
    return set()


def _remedy(name: str, value: str) -> str:
    return f"session.conf.set({name!r}, {value!r})"


def _explicit(session: Any) -> dict[str, str]:
    """The settings that somebody set."""
    found, pairs = {}, session._jsparkSession.sessionState().conf().getAllConfs().iterator()
    while pairs.hasNext():
        pair = pairs.next()
        found[str(pair._1())] = str(pair._2())
    return found
