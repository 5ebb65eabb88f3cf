"""Attributes: the columns of a private table that a model learns from, as public codes that every row has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import number, whole
from sordino.curator.dataset import DataSet
from sordino.curator.questions.rows import read_rows
from sordino.curator.questions.workload import find_column, find_table
from sordino.engines import Column, Snapshot, Table
from sordino.learn.encoding import Codes, read_numbers
from sordino.learn.random_trees import count_steps
from sordino.learn.relation import bin_number, is_no_number, name_codes
from sordino.learn.schema import Attribute, Continuous, Discrete, Schema, as_classes, as_schema
from sordino.sql.answering.columns import place_value, select_rows, write_number
from sordino.sql.policy import ColumnPolicy, TablePolicy, match_name
from sordino.sql.question import Statement

# An engine takes 64 columns in one GROUPING SETS, two of which say where a row is.
_MOST_FEATURES = 60
_MOST_CODES = 10_000
_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a model may know of a table, all of it declared by the policy; and how the engine reads it.

    Reading is total, whatever the rows hold: NULL, NaN and values outside the domain are the code ``missing``, numbers
    outside the bounds belong to the first or the last bin. A row counts if its target is one of the classes and
    ``where`` holds; each of these is decided by the row alone, so that one row more is at most one coded row more.
    """

    table: TablePolicy
    statement: Statement
    schema: Schema
    classes: NDArray[Any]
    target: str
    columns: tuple[Column, ...]

    @property
    def text(self) -> str:
        """The rows that are asked about, and which column is to be told by which."""
        return f"{self.target} BY {', '.join(self.schema.names)} OF {self.statement.canonical}"

    def codes(self) -> exp.Select:
        """SELECT of a0, a1, … and label: places in the domains, bins and a place among the classes."""
        pairs = zip(self.schema.attributes, self.columns, strict=True)
        return self._selected([self._code(attribute, column) for attribute, column in pairs])

    def count_rows(self, snapshot: Snapshot) -> tuple[Codes, Codes]:
        """(codes of a forest, labels) of every row, in an order of their own: numbers come as they are, to be cut into
        more steps than an expression could list."""
        pairs = list(zip(self.schema.attributes, self.columns, strict=True))
        coded = self._selected(
            [
                write_number(self.statement, column)
                if isinstance(attribute, Continuous)
                else self._code(attribute, column)
                for attribute, column in pairs
            ]
        )
        names = [exp.column(column.alias) for column in coded.selects]
        counted = exp.alias_(exp.Count(this=exp.Star()), "rows_")
        query = (
            exp.select(*names, counted)
            .from_(coded.subquery("coded"))
            .group_by(*(name.copy() for name in names))
        )
        found = snapshot.aggregate(query)
        columns = [
            _steps(attribute, found.column(place))
            if isinstance(attribute, Continuous)
            else found.column(place).to_numpy()
            for place, attribute in enumerate(self.schema.attributes)
        ]
        table = np.column_stack([*columns, found.column("label").to_numpy()]).astype(np.int32)
        rows = np.repeat(table, found.column("rows_").to_numpy(), axis=0)
        rows = rows[np.lexsort(rows.T)]
        return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])

    def _selected(self, codes: list[exp.Expr]) -> exp.Select:
        label = place_value(self.statement, self.target, self.classes.tolist())
        return select_rows(self.statement, name_codes(codes, label), needed=label)

    def _code(self, attribute: Attribute, column: Column) -> exp.Expr:
        if isinstance(attribute, Discrete):
            values = attribute.values
            return place_value(self.statement, column.name, values, otherwise=len(values))
        value = write_number(self.statement, column)
        return bin_number(attribute, value, is_no_number(value))


def find_attributes(
    data: DataSet, table: str, target: str, features: Sequence[str] | None, bins: int, where: str | None
) -> Attributes:
    """The attributes of a model, or a refusal that says what the policy must declare; no row is touched."""
    policy, catalogued = find_table(data, table)
    if whole("bins", bins, least=2) > _MOST_CODES:
        raise ParameterError(f"bins must be at most {_MOST_CODES}, got {bins}")
    statement = read_rows(
        data, policy, catalogued.name, where, exp.Count(this=exp.Star()), "a tree or a forest"
    )
    label = find_column(policy, catalogued, _name("target", target))
    names = _features(policy, catalogued, label, features)
    columns = {column.name: column for column in catalogued.columns}
    schema = as_schema([_attribute(policy, columns[name], bins) for name in names])
    if sum(schema.sizes) > _MOST_CODES:
        raise UnsupportedError(
            f"the features have {sum(schema.sizes)} values and bins, at most {_MOST_CODES} are counted: name fewer "
            "features, or give fewer bins"
        )
    return Attributes(
        policy, statement, schema, _classes(policy, label), label, tuple(columns[name] for name in names)
    )


def _features(
    policy: TablePolicy, catalogued: Table, target: str, features: Sequence[str] | None
) -> list[str]:
    if features is None:
        names = [
            column.name
            for column in catalogued.columns
            if column.name != target and _is_declared(_declared(policy, column.name), column)
        ]
    elif isinstance(features, str) or not isinstance(features, Sequence):
        raise ParameterError(f"features must be a list of column names or None, got {features!r}")
    else:
        names = [find_column(policy, catalogued, _name("features", name)) for name in features]
    if target in names or len(set(names)) < len(names):
        raise ParameterError(f"features must be other columns than the target, each once, got {features!r}")
    if not names:
        raise ParameterError(
            f"there is no feature: declare tables.{policy.name}.columns.….domain or .bounds in the policy for columns "
            "other than the target"
        )
    if len(names) > _MOST_FEATURES:
        raise UnsupportedError(
            f"there are {len(names)} features, at most {_MOST_FEATURES} are counted: name fewer"
        )
    return names


def _declared(policy: TablePolicy, name: str) -> ColumnPolicy | None:
    found = match_name(name, policy.columns)
    return None if found is None else policy.columns[found]


def _is_declared(known: ColumnPolicy | None, column: Column) -> bool:
    if known is None or known.hidden:
        return False
    return known.domain is not None or (known.bounds is not None and column.type in _NUMBERS)


def _attribute(policy: TablePolicy, column: Column, bins: int) -> Attribute:
    known = _declared(policy, column.name)
    place = f"tables.{policy.name}.columns.{column.name}"
    if known is None or not _is_declared(known, column):
        raise ParameterError(
            f"the values of {column.name!r} are not public: declare {place}.domain in the policy, or {place}.bounds if "
            "it is a number"
        )
    if known.domain is not None:
        return Discrete(
            column.name, tuple(value for value in known.domain if value is not None), missing=True
        )
    low, high = (number(f"policy {place}.bounds", end) for end in known.bounds or ())
    return Continuous(column.name, (low, high), bins, missing=True, clip=True)


def _classes(policy: TablePolicy, target: str) -> NDArray[Any]:
    known = _declared(policy, target)
    if known is None or known.domain is None:
        raise ParameterError(
            f"the classes of {target!r} are not public: declare tables.{policy.name}.columns.{target}.domain in the "
            "policy"
        )
    return as_classes([value for value in known.domain if value is not None])


def _name(what: str, name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"{what} must be named by columns of the table, got {name!r}")
    return name


def _steps(attribute: Continuous, column: pa.ChunkedArray) -> Codes:
    return count_steps(read_numbers(attribute, column.to_numpy()), attribute)
