"""Reading a query whose ranges are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sordino.core.parameters import did_you_mean
from sordino.sql.constraints.cells import CellName
from sordino.sql.reading.syntax import parse_statement, silence_parser
from sordino.sql.text import Text, check_parts

_DIALECT = ""  # the standard's words are all that is understood
_AGGREGATES: dict[type, str] = {
    exp.Count: "COUNT",
    exp.Sum: "SUM",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Avg: "AVG",
}
_SHAPE = "ranges are told of SELECT ... FROM tables JOIN ... ON ... WHERE ... GROUP BY columns"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of the answer: an expression, or an aggregate of one (None: COUNT(*))."""

    name: str
    aggregate: str | None
    argument: Any


@dataclass(frozen=True, slots=True)
class RangeQuery:
    """``tables``: which table each alias is. ``known``: the columns that have a constraint."""

    text: Text
    tables: Mapping[str, str]
    outputs: tuple[OutputColumn, ...]
    condition: exp.Expr | None
    keys: tuple[exp.Column, ...]
    known: tuple[tuple[str, str], ...]

    def resolve(self, node: exp.Column) -> CellName:
        """The alias and the column that a name means."""
        places = [
            (alias, column)
            for alias, table in self.tables.items()
            for owner, column in self.known
            if owner.casefold() == table.casefold()
            and column.casefold() == node.name.casefold()
            and node.table.casefold() in ("", alias.casefold())
        ]
        if not places:
            names = [f"{owner}.{column}" for owner, column in self.known]
            hint = did_you_mean(
                node.sql(), names, otherwise=f"constrained are {', '.join(names[:12]) or 'none'}"
            )
            self.text.wrong(node, f"there is no constraint of this column: {hint}")
        if len(places) > 1:
            self.text.wrong(node, "the name is in several tables: write table.column")
        return places[0]

    def read_names(self) -> list[CellName]:
        """The columns that the query reads, each once."""
        nodes = [output.argument for output in self.outputs if output.argument is not None]
        nodes += [] if self.condition is None else [self.condition]
        columns = [self.resolve(column) for node in nodes for column in node.find_all(exp.Column)]
        return list(dict.fromkeys(columns))


def read_range_query(sql: str, known_tables: set[str], known: tuple[tuple[str, str], ...]) -> RangeQuery:
    """A SELECT of columns and expressions, or of aggregates, over inner joins."""
    text = Text(sql, _DIALECT)
    with silence_parser():
        root = parse_statement(sql, _DIALECT)
    if not isinstance(root, exp.Select):
        text.refuse(type(root).__name__.upper(), _SHAPE, keyword=None)
    check_parts(text, root, ("expressions", "from_", "joins", "where", "group", "kind"), _SHAPE)
    if root.args.get("from_") is None:
        text.refuse(root, "a query needs FROM with a table", keyword="SELECT")
    tables: dict[str, str] = {}
    conditions: list[exp.Expr] = []
    _add_table(text, root.args["from_"].this, tables, known_tables)
    for join in root.args.get("joins") or []:
        if join.args.get("side") or join.args.get("kind") not in (None, "", "INNER", "CROSS"):
            text.refuse(join, "only inner joins are understood", keyword="JOIN")
        check_parts(text, join, ("this", "kind", "on"), "write JOIN ... ON")
        _add_table(text, join.this, tables, known_tables)
        if join.args.get("on") is not None:
            conditions.append(join.args["on"])
    if root.args.get("where") is not None:
        conditions.append(root.args["where"].this)
    keys = _read_keys(text, root)
    outputs = tuple(_read_output(text, node, place) for place, node in enumerate(root.expressions))
    _check_outputs(text, root, outputs, keys)
    condition = exp.and_(*conditions) if conditions else None
    query = RangeQuery(text, tables, outputs, condition, keys, known)
    query.read_names()  # every name has one meaning
    return query


def find_table_names(sql: str) -> set[str]:
    """The tables that a query names, in lower case."""
    with silence_parser():
        return {node.name.casefold() for node in parse_statement(sql, _DIALECT).find_all(exp.Table)}


def _add_table(text: Text, node: exp.Expr, tables: dict[str, str], known: set[str]) -> None:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        text.refuse(
            node, "FROM takes tables; a sub-select is a step of its own, whose ranges are constraints"
        )
    check_parts(text, node, ("this", "db", "alias"), _SHAPE)
    name = f"{node.args['db'].name}.{node.name}" if node.args.get("db") else node.name
    found = [table for table in known if table.casefold() == name.casefold()]
    if not found:
        hint = did_you_mean(name, known, otherwise=f"constrained are {', '.join(sorted(known)) or 'none'}")
        text.wrong(node, f"no column of this table has a constraint: {hint}")
    alias = node.alias or node.name
    if alias.casefold() in {other.casefold() for other in tables}:
        text.wrong(node, f"the name {alias!r} is given twice in FROM: write {alias} AS other")
    tables[alias] = found[0]


def _read_keys(text: Text, root: exp.Select) -> tuple[exp.Column, ...]:
    clause = root.args.get("group")
    if clause is None:
        return ()
    check_parts(text, clause, ("expressions",), "GROUP BY takes columns")
    for node in clause.expressions:
        if not isinstance(node, exp.Column):
            text.refuse(node, "GROUP BY takes columns")
    return tuple(clause.expressions)


def _read_output(text: Text, node: exp.Expr, place: int) -> OutputColumn:
    if isinstance(node, exp.Star):
        text.refuse(node, "name the columns")
    inner = node.unalias()
    name = node.alias or (inner.name if isinstance(inner, exp.Column) else "") or f"column_{place + 1}"
    aggregate = _AGGREGATES.get(type(inner))
    if aggregate is None:
        if inner.find(exp.AggFunc) is not None:
            text.refuse(inner, "aggregates stand by themselves; combine their ranges in a further step")
        return OutputColumn(name, None, inner)
    if isinstance(inner.this, exp.Distinct):
        text.refuse(inner, "DISTINCT is not understood")
    argument = None if aggregate == "COUNT" else inner.this
    return OutputColumn(name, aggregate, argument)


def _check_outputs(
    text: Text, root: exp.Select, outputs: Sequence[OutputColumn], keys: Sequence[exp.Column]
) -> None:
    if len({output.name.casefold() for output in outputs}) < len(outputs):
        text.wrong(root, "two columns of the answer have one name", keyword="SELECT")
    if not keys and not any(output.aggregate for output in outputs):
        return
    grouped = {key.name.casefold() for key in keys}
    for output in outputs:
        plain = isinstance(output.argument, exp.Column) and output.argument.name.casefold() in grouped
        if output.aggregate is None and not plain:
            text.wrong(output.argument, "beside aggregates stand columns of GROUP BY only")
