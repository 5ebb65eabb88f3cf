"""Exact numbers as a person reads them: a short decimal, rounded to the safe side where it would be long."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_DIGITS = 12


def write_rounded_up(number: Fraction) -> str:
    """For losses: exact if twelve digits say it, else the next larger decimal of twelve digits."""
    return _text(number, ROUND_CEILING)


def write_rounded_down(number: Fraction) -> str:
    """For what is left: exact if twelve digits say it, else the next smaller decimal of twelve digits."""
    return _text(number, ROUND_FLOOR)


def _text(number: Fraction, rounding: str) -> str:
    context = Context(prec=_DIGITS, rounding=rounding)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(context)
    plain = Decimal("1e-6") <= abs(quotient) < Decimal("1e15") or quotient == 0
    return f"{quotient:f}" if plain else f"{quotient:e}"
