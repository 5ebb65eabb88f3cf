"""SqlFlow: from which columns a query makes its own, and under which conditions."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sordino.core import ParameterError, UnsupportedError

Flow = tuple[str, str | None, frozenset[str]]  # table, column (None: its rows), conditions
_SHAPE = "a task is SELECT … FROM tables with JOIN … ON, WHERE, GROUP BY and HAVING"
_FOLLOWED = {
    exp.Select: {"expressions", "distinct", "from_", "from", "joins", "where", "group", "having", "order"},
    exp.Table: {"this", "alias", "db"},
    exp.TableAlias: {"this"},
    exp.Group: {"expressions", "grouping_sets", "cube", "rollup"},
    exp.Distinct: {"expressions"},
}
_REFUSED = {exp.Window: "a window function", exp.Columns: "COLUMNS", exp.Query: "a sub-select"}
_JOINS = {"", "INNER", "CROSS", "OUTER"}


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
    """The flows of one query; whatever a query says that is not followed is refused.

    Columns of the SELECT list and of GROUP BY flow under the WHERE, HAVING and ON conditions, always where there are
    none; columns of conditions flow under them. A LEFT JOIN's ON is no condition for the tables before it. Names that
    are not quoted are the same in capitals.
    """
    try:
        trees = [tree for tree in sqlglot.parse(sql) if tree is not None]
    except SqlglotError:
        raise ParameterError(f"{where}: the query cannot be read: {_SHAPE}") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise UnsupportedError(f"{where}: {_SHAPE}, got {type(trees[0]).__name__ if trees else 'nothing'}")
    query = trees[0]
    _check_shape(query, where)
    tables, conditions = _read_tables(query, where)
    items = _read_items(query, where)
    for clause in ("where", "having"):
        if (given := query.args.get(clause)) is not None:
            # these choose among all joined rows, so every table is under them
            for part in _conjuncts(given.this):
                conditions.append((part, frozenset(tables)))
    own_names = {name for name, item in items.items() if _plain_column(item) != name}

    def read(part: exp.Expr) -> list[tuple[str, str | None]]:
        for column in part.find_all(exp.Column):
            if not column.table and (name := _name_of(column.this)) in own_names:
                raise ParameterError(
                    f"{where}: is {name!r} a column of a table or of the result? Write table.{name}, or its expression"
                )
        return _columns(part, tables, where)

    used_by_condition = [(part, read(part), over) for part, over in conditions]
    shared: list[tuple[str, str | None]] = []
    if (group := query.args.get("group")) is not None:
        for part in group.expressions:
            placed = _at_place(part, items, where)
            shared += read(part) if placed is None else _columns(placed, tables, where)
        for part in (
            one for name in ("grouping_sets", "cube", "rollup") for one in group.args.get(name) or []
        ):
            shared += read(part)
    if (order := query.args.get("order")) is not None:  # here names of the result come first
        for part in order.expressions:
            placed = _at_place(part.this, items, where) or items.get(_plain_column(part.this) or "")
            shared += _columns(placed or part, tables, where)
    if query.args.get("distinct") is not None:  # how often a value is left depends on those beside it
        shared += [column for item in items.values() for column in _columns(item, tables, where)]
    return SqlFlow(
        tuple(dict.fromkeys(tables.values())),
        {
            name: _flows([*_columns(item, tables, where), *shared], used_by_condition, tables)
            for name, item in items.items()
        },
    )


def _check_shape(query: exp.Select, where: str) -> None:
    """Clauses that are not known here could say which rows are read, so they are refused, not skipped."""
    for node in query.walk():
        for refused, told in _REFUSED.items():
            if isinstance(node, refused) and node is not query:
                raise UnsupportedError(f"{where}: {told} is not followed: make it a task of its own")
        for kind, followed in _FOLLOWED.items():
            extra = [name for name, given in node.args.items() if given and name not in followed]
            if isinstance(node, kind) and extra:
                clause = f"{kind.__name__.upper()} … {extra[0].strip('_').upper()}"
                raise UnsupportedError(f"{where}: {clause} is not followed: {_SHAPE}")


def _read_items(query: exp.Select, where: str) -> dict[str, exp.Expr]:
    """The columns of the result by name."""
    items: dict[str, exp.Expr] = {}
    for number, item in enumerate(query.expressions):
        if item.find(exp.Star) is not None and not isinstance(item.unalias(), exp.Count):
            raise UnsupportedError(f"{where}: SELECT * does not name its columns: write them out")
        named = item.args.get("alias") if isinstance(item, exp.Alias) else None
        name = _name_of(named) if named is not None else _plain_column(item) or f"column_{number + 1}"
        if name in items:
            raise ParameterError(
                f"{where}: two columns of the result are called {name!r}: write expression AS name"
            )
        items[name] = item.unalias()
    return items


def _at_place(part: exp.Expr, items: dict[str, exp.Expr], where: str) -> exp.Expr | None:
    """GROUP BY 2 is by the second column of the result."""
    if not isinstance(part, exp.Literal) or part.is_string:
        return None
    places = [str(number) for number in range(1, len(items) + 1)]
    if part.this not in places:
        raise ParameterError(f"{where}: the result has no column {part.this}: it has {len(items)}")
    return list(items.values())[places.index(part.this)]


def _plain_column(part: exp.Expr) -> str | None:
    return _name_of(part.this) if isinstance(part, exp.Column) else None


def _name_of(identifier: exp.Expr) -> str:
    """As databases take it: what is not quoted is the same in capitals."""
    quoted = isinstance(identifier, exp.Identifier) and identifier.args.get("quoted")
    return identifier.name if quoted else identifier.name.lower()


def _flows(
    read: list[tuple[str, str | None]],
    conditions: list[tuple[exp.Expr, list[tuple[str, str | None]], frozenset[str]]],
    tables: dict[str, str],
) -> tuple[Flow, ...]:
    """``read`` and columns of conditions are given by the alias of their table; flows by its name."""
    found: dict[Flow, None] = {}
    chosen = {
        alias: frozenset(part.sql() for part, _, over in conditions if alias in over) for alias in tables
    }
    for alias, column in read:
        found[(tables[alias], column, chosen[alias])] = None
    for part, columns, _ in conditions:
        for alias, column in columns:
            found[(tables[alias], column, chosen[alias] | {part.sql()})] = None
    for alias, filters in chosen.items():  # how often a row is in the result, where nothing else of it tells
        if not any(table == tables[alias] and under <= filters for table, _, under in found):
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
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise UnsupportedError(f"{where}: {_SHAPE}; {node.sql()} is no table")
        alias = _alias_of(node)
        if alias in tables:
            raise ParameterError(f"{where}: two tables are called {alias!r}: give one an alias")
        before = frozenset(tables)
        tables[alias] = f"{node.db}.{node.name}" if node.db else node.name
        join = node.parent
        if not isinstance(join, exp.Join):
            continue
        known = {"this", "on", "side", "kind"}.issuperset(name for name, given in join.args.items() if given)
        if not known or join.side not in ("", "LEFT") or join.kind not in _JOINS:
            raise UnsupportedError(
                f"{where}: {join.sql()} is not followed: write JOIN … ON or LEFT JOIN … ON"
            )
        own = frozenset({alias})
        for part in _conjuncts(join.args.get("on")):
            conditions.append((part, own if join.side == "LEFT" else before | own))
    return tables, conditions


def _alias_of(table: exp.Table) -> str:
    named = table.args.get("alias")
    return _name_of(named.this if named is not None and named.this is not None else table.this)


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
        name = _name_of(column.this)
        if column.table:
            alias = _name_of(column.args["table"])
            if alias not in tables:
                raise ParameterError(f"{where}: {column.sql()} is of no table of the query")
            found.append((alias, name))
        elif name in tables:
            raise UnsupportedError(f"{where}: {name} alone is a whole row: write its columns out")
        elif len(tables) == 1:
            found.append((next(iter(tables)), name))
        else:
            raise ParameterError(f"{where}: of which table is {column.sql()}? Write table.{name}")
    return found
