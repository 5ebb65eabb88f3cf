"""The relations of the shadow: all that PostgreSQL's catalogues have, with every column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Types of PostgreSQL as the shadow's; others are texts. Numbers of objects are BIGINT.
_KINDS = {
    "oid": "BIGINT",
    "xid": "BIGINT",
    "regtype": "BIGINT",
    "int8": "BIGINT",
    "int4": "INTEGER",
    "int2": "SMALLINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamptz": "TIMESTAMP",
    "int2vector": "SMALLINT[]",
    "oidvector": "BIGINT[]",
}
_NOTHING = {"BIGINT": 0, "INTEGER": 0, "SMALLINT": 0, "FLOAT": 0.0, "DOUBLE": 0.0, "BOOLEAN": False}
_SCHEMAS = {"pg_catalog": "shadow", "information_schema": "shadow_information"}


def read_relations() -> dict[str, dict[str, str]]:
    """Relation, with its schema in the shadow: columns with their types there."""
    found: dict[str, dict[str, str]] = {}
    for line in Path(__file__).with_name("relations.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, _, columns = line.partition(": ")
        schema, _, relation = name.partition(".")
        pairs = [column.partition(" ") for column in columns.split(", ")]
        found[f"{_SCHEMAS[schema]}.{relation}"] = {column: _kind(of) for column, _, of in pairs}
    return found


def _kind(of: str) -> str:
    return f"{_kind(of[1:])}[]" if of.startswith("_") else _KINDS.get(of, "VARCHAR")


RELATIONS = read_relations()


def make_row(relation: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row by the names of its columns. A catalogue has zeros where nothing is said, the information schema NULL."""
    columns = RELATIONS[relation]
    if not values.keys() <= columns.keys():
        raise KeyError(f"{relation} has no column {', '.join(values.keys() - columns.keys())}")
    zeros: Mapping[str, Any] = _NOTHING if relation.startswith("shadow.") else {}
    return tuple(values.get(name, zeros.get(kind)) for name, kind in columns.items())
