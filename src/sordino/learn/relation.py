"""A database table as the source of a growing tree: one GROUP BY per level, rows never leave the engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.core.parameters import did_you_mean
from sordino.engines import Column, Engine, Snapshot, write_double
from sordino.learn.schema import Attribute, Continuous, Discrete, Schema

Counts = NDArray[np.int64]

_OUTSIDE = -1
_NUMBERS = ("integer", "decimal", "float")


class _Branch:
    """A node of the tree so far, while rows are still sorted by it."""

    __slots__ = ("children", "first_child", "split")

    def __init__(self) -> None:
        self.split: int | None = None
        self.first_child = 0
        self.children: list[_Branch] = []

    def place(self) -> exp.Expr | None:
        """The number of the open node that a row of this one belongs to, as an expression over its codes.

        The tree itself as nested CASE expressions, so that an engine asks a row as many questions as its path is long.
        None where all nodes below are closed.
        """
        if self.split is None:
            return _whole(0)
        code = exp.column(f"a{self.split}")
        if self.children and all(child.split is None for child in self.children):
            return exp.Add(this=_whole(self.first_child), expression=code)
        below = [(place, child.place()) for place, child in enumerate(self.children)]
        moves = [exp.If(this=_whole(place), true=node) for place, node in below if node is not None]
        return exp.Case(this=code, ifs=moves) if moves else None


class Relation:
    """Sorts the rows of a table into nodes by an expression over their codes, and counts them in the engine.

    ``coded``: a SELECT of the codes of every row as `name_codes` names them. A value outside the domain has code −1; it
    is refused as in memory, once the first counts are there.
    """

    def __init__(self, snapshot: Snapshot, coded: exp.Select, schema: Schema, classes: int) -> None:
        self.snapshot = snapshot
        self.coded = coded
        self.sizes = schema.sizes
        self.classes = classes
        self.attributes = schema.attributes
        self.root = _Branch()
        self.open = [self.root]

    def tables(self, nodes: int) -> Counts:
        """Counts of all cells: (nodes, cells)."""
        return self._counted(nodes, range(len(self.sizes)))

    def histograms(self, nodes: int) -> Counts:
        """Counts per class: (nodes, classes)."""
        return self._counted(nodes, range(0))

    def descend(self, attribute: NDArray[np.int32], first_child: NDArray[np.int32]) -> None:
        """Split the open nodes: their children are open now, in this order, and have these numbers."""
        before, self.open = self.open, []
        for branch, split, start in zip(before, attribute.tolist(), first_child.tolist(), strict=True):
            branch.split, branch.first_child = split, start
            branch.children = [_Branch() for _ in range(self.sizes[split])] if split >= 0 else []
            self.open += branch.children

    def _counted(self, nodes: int, attributes: range) -> Counts:
        """One statement: the rows of every (node, label), and of every (node, label, code) of each attribute."""
        names = [f"a{place}" for place in attributes]
        coded = self.coded.subquery("coded")
        node = self.root.place() or exp.null()
        placed = exp.select("*", exp.alias_(node, "node")).from_(coded, copy=False)
        rows = placed.subquery("placed", copy=False)
        counted = exp.alias_(exp.Count(this=exp.Star()), "rows_")
        query = exp.select("node", "label", *names, counted).from_(rows, copy=False)
        query.where(exp.column("node").is_(exp.null()).not_(), copy=False)
        sets = [["node", "label", name] for name in names] or [["node", "label"]]
        grouping = [exp.Tuple(expressions=[exp.column(name) for name in one]) for one in sets]
        query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=grouping)]))
        return self._arranged(self.snapshot.aggregate(query), nodes, attributes)

    def _arranged(self, answer: pa.Table, nodes: int, attributes: range) -> Counts:
        node = answer["node"].to_numpy()
        label = answer["label"].to_numpy()
        rows = answer["rows_"].to_numpy()
        if (label == _OUTSIDE).any():
            raise PrivateDataError("the target has values that are missing or not among the public classes")
        if not attributes:
            counts = np.zeros((nodes, self.classes), dtype=np.int64)
            counts[node, label] = rows
            return counts
        starts = np.cumsum([0, *self.sizes]) * self.classes
        counts = np.zeros((nodes, int(starts[-1])), dtype=np.int64)
        for place in attributes:
            column = answer[f"a{place}"]
            grouped = column.is_valid().to_numpy()
            code = column.drop_null().to_numpy()
            if (code == _OUTSIDE).any():
                raise PrivateDataError(
                    f"column {self.attributes[place].name!r} has values that are missing or outside its public domain"
                )
            counts[node[grouped], starts[place] + code * self.classes + label[grouped]] = rows[grouped]
        return counts


def select_codes(
    engine: Engine, table: str, target: str, schema: Schema, classes: NDArray[Any]
) -> exp.Select:
    """The rows of a table as codes.

    Codes are CASE expressions over the public domain, so bins and values are those of `sordino.learn.encoding`.
    """
    columns = _columns(engine, table, (*schema.names, target))
    codes = [_code(attribute, columns[attribute.name]) for attribute in schema.attributes]
    label = _code(Discrete(target, tuple(classes.tolist())), columns[target])
    return exp.select(*name_codes(codes, label)).from_(_named(table))


def name_codes(codes: Sequence[exp.Expr], label: exp.Expr) -> list[exp.Expr]:
    """The columns that a `Relation` counts."""
    named = [exp.alias_(code, f"a{place}") for place, code in enumerate(codes)]
    return [*named, exp.alias_(label, "label")]


def _columns(engine: Engine, table: str, names: tuple[str, ...]) -> dict[str, Column]:
    """The declared columns of those names; a miss names the nearest."""
    catalogue = engine.catalogue()
    if table not in catalogue:
        raise ParameterError(f"there is no table {table!r}{_nearest(table, list(catalogue))}")
    columns = {column.name: column for column in catalogue[table].columns}
    for name in names:
        if name not in columns:
            raise ParameterError(f"table {table!r} has no column {name!r}{_nearest(name, list(columns))}")
    return columns


def _named(table: str) -> exp.Table:
    """The table of that name in the catalogue, where ``schema.table`` is one outside the default schema."""
    schema, _, name = table.rpartition(".")
    return exp.table_(name, db=schema or None, quoted=True)


def _nearest(name: str, names: list[str]) -> str:
    return did_you_mean(name, names, before="; ", otherwise=f"; it has {', '.join(names)}" if names else "")


def _code(attribute: Attribute, column: Column) -> exp.Expr:
    """The code of a value as an expression; −1 outside the domain."""
    return _bin(attribute, column) if isinstance(attribute, Continuous) else _place(attribute, column)


def _place(attribute: Discrete, column: Column) -> exp.Expr:
    expected = _accepted(column)
    value = exp.column(column.name, quoted=True)
    cases = [(_is_missing(value, column), len(attribute.values) if attribute.missing else _OUTSIDE)]
    for code, listed in enumerate(attribute.values):
        if isinstance(listed, bool) != (bool in expected) or not isinstance(listed, expected):
            raise ParameterError(
                f"column {column.name!r} is {column.type} in the database, its domain lists {type(listed).__name__}s"
            )
        cases.append((exp.EQ(this=value.copy(), expression=_literal(listed, column)), code))
    return _cases(cases, _OUTSIDE)


def _accepted(column: Column) -> tuple[type, ...]:
    kinds: dict[str, tuple[type, ...]] = {"text": (str,), "boolean": (bool,)}
    kinds |= dict.fromkeys(_NUMBERS, (int, float))
    if column.type not in kinds:
        raise UnsupportedError(
            f"column {column.name!r} is of type {column.type}: cast it to text or a number in a view of the table"
        )
    return kinds[column.type]


def _literal(value: Any, column: Column) -> exp.Expr:
    if isinstance(value, float) and column.type == "float":
        return write_double(value)
    return exp.convert(value)


def _bin(attribute: Continuous, column: Column) -> exp.Expr:
    if column.type not in _NUMBERS:
        raise ParameterError(
            f"column {column.name!r} is {column.type} in the database and declared continuous: it must be a number"
        )
    value = exp.cast(exp.column(column.name, quoted=True), "double")
    return bin_number(attribute, value, _is_missing(value, column))


def bin_number(attribute: Continuous, value: exp.Expr, missing: exp.Expr) -> exp.Case:
    """The bin of a double as an expression; ``missing`` is asked first."""
    low, high = (write_double(end) for end in attribute.bounds)
    cases: list[tuple[exp.Expr, int]] = [(missing, attribute.bins if attribute.missing else _OUTSIDE)]
    if not attribute.clip:
        cases.append((exp.LT(this=value.copy(), expression=low), _OUTSIDE))
        cases.append((exp.GT(this=value.copy(), expression=high), _OUTSIDE))
    for code, edge in enumerate(attribute.edges.tolist()):
        cases.append((exp.LT(this=value.copy(), expression=write_double(edge)), code))
    return _cases(cases, attribute.bins - 1)


def _is_missing(value: exp.Expr, column: Column) -> exp.Expr:
    """NULL, or NaN where the column can hold it. To be asked first."""
    null = exp.Is(this=value.copy(), expression=exp.null())
    return null if column.type != "float" else is_no_number(value)


def is_no_number(value: exp.Expr) -> exp.Expr:
    """NULL or NaN, of a double. To be asked first.

    Planners take a file's own minimum and maximum to cover all of its rows, which NaN is no part of: beside them DuckDB
    finds that no value *is* NaN, and that a NaN is below 1. Subtraction is not second-guessed: of all numbers only NaN
    and the infinities do not give 0.
    """
    null = exp.Is(this=value.copy(), expression=exp.null())
    difference = exp.Sub(this=value.copy(), expression=value.copy())
    not_finite = exp.NEQ(this=difference, expression=write_double(0.0))
    infinities = (write_double(sign * math.inf) for sign in (1, -1))
    number = (exp.NEQ(this=value.copy(), expression=infinity) for infinity in infinities)
    return exp.or_(null, exp.and_(not_finite, *number))


def _cases(cases: list[tuple[exp.Expr, int]], otherwise: int) -> exp.Case:
    branches = [exp.If(this=condition, true=_whole(code)) for condition, code in cases]
    return exp.Case(ifs=branches, default=_whole(otherwise))


def _whole(value: int) -> exp.Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
