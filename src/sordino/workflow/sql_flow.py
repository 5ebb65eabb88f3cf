"""SqlFlow: from which columns a query makes its own, and under which conditions."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sordino.core import ParameterError, UnsupportedError

Flow = tuple[str, str | None, frozenset[str]]  # table, column (None: its rows), conditions
_SHAPE = "a task is SELECT … FROM tables with JOIN … ON, WHERE, GROUP BY and HAVING"
_REFUSED = {
    exp.Subquery: "a sub-select: make it a task of its own",
    exp.Exists: "a sub-select: make it a task of its own",
    exp.Limit: "LIMIT, which depends on all rows",
    exp.Window: "a window function",
}


@dataclass(frozen=True, slots=True)
class SqlFlow:
    """Per output column, what flows into it: columns of its expression, of conditions and of groups."""

    tables: tuple[str, ...]
    outputs: dict[str, tuple[Flow, ...]]

    def filters_of(self, table: str) -> frozenset[str]:
        """The conditions under which something of a table is in the result: those of all its flows."""
        found = [filters for flows in self.outputs.values() for name, _, filters in flows if name == table]
        return frozenset.intersection(*found) if found else frozenset()

    def columns_read(self) -> set[tuple[str, str]]:
        """Columns of tables that the query names."""
        return {
            (table, column)
            for flows in self.outputs.values()
            for table, column, _ in flows
            if column is not None
        }


def read_sql_flow(sql: str, where: str) -> SqlFlow:
    """The flows of one query.

    Columns of the SELECT list and of GROUP BY flow under the WHERE, HAVING and ON conditions, always where there are
    none; columns of conditions flow under them. A LEFT JOIN's ON is no condition for the tables before it.
    """
    try:
        trees = [tree for tree in sqlglot.parse(sql) if tree is not None]
    except SqlglotError:
        raise ParameterError(f"{where}: the query cannot be read: {_SHAPE}") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise UnsupportedError(f"{where}: {_SHAPE}, got {type(trees[0]).__name__ if trees else 'nothing'}")
    query = trees[0]
    for kind, told in _REFUSED.items():
        if query.find(kind) is not None:
            raise UnsupportedError(f"{where}: {told}, is not followed")
    if query.args.get("with_") or query.args.get("with"):
        raise UnsupportedError(f"{where}: WITH is not followed: make it a task of its own")
    tables, conditions = _read_tables(query, where)
    for clause in ("where", "having", "qualify"):
        if (given := query.args.get(clause)) is not None:
            # these choose among all joined rows, so every table is under them
            for part in _conjuncts(given.this):
                conditions.append((part, frozenset(tables)))
    used_by_condition = [(part, _columns(part, tables, where), over) for part, over in conditions]
    shared: list[tuple[str, str | None]] = []
    for clause in ("group", "order"):
        if (given := query.args.get(clause)) is not None:
            shared += [column for part in given.expressions for column in _columns(part, tables, where)]
    outputs: dict[str, tuple[Flow, ...]] = {}
    for number, item in enumerate(query.expressions):
        if item.find(exp.Star) is not None and not isinstance(item.unalias(), exp.Count):
            raise UnsupportedError(f"{where}: SELECT * does not name its columns: write them out")
        name = item.alias_or_name or f"column_{number + 1}"
        if name in outputs:
            raise ParameterError(
                f"{where}: two columns of the result are called {name!r}: write expression AS name"
            )
        read = [*_columns(item, tables, where), *shared]
        outputs[name] = _flows(read, used_by_condition, tables)
    return SqlFlow(tuple(dict.fromkeys(tables.values())), outputs)


def _flows(
    read: list[tuple[str, str | None]],
    conditions: list[tuple[exp.Expr, list[tuple[str, str | None]], frozenset[str]]],
    tables: dict[str, str],
) -> tuple[Flow, ...]:
    """``read`` and columns of conditions are given by the alias of their table; flows by its name."""
    found: dict[Flow, None] = {}
    touched = set()
    for alias, column in read:
        touched.add(alias)
        filters = frozenset(part.sql() for part, _, over in conditions if alias in over)
        found[(tables[alias], column, filters)] = None
    for part, columns, _ in conditions:
        for alias, column in columns:
            touched.add(alias)
            filters = frozenset(one.sql() for one, _, over in conditions if alias in over)
            found[(tables[alias], column, filters | {part.sql()})] = None
    for alias in tables:  # how often a row is in the result depends on tables that nothing else is read of
        if alias not in touched:
            filters = frozenset(part.sql() for part, _, over in conditions if alias in over)
            found[(tables[alias], None, filters)] = None
    return tuple(found)


def _read_tables(
    query: exp.Select, where: str
) -> tuple[dict[str, str], list[tuple[exp.Expr, frozenset[str]]]]:
    """Alias → table, and the ON conditions with the aliases whose rows they choose among."""
    tables: dict[str, str] = {}
    conditions: list[tuple[exp.Expr, frozenset[str]]] = []
    start = query.args.get("from_") or query.args.get("from")
    if start is None:
        return tables, conditions
    joins = query.args.get("joins") or []
    for node in [start.this, *(join.this for join in joins)]:
        if not isinstance(node, exp.Table):
            raise UnsupportedError(f"{where}: {_SHAPE}; {node.sql()} is no table")
        if node.alias_or_name in tables:
            raise ParameterError(f"{where}: two tables are called {node.alias_or_name!r}: give one an alias")
        before = frozenset(tables)
        tables[node.alias_or_name] = node.name
        join = node.parent
        if not isinstance(join, exp.Join):
            continue
        if join.side not in ("", "LEFT") or join.method or join.args.get("using"):
            raise UnsupportedError(
                f"{where}: {join.sql()} is not followed: write JOIN … ON or LEFT JOIN … ON"
            )
        own = frozenset({node.alias_or_name})
        for part in _conjuncts(join.args.get("on")):
            conditions.append((part, own if join.side == "LEFT" else before | own))
    return tables, conditions


def _conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    if condition is None:
        return []
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
    return [condition]


def _columns(part: exp.Expr, tables: dict[str, str], where: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for column in part.find_all(exp.Column):
        if column.table:
            if column.table not in tables:
                raise ParameterError(f"{where}: {column.sql()} is of no table of the query")
            found.append((column.table, column.name))
        elif len(tables) == 1:
            found.append((next(iter(tables)), column.name))
        else:
            raise ParameterError(f"{where}: of which table is {column.sql()}? Write table.{column.name}")
    return found
