"""Checks of the public parameters that every mechanism takes: before any randomness, before any budget."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from sordino.core.errors import ParameterError

_LONGEST_NAME = 100
# A decimal of a few characters may have more digits as a fraction than a memory holds; a float has fewer than 1,100.
_MOST_PLACES = 1100
_HUGE_EXPONENT = re.compile(r"[eE][+-]?\d{4,}")


def number(name: str, value: Any) -> float:
    """A finite real number as a float."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise ParameterError(f"{name} must be a number (int, float, Fraction or Decimal), got {value!r}")
    try:
        result = float(value)
    except OverflowError:
        raise ParameterError(f"{name} must be below 1.8e308, got a larger number") from None
    except ValueError:  # a signaling NaN
        result = math.nan
    if not math.isfinite(result):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    return result


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False, got {value!r}")
    return value


def positive(name: str, value: Any) -> float:
    """A finite real number above zero."""
    result = number(name, value)
    if result <= 0:
        raise ParameterError(f"{name} must be > 0, got {value!r}")
    return result


def non_negative(name: str, value: Any) -> float:
    """A finite real number of at least zero."""
    result = number(name, value)
    if result < 0:
        raise ParameterError(f"{name} must be >= 0, got {value!r}")
    return result


def probability(name: str, value: Any, *, zero: bool = False) -> float:
    """A number in (0, 1), or in [0, 1) where zero is allowed."""
    result = number(name, value)
    if not (0 <= result < 1 if zero else 0 < result < 1):
        raise ParameterError(f"{name} must be in {'[' if zero else '('}0, 1), got {value!r}")
    return result


def whole(name: str, value: Any, *, least: int) -> int:
    """An integer of at least ``least``."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")
    result = int(value.__index__())
    if result < least:
        raise ParameterError(f"{name} must be >= {least}, got {value!r}")
    return result


def exact(name: str, value: Any) -> Fraction:
    """A finite number without rounding: integers, fractions and floats are taken at their exact value."""
    rounded = number(name, value)
    if isinstance(value, Decimal) and -int(value.as_tuple().exponent) > _MOST_PLACES:
        raise ParameterError(f"{name} must have at most {_MOST_PLACES} decimal places, got {str(value)[:40]}")
    if isinstance(value, Rational):  # numpy integers too, whose parts are numpy integers
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(value) if isinstance(value, Decimal) else Fraction(rounded)


def as_written(name: str, value: Any) -> Fraction:
    """A finite number at the decimal that a person wrote: 0.9 is nine tenths, not the double next to it."""
    if isinstance(value, Rational | Decimal):
        return exact(name, value)
    return Fraction(repr(number(name, value)))


def from_text(name: str, text: str) -> Fraction:
    """A number that somebody wrote: 0.5, 1e-6 or 1/3, of no more digits than people write."""
    try:
        if len(text) <= 60 and not _HUGE_EXPONENT.search(text):
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    raise ParameterError(f"{name} must be a number such as 0.5, 1e-6 or 1/3, got {text[:60]!r}")


def bounds(value: Any) -> tuple[float, float]:
    """A public range (lo, hi) with lo < hi."""
    if not hasattr(value, "__getitem__") or isinstance(value, str | bytes) or len(value) != 2:
        raise ParameterError(f"bounds must be a pair (lo, hi), got {value!r}")
    low, high = value
    low, high = number("lower bound", low), number("upper bound", high)
    if not low < high:
        raise ParameterError(f"bounds must have lo < hi, got ({low:g}, {high:g})")
    return low, high


def choice(name: str, value: Any, accepted: tuple[str, ...]) -> str:
    """One of a few names; a miss names the nearest."""
    if value in accepted:
        return str(value)
    hint = did_you_mean(value, accepted, before="; ")
    raise ParameterError(f"{name} must be one of {', '.join(accepted)}, got {value!r}{hint}")


def did_you_mean(name: Any, known: Iterable[str], *, before: str = "", otherwise: str = "") -> str:
    """The hint in an error about an unknown name: the nearest known one after ``before``, or ``otherwise``.

    Names too long for anybody to mistype are not compared: that takes longer than the square of their length.
    """
    short = (
        [other for other in known if len(other) <= _LONGEST_NAME] if len(str(name)) <= _LONGEST_NAME else []
    )
    near = difflib.get_close_matches(str(name), short, n=1)
    return f"{before}did you mean {near[0]!r}?" if near else otherwise
