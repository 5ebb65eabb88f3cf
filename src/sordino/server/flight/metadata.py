"""Catalogue questions of Flight SQL, from the policy alone."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from sordino.core import ParameterError
from sordino.curator.description import Description

_SCHEMA = "public"
_COLUMNS = {
    "integer": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_VALUE = {  # the kinds of value that the protocol lets a fact about a server have
    "string_value": pa.string(),
    "bool_value": pa.bool_(),
    "bigint_value": pa.int64(),
    "int32_bitmask": pa.int32(),
    "string_list": pa.list_(pa.string()),
    "int32_to_int32_list_map": pa.map_(pa.int32(), pa.list_(pa.int32())),
}
# By the numbers of the protocol: name, version, Arrow's version, only read from.
_FACTS: dict[int, str | bool] = {
    0: "Sordino",
    1: version("sordino"),
    2: pa.__version__,
    3: True,
}
CATALOGUE_COMMANDS = frozenset(
    {
        "CommandGetCatalogs",
        "CommandGetDbSchemas",
        "CommandGetTableTypes",
        "CommandGetSqlInfo",
        "CommandGetTables",
    }
)


def answer_metadata(kind: str, command: Any, description: Description) -> pa.Table:
    """Rows of one catalogue command."""
    base = description.dataset
    if kind == "CommandGetCatalogs":
        return _table(("catalog_name",), [(base,)], missing=())
    if kind == "CommandGetDbSchemas":
        shown = _matches(command.db_schema_filter_pattern, _SCHEMA)
        rows = [(base, _SCHEMA)] if shown else []
        return _table(("catalog_name", "db_schema_name"), rows)
    if kind == "CommandGetTableTypes":
        return _table(("table_type",), [("TABLE",)])
    if kind == "CommandGetSqlInfo":
        return _info(command.info)
    if kind == "CommandGetTables":
        return _tables(command, description)
    raise ParameterError(f"{kind} of Flight SQL is not answered here")


def _info(asked: Sequence[int]) -> pa.Table:
    """Facts about the server: those that were asked for, or all."""
    told = {number: fact for number, fact in _FACTS.items() if not asked or number in asked}
    words = [fact for fact in told.values() if isinstance(fact, str)]
    truths = [fact for fact in told.values() if isinstance(fact, bool)]
    kinds = [int(isinstance(fact, bool)) for fact in told.values()]
    offsets = [kinds[:place].count(kind) for place, kind in enumerate(kinds)]
    children = [
        pa.array({0: words, 1: truths}.get(place, []), kind) for place, kind in enumerate(_VALUE.values())
    ]
    values = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), children, list(_VALUE)
    )
    schema = pa.schema(
        [
            pa.field("info_name", pa.uint32(), nullable=False),
            pa.field("value", values.type, nullable=False),
        ]
    )
    return pa.Table.from_arrays([pa.array(told, pa.uint32()), values], schema=schema)


def _tables(command: Any, description: Description) -> pa.Table:
    listed = (not command.table_types or "TABLE" in command.table_types) and _matches(
        command.db_schema_filter_pattern, _SCHEMA
    )
    tables = [
        table
        for table in (description.tables if listed else ())
        if _matches(command.table_name_filter_pattern, table.name)
    ]
    rows = [(description.dataset, _SCHEMA, table.name, "TABLE") for table in tables]
    found = _table(
        ("catalog_name", "db_schema_name", "table_name", "table_type"),
        rows,
        ("catalog_name", "db_schema_name"),
    )
    if not command.include_schema:
        return found
    schemas = [
        pa.schema(
            [
                (column.name, _COLUMNS.get(column.type.partition("(")[0], pa.string()))
                for column in table.columns
            ]
        )
        .serialize()
        .to_pybytes()
        for table in tables
    ]
    return found.append_column(
        pa.field("table_schema", pa.binary(), nullable=False), pa.array(schemas, pa.binary())
    )


def _table(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], missing: Sequence[str] = ("catalog_name",)
) -> pa.Table:
    """Columns of texts; ``missing``: those that the protocol lets be missing."""
    schema = pa.schema([pa.field(name, pa.string(), nullable=name in missing) for name in names])
    arrays = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    return pa.Table.from_arrays(arrays, schema=schema)


def _matches(pattern: str, name: str) -> bool:
    """SQL's LIKE; no pattern matches everything.

    The places of the name that were reached are carried along the pattern, so the work is their product: a regular
    expression would try all ways to share a name among many ``%``, and hold the whole server meanwhile.
    """
    if not pattern:
        return True
    reached = {0}
    for sign in pattern:
        if sign == "%":
            reached = set(range(min(reached), len(name) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(name) and sign in ("_", name[at])}
        if not reached:
            return False
    return len(name) in reached
