"""What an engine may be asked: one query that only reads, over tables of its catalogue."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlglot import exp

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import did_you_mean

# Parts that write or lock although they stand inside a SELECT: SELECT INTO, FOR UPDATE, writing CTEs.
_WRITES = (exp.Into, exp.Lock, exp.DML, exp.DDL, exp.Command, exp.Drop, exp.Alter, exp.Set, exp.Merge)
_QUERIES = (exp.Select, exp.SetOperation)
# Functions that may stand in FROM. All others (read_csv, dblink, glob, ...) could reach beyond the catalogue.
_ROW_SOURCES = (exp.Unnest, exp.GenerateSeries, exp.Explode)


def render(expression: exp.Expr, *, dialect: str, tables: Iterable[str]) -> str:
    """The text of a read-only query in ``dialect``; refuses whatever else a tree can say.

    ``tables`` are the names of the catalogue. A name that is in neither the catalogue nor a WITH clause is refused
    here, because some engines would look for it elsewhere: a file of that name, a variable of the calling program.
    """
    if not isinstance(expression, exp.Expr):
        raise ParameterError(
            f"a query must be a sqlglot expression, got {type(expression).__name__}: "
            "sqlglot.parse_one(text) makes one"
        )
    query = expression.unnest() if isinstance(expression, exp.Subquery) else expression
    if not isinstance(query, _QUERIES):
        raise UnsupportedError(
            f"{_kind(query)} is refused: an engine is asked SELECT, WITH and UNION queries"
        )
    known = {name.casefold() for name in tables}
    # From the outermost brackets on: a WITH may stand before them.
    for node, defined in _walk(expression):
        # Select and Union are DDL and DML nowhere, but sqlglot lets INSERT, CREATE ... stand in a WITH.
        if isinstance(node, _WRITES) and not isinstance(node, exp.Query):
            raise UnsupportedError(f"{_kind(node)} inside a query is refused: snapshots only read")
        if isinstance(node, exp.Table) and not _is_defined(node, defined):
            _check_table(node, known, tables)
    return expression.sql(dialect=dialect)


def double_literal(value: float) -> exp.Expr:
    """A number that every engine reads as exactly this double.

    A bare ``0.1`` is a decimal to some engines, and what a decimal becomes beside a DOUBLE column is theirs to choose;
    converting the shortest text of a double is correctly rounded in all of them.
    """
    if math.isnan(value):
        raise ParameterError("NaN is no literal: it is unequal to itself in some engines and equal in others")
    text = repr(float(value)) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    return exp.cast(exp.Literal.string(text), exp.DataType.Type.DOUBLE)


def tables_read(query: exp.Expr) -> list[exp.Table]:
    """The nodes of a query that name tables of the database; names of WITH clauses, where in scope, are left out."""
    return [
        node
        for node, defined in _walk(query)
        if isinstance(node, exp.Table) and not _is_defined(node, defined)
    ]


def read_through(query: exp.Expr, columns: Mapping[str, Sequence[exp.Expr]]) -> exp.Expr:
    """The query with some tables replaced by SELECTs of these expressions over them; names in lower case."""
    changed = query.copy()
    for place in tables_read(changed):
        found = columns.get(table_name(place).casefold())
        if found is not None:
            source = exp.Table(this=place.this.copy(), db=place.args.get("db"))
            name = exp.to_identifier(place.alias_or_name, quoted=True)
            place.replace(exp.select(*found).from_(source).subquery(name))
    return changed


def table_name(table: exp.Table) -> str:
    """The name as the catalogue writes it: bare, or ``schema.table``."""
    return f"{table.db}.{table.name}" if table.db else table.name


def _walk(query: exp.Expr) -> Iterator[tuple[exp.Expr, frozenset[str]]]:
    """Every node, with the names that WITH clauses define there."""
    waiting: list[tuple[exp.Expr, frozenset[str]]] = [(query, frozenset())]
    while waiting:
        node, defined = waiting.pop()
        yield node, defined
        clause = node.args.get("with_")
        if clause is not None:
            names = frozenset(cte.alias for cte in clause.expressions)
            before = defined | names if clause.args.get("recursive") else defined
            for cte in clause.expressions:
                waiting.append((cte, before))
                before |= {cte.alias}
            defined |= names
        for value in node.args.values():
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, exp.Expr) and child is not clause:
                    waiting.append((child, defined))


def _is_defined(table: exp.Table, defined: frozenset[str]) -> bool:
    return not table.args.get("db") and table.name in defined


def _check_table(table: exp.Table, known: set[str], tables: Iterable[str]) -> None:
    source = table.this
    if isinstance(source, _ROW_SOURCES):
        return
    if not isinstance(source, exp.Identifier) or table.catalog:
        raise UnsupportedError(f"{table.sql()} in FROM is refused: only tables of the catalogue are read")
    name = table_name(table)
    if name.casefold() not in known:
        names = sorted(tables)
        hint = did_you_mean(name, names, otherwise=f"it has {', '.join(names) or 'no tables'}")
        raise ParameterError(f"there is no table {name!r} in the catalogue: {hint}")


def _kind(expression: object) -> str:
    return type(expression).__name__.upper()
