"""Exact decimals: literals, decimal columns of known digits, and sums, differences and products of them.

A literal such as 0.09 is the decimal that was written, not the double next to it, and what is calculated from literals
alone is calculated here, in fractions. Decimals are compared and calculated with in the engine's own decimals as long
as the digits of the result are known to fit; then every engine gives the same, and nothing is rounded or raised. All
else is done in doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

from sordino.sql.expressions.value import Value, bracket

# Engines compare decimals of different scales in a type that holds both, up to so many digits.
_MOST_COMPARED = 38
# DuckDB keeps sums and products of short decimals in 64 bits and raises where they do not fit.
_MOST_CALCULATED = 18
# Spark turns the sign of a decimal, in -x and in ABS, within so many digits: it rounds longer ones, and may raise.
_MOST_TURNED = 34


class Digits(NamedTuple):
    """How many digits a decimal has before the point, and how many behind it, at most."""

    before: int
    behind: int

    @property
    def all(self) -> int:
        """Together."""
        return self.before + self.behind


def find_digits(value: Value) -> Digits | None:
    """Of a decimal column of known digits, of a literal, or of what was calculated from them; None for the rest."""
    if value.constant is not None:
        return count_digits(value.constant)
    if value.kind == "decimal" and value.digits is not None and value.scale is not None:
        return Digits(value.digits - value.scale, value.scale)
    return None


def are_comparable(digits: Sequence[Digits | None]) -> bool:
    """Whether decimals of these digits can be compared with one another, each with each; None: of unknown digits."""
    known = [found for found in digits if found is not None]
    return len(known) == len(digits) and (not known or _covering(known).all <= _MOST_COMPARED)


def make_comparable(*values: Value) -> list[Value] | None:
    """The values as decimals that can be compared with each other; None unless one is a decimal and all can."""
    if not any(value.kind == "decimal" for value in values):
        return None
    found = [Digits(0, 0) if value.kind == "null" else find_digits(value) for value in values]
    if not are_comparable(found):
        return None
    known = [digits for digits in found if digits is not None]
    # Beside decimals without a digit before the point a zero may not have one either.
    zero = ".0" if _covering(known).before == 0 else "0."
    return [_as_decimal(value, digits, zero) for value, digits in zip(values, known, strict=True)]


def cover_digits(values: list[Value]) -> tuple[int | None, int | None]:
    """Digits and scale of what may be any of these decimals."""
    found = [find_digits(value) for value in values if value.kind != "null"]
    known = [digits for digits in found if digits is not None]
    if len(known) < len(found):
        return None, None
    covering = _covering(known)
    return covering.all, covering.behind


def calculate(operator: type[exp.Binary], left: Value, right: Value) -> Value | None:
    """left + right, left - right or left * right in exact decimals; None if the digits might not fit."""
    mine, theirs = find_digits(left), find_digits(right)
    if "decimal" not in (left.kind, right.kind) or mine is None or theirs is None:
        return None
    if operator in (exp.Add, exp.Sub):
        both = _covering([mine, theirs])
        digits = Digits(both.before + 1, both.behind)
    elif operator is exp.Mul:
        digits = Digits(mine.before + theirs.before, mine.behind + theirs.behind)
    else:
        return None
    if digits.all > _MOST_CALCULATED:
        return None
    a, b = _as_decimal(left, mine), _as_decimal(right, theirs)
    result = operator(this=bracket(a.expression), expression=bracket(b.expression))
    return Value(result, "decimal", digits=digits.all, scale=digits.behind)


def turns_exactly(value: Value) -> bool:
    """Whether -value and ABS(value) are exact in the engine's decimals."""
    digits = find_digits(value)
    return value.kind == "decimal" and digits is not None and digits.all <= _MOST_TURNED


def fold_literals(operator: type[exp.Binary], left: Value, right: Value) -> Fraction | None:
    """What two literals give, exactly; None if one is no literal. The divisor is not zero."""
    a, b = _number(left.constant), _number(right.constant)
    if a is None or b is None:
        return None
    if operator is exp.Add:
        return a + b
    if operator is exp.Sub:
        return a - b
    return a * b if operator is exp.Mul else a / b


def _as_decimal(value: Value, digits: Digits, zero: str = "0.") -> Value:
    number = _number(value.constant)
    if number is None:
        return value
    return replace(
        value,
        expression=_literal(number) if number else exp.Literal.number(zero),
        kind="decimal",
        digits=max(digits.all, 1),
        scale=digits.behind,
    )


def _literal(number: Fraction) -> exp.Expr:
    """With its sign apart: sqlglot takes that off a number in 28 digits, and writes small ones with an exponent."""
    digits = exp.Literal.number(_written(abs(number)))
    return exp.Neg(this=digits) if number < 0 else digits


def _covering(found: list[Digits]) -> Digits:
    return Digits(max(d.before for d in found), max(d.behind for d in found))


def _number(constant: object) -> Fraction | None:
    if isinstance(constant, bool) or not isinstance(constant, int | Fraction):
        return None
    return Fraction(constant)


def count_digits(constant: object) -> Digits | None:
    """Of a number that is written as a literal; None for what is no number, or too long for any engine."""
    number = _number(constant)
    if number is None or abs(number) >= 10**_MOST_COMPARED:
        return None
    scaled = number * 10**_MOST_COMPARED
    if scaled.denominator != 1:
        return None
    before, _, behind = _written(abs(number)).partition(".")
    return Digits(len(before.lstrip("0")), len(behind))


def _written(number: Fraction) -> str:
    """As a decimal of its own digits on every engine.

    An exponent would make it a double; without a point it would be an integer, to which Spark gives ten digits; and
    DuckDB counts a zero before the point.
    """
    before, behind = divmod(number.numerator * 10**_MOST_COMPARED // number.denominator, 10**_MOST_COMPARED)
    digits = f"{before}.{behind:0{_MOST_COMPARED}d}".rstrip("0")
    return digits.removeprefix("0") if before == 0 and behind else digits
