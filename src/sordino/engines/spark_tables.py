"""Spark's tables: which plans are tables and which are views, and how each column is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any

from sordino.core import EngineError
from sordino.engines.engine import Column, ColumnType, Table
from sordino.engines.settings import holds
from sordino.engines.spark_session import REBASE, read_given_schema, read_setting

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
_NAMING = ("SubqueryAlias", "View")
_SCANS = (
    "LogicalRelation",
    "LogicalRelationWithTable",
    "LogicalRDD",
    "LocalRelation",
    "HiveTableRelation",
    "DataSourceV2Relation",
    "DataSourceV2ScanRelation",
    "Range",
)
_TEXT_FILES = ("CSVFileFormat", "JsonFileFormat", "XmlFileFormat")
_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
_GUESSED = (
    "its values are names of folders, and Spark guessed its type from them: read the files with a schema, or set "
    f"{_INFERENCE} to false before reading them"
)
_CHAR = "__CHAR_VARCHAR_TYPE_STRING"


def is_plain(plan: Any) -> bool:
    """Whether a plan gives the rows of one source as they are: scans, new names, fewer columns, padding of CHAR.

    Anything else computes, filters or joins. It may raise on some rows, or make many rows of one, and is a view.
    """
    kind = plan.getClass().getSimpleName()
    children = plan.children()
    if kind in _SCANS:
        return True
    if kind == "Project":
        items = plan.projectList()
        if not all(_is_attribute(items.apply(i)) for i in range(items.size())):
            return False
    elif kind not in _NAMING:
        return False
    return children.size() == 1 and is_plain(children.apply(0))


def is_readable(plan: Any) -> bool:
    """Whether no file below a plan is read in a mode that raises on a bad line, or whose rows depend on the columns."""
    if plan.getClass().getSimpleName().startswith("LogicalRelation"):
        relation = plan.relation()
        if relation.getClass().getSimpleName() == "HadoopFsRelation":
            mode = relation.options().get("mode")
            strict = mode.isDefined() and str(mode.get()).upper() != "PERMISSIVE"
            return not (strict and relation.fileFormat().getClass().getSimpleName() in _TEXT_FILES)
    children = plan.children()
    return all(is_readable(children.apply(i)) for i in range(children.size()))


def catalogue_table(name: str, frame: Any, *, view: bool) -> Table:
    """A table from its schema."""
    left_out = find_left_out(frame)
    columns = []
    for field in frame.schema.fields:
        if field.name not in left_out:
            kind = _kind(field)
            decimal = field.dataType if kind == "decimal" else None
            digits, scale = (decimal.precision, decimal.scale) if decimal is not None else (None, None)
            columns.append(Column(field.name, _TYPES.get(kind, "other"), field.nullable, digits, scale))
    return Table(name, tuple(columns), view, tuple(left_out.items()))


def read_canonically(frame: Any, left_out: Container[str]) -> Any:
    """The frame with every column that is not left out, in the form that statements compare.

    CHAR(n) is padded when it is read, and a rule of the planner pads literals beside it: as an ordinary expression
    without the padding it is text like any other. A collated text is compared by its bytes. Readers of files skip
    parts of a file by its minimum and maximum, which leave NaN out: a comparison would then find a NaN or not depending
    on the other rows. They do not look through a subtraction, and this one changes no number.
    """
    from pyspark.sql import functions

    columns = []
    for field in frame.schema.fields:
        if field.name in left_out:
            continue
        column, kind = functions.col(quote_name(field.name)), _kind(field)
        if _TYPES.get(kind) == "float":
            column = column - functions.lit(0).cast(kind)
        elif kind == "string":
            if str(field.metadata.get(_CHAR, "")).lower().startswith("char"):
                column = functions.rtrim(column)
            if "collate" in field.dataType.simpleString():
                column = functions.collate(column, "UTF8_BINARY")
        columns.append(column.alias(field.name))
    return frame.select(*columns)


def check_days(session: Any, frame: Any) -> None:
    """Raise where reading an old day from a file would raise."""
    kinds = {_TYPES.get(_kind(field)) for field in frame.schema.fields}
    if kinds & {"date", "timestamp"}:
        for key in REBASE:
            if holds(read_setting(session, key), "EXCEPTION"):
                raise EngineError(
                    f"the setting {key} of Spark is EXCEPTION, and reading would fail where there are old days: "
                    f"session.conf.set({key!r}, 'CORRECTED')"
                )


def quote_name(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def _kind(field: Any) -> str:
    return str(field.dataType.simpleString()).partition("(")[0].partition(" ")[0]


def find_left_out(frame: Any) -> dict[str, str]:
    """Columns whose names cannot be sent, or whose types follow private data, with the reason."""
    names = [field.name for field in frame.schema.fields]
    counts = Counter(name.casefold() for name in names)
    found = dict.fromkeys(_find_guessed(frame), _GUESSED)
    found |= {name: "two columns differ in case alone" for name in names if counts[name.casefold()] > 1}
    return found | {name: "its name holds ${, which Spark may replace" for name in names if "${" in name}


def _find_guessed(frame: Any) -> set[str]:
    """Columns that are names of folders, and whose types are neither declared nor always text.

    Spark makes them numbers or dates where all folders look like some: one more row would change the type, and with it
    the values (``01`` is 1 only among numbers), of all others.
    """
    plan = frame._jdf.queryExecution().analyzed()
    guessed = _find_guessed_below(plan, holds(read_setting(frame.sparkSession, _INFERENCE), "true"))
    output = plan.output()
    attributes = (output.apply(i) for i in range(output.size()))
    return {str(attribute.name()) for attribute in attributes if attribute.exprId().id() in guessed}


def _find_guessed_below(plan: Any, inferring: bool) -> set[int]:
    """The ids of such columns in a plan, under whatever name."""
    children, kind = plan.children(), plan.getClass().getSimpleName()
    found = set[int]()
    for i in range(children.size()):
        found |= _find_guessed_below(children.apply(i), inferring)
    if kind.startswith("LogicalRelation") and plan.catalogTable().isEmpty():
        return _find_guessed_keys(plan, inferring)
    if kind == "Project":
        items = plan.projectList()
        for i in range(items.size()):
            used = items.apply(i).references().toSeq()
            if any(used.apply(j).exprId().id() in found for j in range(used.size())):
                found.add(items.apply(i).exprId().id())
    return found


def _find_guessed_keys(plan: Any, inferring: bool) -> set[int]:
    relation = plan.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return set()
    declared = read_given_schema(relation.location())
    keys = {str(name).casefold() for name in relation.partitionSchema().fieldNames()} - declared
    output = plan.output()
    attributes = [output.apply(i) for i in range(output.size())]
    return {
        attribute.exprId().id()
        for attribute in attributes
        if str(attribute.name()).casefold() in keys
        and (inferring or attribute.dataType().simpleString() != "string")
    }


def _is_attribute(item: Any) -> bool:
    kind = item.getClass().getSimpleName()
    if kind == "AttributeReference":
        return True
    if kind != "Alias":
        return False
    child = item.child()
    inner = child.getClass().getSimpleName()
    if inner == "StaticInvoke":
        arguments = child.arguments()
        return child.functionName() == "readSidePadding" and _is_attribute(arguments.apply(0))
    return bool(inner == "AttributeReference")
