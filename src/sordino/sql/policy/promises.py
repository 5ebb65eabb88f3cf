"""Promises: what the owner says that every database obeys, its neighbours too: enforced keys and checks of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sordino.sql.policy.places import field_error

if TYPE_CHECKING:
    from sordino.sql.policy.policy import TablePolicy

# Comparisons of columns of one row with one another and with literals, and nothing that has to be computed.
_ALLOWED = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Paren,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Is,
    exp.Null,
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Neg,
    exp.Boolean,
)


def read_check(path: str, text: str) -> exp.Expr:
    """A condition on the columns of one row, such as ``source <> target``."""
    try:
        tree: exp.Expr = sqlglot.parse_one(text)
    except SqlglotError:
        raise field_error(path, f" must be a condition such as 'source <> target', got {text!r}") from None
    for node in tree.walk():
        if not isinstance(node, _ALLOWED) or (isinstance(node, exp.Column) and node.table):
            raise field_error(
                path,
                f" must compare columns of the table and literals, without functions or table names, got {text!r}",
            )
    if isinstance(tree, exp.Column | exp.Literal | exp.Neg | exp.Null):
        raise field_error(path, f" must be a condition such as 'source <> target', got {text!r}")
    return tree


def find_check_columns(check: exp.Expr) -> list[str]:
    """The columns that a check names."""
    return [column.name for column in check.find_all(exp.Column)]


def describe_promises(tables: Mapping[str, TablePolicy]) -> str:
    """Between which databases neighbours are looked for; empty: between all."""
    told: list[str] = []
    for name in sorted(tables):
        table = tables[name]
        if table.private and table.key_enforced and table.key:
            told.append(f"{name} ({', '.join(table.key)})")
        if table.private:
            told += [f"{name} ({check})" for check in table.checks]
    return f"databases that obey the declared keys and checks: {', '.join(told)}" if told else ""


def find_promised_key(table: TablePolicy, columns: Iterable[str]) -> tuple[str, ...]:
    """The key that no two rows of any database share, as the catalogue writes it; none if it is only a note."""
    written = {name.casefold(): name for name in columns}
    return tuple(written[name.casefold()] for name in table.key) if table.key_enforced else ()


def find_promised_checks(table: TablePolicy, columns: Iterable[str], alias: str) -> tuple[exp.Expr, ...]:
    """The checks of the rows of an occurrence."""
    written = {name.casefold(): name for name in columns}
    found = []
    for text in table.checks:
        holder = exp.Paren(this=read_check(f"tables.{table.name}.check", text))
        for column in list(holder.find_all(exp.Column)):
            column.replace(exp.column(written[column.name.casefold()], table=alias, quoted=True))
        found.append(holder.this)
    return tuple(found)
