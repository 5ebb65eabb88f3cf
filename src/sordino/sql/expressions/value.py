"""Value: a scalar expression that was understood: its type, what it may be, and the lattice of its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from math import gcd
from typing import Literal

from sqlglot import exp

from sordino.engines import ColumnType, write_double

Kind = ColumnType | Literal["null"]
NUMBERS = ("integer", "decimal", "float")
# First and last day.
Period = tuple[date, date]
# Integers of every engine, unsigned ones of 128 bits included.
_INTEGER_WINDOW = (1.0, 3.5e38)
# The parts of a node that most rules read: a node with any other part is refused.
PLAIN = ("this", "expression")


@dataclass(frozen=True, slots=True)
class Range:
    """A public interval, None for an open end, and a step that all values are multiples of (0: any step fits).

    ``missing``: the policy fields that would close the interval or give the step.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """``window``: a number that is zero or has a magnitude within (tiny, big), so that arithmetic cannot over- or
    underflow.

    None: a double that may be anything, NaN included. ``constant``: the value of a literal. ``column``: (alias,
    column) when the expression is nothing but that column. ``digits``: how many a decimal may have, None for any;
    ``scale``: how many of them behind the point. ``longest``: how many characters a text may have, None for any.
    ``values``: all that it can be, NULL included if it can, where the expression itself says so. ``period``: the days
    that a date or timestamp lies between, if they are public; of a truncated one, those of what was truncated.
    """

    expression: exp.Expr
    kind: Kind
    window: tuple[float, float] | None = None
    range: Range = Range()
    constant: str | int | Fraction | bool | date | datetime | None = None
    column: tuple[str, str] | None = None
    digits: int | None = None
    scale: int | None = None
    longest: int | None = None
    values: tuple[str | int | bool | date | None, ...] | None = None
    period: Period | None = None

    @property
    def is_number(self) -> bool:
        """Whether it can be calculated with."""
        return self.kind in NUMBERS or self.kind == "null"


# How the nodes of a kind are translated, and which of their parts that takes into account.
Rules = dict[type, tuple[Callable[..., Value], tuple[str, ...]]]


def number_literal(value: Fraction, *, whole: bool) -> Value:
    """An integer literal, or the nearest double to a decimal."""
    known = Range(value, value, abs(value))
    if whole and -(2**63) < value < 2**63:
        return Value(exp.Literal.number(int(value)), "integer", _INTEGER_WINDOW, known, int(value))
    size = abs(float(value)) or 1.0
    return Value(write_double(float(value)), "float", (size, size), known, value)


def integer(expression: exp.Expr) -> Value:
    """A whole number in the engine's own integer type."""
    return Value(expression, "integer", _INTEGER_WINDOW, Range(step=Fraction(1)))


def boolean(expression: exp.Expr) -> Value:
    """A truth value."""
    return Value(expression, "boolean")


def null() -> Value:
    """NULL."""
    return Value(exp.null(), "null", _INTEGER_WINDOW, Range(Fraction(0), Fraction(0), Fraction(0)))


def bracket(expression: exp.Expr) -> exp.Expr:
    """The expression in brackets unless it binds tighter than every operator; always a copy."""
    tight = (exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Cast, exp.Paren, exp.Case, exp.Func)
    if isinstance(expression, tight) and not isinstance(expression, exp.Binary | exp.Connector):
        copy = expression.copy()
        # A negative literal next to a minus would begin a comment.
        negative = isinstance(copy, exp.Literal) and not copy.is_string and str(copy.this).startswith("-")
        return exp.Paren(this=copy) if negative else copy
    return exp.Paren(this=expression.copy())


def as_double(value: Value) -> Value:
    """The number as a double.

    A decimal of any digits may be larger than any double, or too small for one, and engines raise when converting it:
    beyond 10³⁸, where the engines with bounded decimals end, it is NULL, as NaN is, and within 10⁻³⁹ of zero it is
    zero. The bounds are bare literals, so that they are compared as decimals.
    """
    if value.kind == "float":
        return value
    if value.kind == "integer" and isinstance(value.constant, int):
        return replace(number_literal(Fraction(value.constant), whole=False), window=_window(value))
    double = exp.cast(value.expression.copy(), exp.DataType.Type.DOUBLE)
    if value.kind != "decimal":
        return replace(value, expression=double, kind="float", constant=None, column=None)
    guarded = case(
        (within(value.expression, "1e-39"), write_double(0.0)), (within(value.expression, "1e38"), double)
    )
    return Value(double if value.digits else guarded, "float", (1e-39, 1e38), value.range)


def make_calculable(value: Value) -> Value:
    """A double of a known window: beyond 10⁷⁰, NaN and infinity are NULL in arithmetic, and below 10⁻⁷⁰ is zero."""
    double = as_double(value)
    if double.window is not None:
        return double
    inner = double.expression
    small, large = write_double(1e-70), write_double(1e70)
    guarded = case(
        (exp.and_(exp.GT(this=bracket(inner), expression=write_double(-1e-70)),
                  exp.LT(this=bracket(inner), expression=small)), write_double(0.0)),
        (exp.and_(exp.GTE(this=bracket(inner), expression=write_double(-1e70)),
                  exp.LTE(this=bracket(inner), expression=large)), inner.copy()),
    )  # fmt: skip
    return replace(double, expression=guarded, window=(1e-70, 1e70), column=None)


def within(expression: exp.Expr, limit: str) -> exp.Expr:
    """-limit < expression < limit, with the limit as a bare literal."""
    return exp.and_(
        exp.GT(this=bracket(expression), expression=exp.Literal.number(f"-{limit}")),
        exp.LT(this=bracket(expression), expression=exp.Literal.number(limit)),
    )


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Case:
    """CASE WHEN … THEN … END."""
    return exp.Case(
        ifs=[exp.If(this=when.copy(), true=then.copy()) for when, then in branches],
        default=None if default is None else default.copy(),
    )


def find_common_step(*steps: Fraction | None) -> Fraction | None:
    """The largest number of which all are whole multiples; None if one is unknown."""
    result = Fraction(0)
    for step in steps:
        if step is None:
            return None
        result = Fraction(
            gcd(result.numerator * step.denominator, step.numerator * result.denominator),
            result.denominator * step.denominator,
        )
    return result


def _window(value: Value) -> tuple[float, float]:
    size = abs(float(value.constant)) if isinstance(value.constant, int) else 1.0
    return (size, size) if size else (1.0, 1.0)


__all__ = [
    "NUMBERS",
    "PLAIN",
    "Kind",
    "Period",
    "Range",
    "Rules",
    "Value",
    "as_double",
    "boolean",
    "bracket",
    "case",
    "find_common_step",
    "integer",
    "make_calculable",
    "null",
    "number_literal",
    "within",
]
