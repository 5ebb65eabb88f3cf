"""DuckDB's tables: their columns, and how each is read."""

from __future__ import annotations

import re
from typing import Any

import duckdb
from sqlglot import exp

from sordino.engines.canonical import Found, Reading, list_projection, refer_to_place
from sordino.engines.constraints import ForeignReference, UniqueKey, add_constraints
from sordino.engines.engine import Column, ColumnType, Table

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
    "UUID": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
# The definition of a table is the only place that shows collations. A column's name may hold one of these words too:
# its table is then looked at more closely than it needs.
_SPECIAL = re.compile("COLLATE|ENUM|UUID|GENERATED", re.IGNORECASE)
_GENERATED = "a generated column is computed whenever it is read, and may fail on some rows: store its values"
_TABLES = """
    SELECT schema_name, table_name, false, sql FROM duckdb_tables() WHERE NOT internal AND database_name = $database
    UNION ALL
    SELECT schema_name, view_name, true, '' FROM duckdb_views() WHERE NOT internal AND database_name = $database
"""
_COLUMNS = """
    SELECT schema_name, table_name, column_name, data_type, is_nullable FROM duckdb_columns()
    WHERE NOT internal AND database_name = $database ORDER BY schema_name, table_name, column_index
"""
# Older versions do not say which columns are generated; every column with a default may then be one.
_COMPUTED = """
    SELECT table_schema, table_name, column_name FROM system.information_schema.columns
    WHERE table_catalog = $database
      AND (is_generated = 'ALWAYS' OR (is_generated IS NULL AND column_default IS NOT NULL))
"""
# Keys are written in the definition of a table; a column's name may hold these words too.
_KEYED = re.compile("KEY|UNIQUE|REFERENCES", re.IGNORECASE)
_CONSTRAINTS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints()
    WHERE database_name = $database AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
"""
_LABEL = re.compile("'((?:[^']|'')*)'")
_SIGNATURES = """
    SELECT function_name, parameter_types::VARCHAR FROM duckdb_functions()
    WHERE database_name = 'system' AND function_type = 'scalar'
"""
Shapes = dict[tuple[str, str], tuple[bool, str]]


def read_shapes(cursor: duckdb.DuckDBPyConnection, database: str) -> Shapes:
    """(schema, table) → whether it is a view, and its definition; names with a dot are left out."""
    rows = cursor.execute(_TABLES, {"database": database}).fetchall()
    return {
        (schema, table): (view, sql or "")
        for schema, table, view, sql in rows
        if "." not in schema and "." not in table
    }


def find_plain_readings(database: str, known: Shapes) -> dict[str, Reading] | None:
    """The readings where no table needs a closer look; None where one does."""
    if any(view or _SPECIAL.search(sql) for view, sql in known.values()):
        return None
    return {_name(schema, table): Reading(refer_to_place(database, schema, table)) for schema, table in known}


def find_tables(cursor: duckdb.DuckDBPyConnection, database: str, *, own_views: bool) -> Found:
    """The tables and how they are read; ``own_views``: the views are ours, each with the rows of one file."""
    known, asked = read_shapes(cursor, database), {"database": database}
    grouped: dict[tuple[str, str], list[tuple[Any, ...]]] = {place: [] for place in known}
    for schema, table, *rest in cursor.execute(_COLUMNS, asked).fetchall():
        if (schema, table) in known:
            grouped[schema, table].append(tuple(rest))
    computed: set[tuple[Any, ...]] = set()
    if any("GENERATED" in sql.upper() for _, sql in known.values()):
        computed = set(cursor.execute(_COMPUTED, asked).fetchall())
    tables, readings = {}, {}
    for (schema, table), parts in grouped.items():
        name, (view, sql) = _name(schema, table), known[schema, table]
        out = [
            part[0] for part in parts if "GENERATED" in sql.upper() and (schema, table, part[0]) in computed
        ]
        kept = [part for part in parts if part[0] not in out]
        columns = [_column(*part) for part in kept]
        alien = view and not own_views
        collated = alien or "COLLATE" in sql.upper()
        forms = [
            (column.name, _canonical(column, part[1], collated=collated, alien=alien))
            for column, part in zip(columns, kept, strict=True)
        ]
        tables[name] = Table(name, tuple(columns), alien, tuple((column, _GENERATED) for column in out))
        changed = out or any(form is not None for _, form in forms)
        where = refer_to_place(database, schema, table)
        readings[name] = Reading(where, list_projection(forms) if changed else None)
    if any(_KEYED.search(sql) for _, sql in known.values()):
        tables = _add_constraints(cursor, tables, known, asked)
    return Found(tables, readings)


def _add_constraints(
    cursor: duckdb.DuckDBPyConnection, tables: dict[str, Table], known: Shapes, asked: dict[str, str]
) -> dict[str, Table]:
    """The tables with their keys; foreign keys lead from a schema to itself.

    DuckDB finds keys by the bytes of a text. Whether it always will for a collated one is not said, so a foreign key
    from or to a table with a collation is left out.
    """
    keys, references = [], []
    plain = {_name(*place).casefold() for place, (_, sql) in known.items() if "COLLATE" not in sql.upper()}
    for schema, table, kind, columns, to_table, to in cursor.execute(_CONSTRAINTS, asked).fetchall():
        if (schema, table) not in known:
            continue
        name = _name(schema, table)
        if kind != "FOREIGN KEY":
            keys.append(UniqueKey(name, tuple(columns), kind == "PRIMARY KEY"))
        elif to_table and to and {name.casefold(), _name(schema, to_table).casefold()} <= plain:
            references.append(ForeignReference(name, tuple(columns), _name(schema, to_table), tuple(to)))
    return add_constraints(tables, keys, references)


def read_signatures(cursor: duckdb.DuckDBPyConnection) -> set[tuple[str, str]]:
    """The built-in scalar functions with the types that they take."""
    return {(name, str(types)) for name, types in cursor.execute(_SIGNATURES).fetchall()}


def _column(name: str, kind: str, nullable: bool) -> Column:
    base, _, rest = kind.partition("(")
    # Lists end in a bracket, whatever they are lists of.
    known = "other" if kind.endswith("]") else _TYPES.get(base, "other")
    digits, scale = map(int, rest[:-1].split(",")) if known == "decimal" else (None, None)
    return Column(name, known, bool(nullable), digits, scale, _labels(kind))


def _labels(kind: str) -> tuple[str, ...]:
    """The labels of an enumeration, which DuckDB writes into the name of its type."""
    if not kind.startswith("ENUM(") or kind.endswith("]"):
        return ()
    return tuple(label.replace("''", "'") for label in _LABEL.findall(kind))


def _canonical(column: Column, kind: str, *, collated: bool, alien: bool) -> exp.Expr | None:
    """How a column is read; None: as it is.

    An enumeration raises when it is compared with what is none of its labels, and a UUID with what is none; its text
    has one form, 36 characters in lower case. ``alien``: the rows are not in a table of
    DuckDB's own. What lies behind may be Parquet, whose minimum and maximum leave NaN out (see
    `sordino.engines.files.view`), so a float goes through TRY, which has no statistics.
    """
    plain = exp.column(column.name, quoted=True)
    if (kind.startswith("ENUM") or kind == "UUID") and column.type == "text":
        return exp.cast(plain, exp.DataType.Type.TEXT)
    if column.type == "text" and collated:
        return exp.Collate(this=plain, expression=exp.to_identifier("C", quoted=True))
    if column.type == "float" and alien:
        return exp.Anonymous(this="TRY", expressions=[plain])
    return None


def _name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"
