"""The leaves of an SQL expression: columns and literals; and brackets around anything."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
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
    written = str(node.this)
    try:
        exact = Fraction(written) if len(written) <= 400 and _exponent(written) <= 400 else None
    except ValueError:
        exact = None
    if exact is None or not is_within_reach(exact, 100):
        read.text.refuse(node, "numbers must be zero or between 1e-100 and 1e100 in magnitude")
    return number_literal(exact, whole=written.isdigit())


def is_within_reach(number: Fraction, exponent: int) -> bool:
    """Whether it is zero or has a magnitude within 10^±exponent."""
    return number == 0 or Fraction(1, 10**exponent) <= abs(number) <= Fraction(10) ** exponent


def _boolean(read: Expressions, node: exp.Boolean) -> Value:
    return replace(boolean(exp.Boolean(this=bool(node.this))), constant=bool(node.this))


def _null(read: Expressions, node: exp.Null) -> Value:
    return null()


def _paren(read: Expressions, node: exp.Paren) -> Value:
    return read.value(node.this)


def _exponent(written: str) -> int:
    _, _, exponent = written.lower().partition("e")
    digits = exponent.lstrip("+-")
    return int(digits) if digits.isdigit() and len(digits) < 6 else 0 if not exponent else 10**6


RULES: Rules = {
    exp.Column: (_column, ("this", "table", "db")),
    exp.Literal: (_literal, ("this", "is_string")),
    exp.Boolean: (_boolean, PLAIN),
    exp.Null: (_null, PLAIN),
    exp.Paren: (_paren, PLAIN),
}
