"""The leaves of an SQL expression: columns and literals; and brackets around anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.expressions.value import PLAIN, Rules, Value, boolean, null, number_literal

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions


def _column(read: Expressions, node: exp.Column) -> Value:
    return read.resolve(node)


def _literal(read: Expressions, node: exp.Literal) -> Value:
    if node.is_string:
        if "\0" in node.this:
            read.text.refuse("a text with a zero character", "leave it out")
        return Value(exp.Literal.string(node.this), "text", constant=str(node.this), longest=len(node.this))
    return number_literal(read.text.number(node), whole=str(node.this).isdigit())


def _boolean(read: Expressions, node: exp.Boolean) -> Value:
    return replace(boolean(exp.Boolean(this=bool(node.this))), constant=bool(node.this))


def _null(read: Expressions, node: exp.Null) -> Value:
    return null()


def _paren(read: Expressions, node: exp.Paren) -> Value:
    return read.value(node.this)


RULES: Rules = {
    exp.Column: (_column, ("this", "table", "db")),
    exp.Literal: (_literal, ("this", "is_string")),
    exp.Boolean: (_boolean, PLAIN),
    exp.Null: (_null, PLAIN),
    exp.Paren: (_paren, PLAIN),
}
