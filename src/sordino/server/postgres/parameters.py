"""Parameters: ``$1`` in a statement, and the statement with its values in their places.

What reads a statement afterwards must see every value as one literal, whatever the value is. So the places are found
by the very tokens that the reader's dialect has, and texts are written with that dialect's escapes: in Spark a
backslash escapes the quote after it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from sqlglot import Dialect, TokenType, exp

from sordino.server.postgres.frames import FrameError
from sordino.server.postgres.sqlstate import state_error
from sordino.server.settings import LONGEST_STATEMENT

DialectName = str | type[Dialect]
_PARAMETER = re.compile(r"(?<![\w$])\$(\d{1,5})(?![\w$])")
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


@dataclass(frozen=True, slots=True)
class FilledStatement:
    """A statement with its values, and where its parts come from: places in it with those in the statement before."""

    sql: str
    places: tuple[tuple[int, int], ...] = ((0, 0),)

    def origin(self, place: int) -> int:
        """The character of the statement as it was sent, for one of this text; both count from zero."""
        number = bisect_right([here for here, _ in self.places], place) - 1
        here, there = self.places[number]
        if number % 2:  # within a value: where its parameter stands
            return there
        return there + place - here


def count_parameters(sql: str, dialect: DialectName) -> int:
    """The largest n of ``$n``."""
    return max((number for _, _, number in _places(sql, dialect)), default=0)


def fill_parameters(sql: str, literals: Sequence[str], dialect: DialectName) -> FilledStatement:
    """The text with every ``$n`` in place of its literal, which stands by itself."""
    parts: list[str] = []
    origins, last, length = [(0, 0)], 0, 0
    for start, end, number in _places(sql, dialect):
        if not 1 <= number <= len(literals):
            raise FrameError(f"there is no value for ${number}")
        value = f" {literals[number - 1]} "
        length += start - last
        origins.append((length, start))
        length += len(value)
        origins.append((length, end))
        if length > LONGEST_STATEMENT:
            raise state_error(
                "54000", f"with its values the statement is too long: {LONGEST_STATEMENT} characters are read"
            )
        parts += [sql[last:start], value]
        last = end
    return FilledStatement("".join([*parts, sql[last:]]), tuple(origins))


def write_parameter(value: Any, dialect: DialectName) -> str:
    """A parameter as SQL: one literal, or a negative number in brackets, since ``1 -`` and ``-1`` make a comment."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float | Decimal):
        finite = math.isfinite(value) if isinstance(value, float) else Decimal(value).is_finite()
        if not finite:
            raise FrameError("a parameter is not a finite number")
        text = repr(value) if isinstance(value, float) else str(value)
        return f"({text})" if text.startswith("-") else text
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, time):
        raise FrameError("parameters of type time are not supported")
    text = str(value)
    if "\0" in text:
        raise FrameError("a parameter holds a zero character")
    return exp.Literal.string(text).sql(dialect=dialect)


def _places(sql: str, dialect: DialectName) -> list[tuple[int, int, int]]:
    """Where parameters stand: at the beginning of a token, so never inside of quotes and comments."""
    if len(sql) > LONGEST_STATEMENT or "$" not in sql:
        return []
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    except Exception:  # the tokenizer is not ours; whoever reads the statement says what is wrong with it
        return []
    starts = {token.start for token in tokens if token.token_type not in _QUOTED}
    return [
        (found.start(), found.end(), int(found[1]))
        for found in _PARAMETER.finditer(sql)
        if found.start() in starts
    ]
