"""What an engine may be asked: one query that only reads, over tables of its catalogue."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError as Untranslatable

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import did_you_mean

# Parts that write or lock although they stand inside a SELECT: SELECT INTO, FOR UPDATE, writing CTEs.
_WRITES = (exp.Into, exp.Lock, exp.DML, exp.DDL, exp.Command, exp.Drop, exp.Alter, exp.Set, exp.Merge)
_QUERIES = (exp.Select, exp.SetOperation)
# Functions that may stand in FROM. All others (read_csv, dblink, glob, ...) could reach beyond the catalogue.
_ROW_SOURCES = (exp.Unnest, exp.GenerateSeries, exp.Explode)
# Texts have one form here, which each engine writes so that none of its settings changes it.
_OTHER_TEXTS = (
    exp.National,
    exp.RawString,
    exp.UnicodeString,
    exp.ByteString,
    exp.BitString,
    exp.HexString,
    exp.Heredoc,
)
# What may be said of a table. A sample, a version or ONLY would read other rows than the analysis does.
_OF_A_TABLE = ("this", "db", "alias", "joins")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_query(expression: exp.Expr, tables: Iterable[str]) -> None:
    """Raise unless the tree is a read-only query; refuses whatever else a tree can say.

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
    known = list(tables)
    # From the outermost brackets on: a WITH may stand before them.
    for node, defined in _walk(expression):
        # Select and Union are DDL and DML nowhere, but sqlglot lets INSERT, CREATE ... stand in a WITH.
        if isinstance(node, _WRITES) and not isinstance(node, exp.Query):
            raise UnsupportedError(f"{_kind(node)} inside a query is refused: snapshots only read")
        if isinstance(node, exp.Table) and not _is_defined(node, defined):
            _check_table(node, known)
        _check_text(node)


def write(query: exp.Expr, dialect: str) -> str:
    """The text of a checked query; what the dialect cannot say is refused, comments and bare odd names are not sent."""
    for name in query.find_all(exp.Identifier):
        if not name.quoted and not _WORD.fullmatch(name.name):
            name.set("quoted", True)
    try:
        text = query.sql(dialect=dialect, comments=False, unsupported_level=ErrorLevel.RAISE)
    except Untranslatable as error:
        raise UnsupportedError(f"{dialect} cannot say this: {error}") from None
    if "\0" in text:
        raise UnsupportedError("a zero character in a text or a name is refused: leave it out")
    return text


def write_double(value: float) -> exp.Expr:
    """A number that every engine reads as exactly this double.

    A bare ``0.1`` is a decimal to some engines, and what a decimal becomes beside a DOUBLE column is theirs to choose;
    converting the shortest text of a double is correctly rounded in all of them.
    """
    if math.isnan(value):
        raise ParameterError("NaN is no literal: it is unequal to itself in some engines and equal in others")
    text = repr(float(value)) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    return exp.cast(exp.Literal.string(text), exp.DataType.Type.DOUBLE)


def find_tables_read(query: exp.Expr) -> list[exp.Table]:
    """The nodes of a query that name tables of the database; names of WITH clauses, where in scope, are left out."""
    return [
        node
        for node, defined in _walk(query)
        if isinstance(node, exp.Table) and not _is_defined(node, defined)
    ]


def name_table(table: exp.Table) -> str:
    """The name as the catalogue writes it: bare, or ``schema.table``."""
    return f"{table.db}.{table.name}" if table.db else table.name


def find_name(name: str, names: Iterable[str]) -> str:
    """The one of the names that is meant: the same, or the only one that differs in case alone."""
    known = list(names)
    if name in known:
        return name
    alike = [other for other in known if other.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise ParameterError(
            f"table {name!r} may be {' or '.join(map(repr, sorted(alike)))}: write it as it is"
        )
    hint = did_you_mean(name, sorted(known), otherwise=f"it has {', '.join(sorted(known)) or 'no tables'}")
    raise ParameterError(f"there is no table {name!r} in the catalogue: {hint}")


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


def _check_table(table: exp.Table, known: list[str]) -> None:
    source = table.this
    if isinstance(source, _ROW_SOURCES):
        return
    if not isinstance(source, exp.Identifier) or table.catalog:
        raise UnsupportedError(f"{table.sql()} in FROM is refused: only tables of the catalogue are read")
    for part, value in table.args.items():
        if value and part not in _OF_A_TABLE:
            raise UnsupportedError(f"{table.sql()} in FROM is refused: a table is read whole, without {part}")
    find_name(name_table(table), known)


def _check_text(node: exp.Expr) -> None:
    """Refuse what would reach an engine as somebody's own text."""
    if isinstance(node, _OTHER_TEXTS):
        raise UnsupportedError(f"{_kind(node)} is refused: a text is written '...'")
    if isinstance(node, exp.Var | exp.Anonymous) and not _WORD.fullmatch(node.name):
        raise UnsupportedError(f"{_kind(node)} {node.name!r} is refused: it must be one plain word")
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.USERDEFINED:
        raise UnsupportedError("a type of the database's own is refused: cast to a built-in type")


def _kind(expression: object) -> str:
    return type(expression).__name__.upper()
