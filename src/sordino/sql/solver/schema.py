"""Schema: tables, keys and checks from the text of CREATE TABLE statements, or from a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sordino.core import ParameterError, UnsupportedError
from sordino.sql.expressions.absence import find_filled
from sordino.sql.policy import Policy, TablePolicy
from sordino.sql.policy.promises import read_check
from sordino.sql.solver.conditions import Condition
from sordino.sql.solver.query import ColumnShape, TableShape
from sordino.sql.solver.reading import read_condition
from sordino.sql.solver.terms import RowField, SolverKind
from sordino.sql.text import Text

_SHAPE = "a schema is CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, UNIQUE (a, b)); ..."
_KINDS: dict[Any, SolverKind] = {
    **dict.fromkeys(exp.DataType.INTEGER_TYPES, "integer"),
    **dict.fromkeys(exp.DataType.REAL_TYPES, "real"),
    **dict.fromkeys(exp.DataType.TEXT_TYPES, "text"),
    exp.DataType.Type.BOOLEAN: "boolean",
    exp.DataType.Type.DATE: "date",
}
_POLICY_KINDS: dict[str, SolverKind] = {
    "integer": "integer", "decimal": "real", "float": "real", "text": "text", "boolean": "boolean", "date": "date",
}  # fmt: skip
_READ = "INTEGER, DECIMAL, REAL, BOOLEAN, DATE and TEXT are understood"


def read_schema(
    schema: str | Path | Policy | Mapping[str, Any], *, dialect: str = ""
) -> dict[str, TableShape]:
    """Tables by name. ``schema``: CREATE TABLE text, or a policy, whose keys count only where they are enforced."""
    if isinstance(schema, Policy) or not isinstance(schema, str):
        policy = Policy.load(schema)
        return {table.name: _declared(table) for table in policy.tables.values()}
    try:
        statements = [tree for tree in sqlglot.parse(schema, dialect=dialect) if tree is not None]
    except SqlglotError:
        raise ParameterError(f"the schema cannot be read: {_SHAPE}") from None
    text = Text(schema, dialect)
    found: dict[str, TableShape] = {}
    for tree in statements:
        if not isinstance(tree, exp.Create) or tree.kind != "TABLE" or not isinstance(tree.this, exp.Schema):
            text.refuse(tree, _SHAPE)
        shape = _table(tree.this, text)
        if shape.name.casefold() in {name.casefold() for name in found}:
            text.wrong(tree.this.this, "the table is there twice")
        found[shape.name] = shape
    if not found:
        raise ParameterError(f"the schema is empty: {_SHAPE}")
    return found


def _table(tree: exp.Schema, text: Text) -> TableShape:
    columns: list[ColumnShape] = []
    said = _Constraints(text)
    for part in tree.expressions:
        if isinstance(part, exp.ColumnDef):
            columns.append(_column(part, text))
            for constraint in part.args.get("constraints") or []:
                said.read(constraint.kind, (part.name,))
            continue
        inner = part.expressions if isinstance(part, exp.Constraint) else [part]
        for constraint in inner:
            said.read(constraint, ())
    name = tree.this.name
    names = {column.name.casefold(): column.name for column in columns}
    if len(names) < len(columns):
        text.wrong(tree.this, "two columns have one name")
    for key in said.keys:
        for column in key:
            if column.casefold() not in names:
                text.wrong(tree.this, f"there is no column {column!r} to be a key of")
    known = tuple(dict.fromkeys(tuple(names[column.casefold()] for column in key) for key in said.keys))
    return _with_checks(TableShape(name, tuple(columns), known), said.checks, said.filled, text)


def _column(tree: exp.ColumnDef, text: Text) -> ColumnShape:
    kind = tree.args.get("kind")
    known = _KINDS.get(kind.this) if isinstance(kind, exp.DataType) else None
    if known is None or kind is None:
        text.refuse(tree, f"the solver has no such type: {_READ}")
    scale = None
    if known == "real" and kind.this == exp.DataType.Type.DECIMAL and kind.expressions:
        sizes = [int(size.name) for size in kind.expressions]
        scale = sizes[1] if len(sizes) > 1 else 0
    return ColumnShape(tree.name, known, scale)


@dataclass(slots=True)
class _Constraints:
    """What a CREATE TABLE says of its rows: keys, checks, and columns that are never NULL."""

    text: Text
    keys: list[tuple[str, ...]] = field(default_factory=list)
    checks: list[exp.Expr] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)

    def read(self, tree: exp.Expr, columns: tuple[str, ...]) -> None:
        """One more constraint; of a column, its name is in ``columns``."""
        match tree:
            case exp.PrimaryKeyColumnConstraint() | exp.PrimaryKey():
                self._add_key(tree, tuple(part.name for part in tree.expressions) or columns, primary=True)
            case exp.UniqueColumnConstraint():
                listed = tree.this.expressions if isinstance(tree.this, exp.Schema) else ()
                self._add_key(tree, tuple(part.name for part in listed) or columns, primary=False)
            case exp.CheckColumnConstraint():
                self.checks.append(tree.this)
            case exp.NotNullColumnConstraint():
                self.filled += () if tree.args.get("allow_null") else columns
            case exp.DefaultColumnConstraint() | exp.ForeignKey() | exp.Reference():
                pass  # they rule out databases, and a bound over more databases holds as well
            case _:
                self.text.refuse(
                    tree, "PRIMARY KEY, UNIQUE, CHECK, NOT NULL, DEFAULT and REFERENCES are understood"
                )

    def _add_key(self, tree: exp.Expr, columns: tuple[str, ...], *, primary: bool) -> None:
        """A key that is written down and not enforced is only a note."""
        if any("NOT ENFORCED" in str(option).upper() for option in tree.args.get("options") or []):
            return
        self.keys.append(columns)
        self.filled += columns if primary else ()


def _with_checks(
    shape: TableShape, checks: Iterable[exp.Expr], filled: Iterable[str], text: Text
) -> TableShape:
    """The table with its checks; those that say IS NOT NULL, and nothing else, fill a column."""
    names = {name.casefold() for name in filled}
    kept = list(shape.checks)
    for check in checks:
        column = find_filled(check)
        if column is None:
            kept.append(_check(check, shape, text))
        elif column.casefold() in {known.name.casefold() for known in shape.columns}:
            names.add(column.casefold())
        else:
            text.wrong(check, f"there is no column {column!r} in {shape.name}")
    columns = tuple(
        replace(column, filled=True) if column.name.casefold() in names else column
        for column in shape.columns
    )
    return replace(shape, columns=columns, checks=tuple(kept))


def _check(tree: exp.Expr, shape: TableShape, text: Text) -> Condition:
    def resolve(column: exp.Column) -> RowField:
        for known in shape.columns:
            if known.name.casefold() == column.name.casefold():
                return RowField(0, known.name, known.kind)
        text.wrong(column, f"there is no column {column.name!r} in {shape.name}")

    return read_condition(tree, resolve, text)


def _declared(table: TablePolicy) -> TableShape:
    columns = []
    for column in table.columns.values():
        kind = _POLICY_KINDS.get(column.kind or "")
        if kind is None:
            raise UnsupportedError(
                f"tables.{table.name}.columns.{column.name}: the solver needs its type: {_READ}"
            )
        columns.append(ColumnShape(column.name, kind))
    names = {column.name.casefold(): column.name for column in columns}
    for name in table.key:
        if name.casefold() not in names:
            raise ParameterError(f"tables.{table.name}: its key {name!r} needs a type among the columns")
    keys = (tuple(names[name.casefold()] for name in table.key),) if table.key and table.key_enforced else ()
    shape = TableShape(table.name, tuple(columns), keys)
    for check in table.checks:
        tree = read_check(f"tables.{table.name}.check", check)
        shape = _with_checks(
            shape, tree.flatten() if isinstance(tree, exp.And) else [tree], (), Text(check, "")
        )
    return shape
