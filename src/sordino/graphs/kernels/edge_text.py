"""Lines of two integers or two names to columns, one byte at a time, with the line on which it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.compiled import compiled

FINE, NOT_AN_INTEGER, NEGATIVE, TOO_LARGE, FIELDS, UNKNOWN, EMPTY, RAGGED, ATTRIBUTES = range(9)

_NEWLINE, _MINUS, _ZERO, _NINE, _COMMA, _SEMICOLON, _HASH, _PERCENT = (ord(c) for c in "\n-09,;#%")
_TAB, _RETURN, _SPACE = (ord(c) for c in "\t\r ")
_OPEN, _CLOSE, _POINT, _PLUS, _EXPONENT, _CAPITAL = (ord(c) for c in "{}.+eE")
_TENTH = (2**63 - 1) // 10

Bytes = NDArray[np.uint8]


@compiled
def count_lines(text: Bytes) -> int:
    """The number of lines, an upper bound on the number of edges."""
    lines = 1
    for place in range(len(text)):
        if text[place] == _NEWLINE:
            lines += 1
    return lines


@compiled
def _skip_blanks(text: Bytes, place: int) -> int:
    while place < len(text) and _is_blank(text[place]):
        place += 1
    return place


@compiled
def _is_blank(byte: int) -> bool:
    return byte in (_SPACE, _TAB, _RETURN)


@compiled
def _integer(text: Bytes, place: int) -> tuple[Any, int, int]:
    value = np.int64(0)
    negative = text[place] == _MINUS
    if negative:
        place += 1
    begin = place
    while place < len(text) and _ZERO <= text[place] <= _NINE:
        digit = np.int64(text[place]) - _ZERO
        if value > _TENTH or (value == _TENTH and digit > 6):
            return value, place, TOO_LARGE
        value = value * 10 + digit
        place += 1
    if place == begin:
        return value, place, NOT_AN_INTEGER
    if place < len(text):
        after = text[place]
        if not (_is_blank(after) or after in (_NEWLINE, _COMMA, _SEMICOLON)):
            return value, place, NOT_AN_INTEGER
    return value, place, NEGATIVE if negative else FINE


@compiled
def _is_digit(byte: int) -> bool:
    return _ZERO <= byte <= _NINE


@compiled
def _after_number(text: Bytes, place: int, end: int) -> int:
    """The place after a decimal number, or −1 where none begins here."""
    if place < end and (text[place] == _MINUS or text[place] == _PLUS):
        place += 1
    digits = 0
    while place < end and _is_digit(text[place]):
        place += 1
        digits += 1
    if place < end and text[place] == _POINT:
        place += 1
        while place < end and _is_digit(text[place]):
            place += 1
            digits += 1
    if digits == 0:
        return -1
    if place < end and (text[place] == _EXPONENT or text[place] == _CAPITAL):
        place += 1
        if place < end and (text[place] == _MINUS or text[place] == _PLUS):
            place += 1
        if place >= end or not _is_digit(text[place]):
            return -1
        while place < end and _is_digit(text[place]):
            place += 1
    return place


@compiled
def _count_attributes(text: Bytes, place: int, end: int) -> int:
    """How many attributes follow the two ids of an edge, from ``place`` on; −1 where something else does.

    Numbers between blanks, commas or semicolons, or one pair of braces with anything in it, as networkx writes them.
    The line has no blanks at its ``end``.
    """
    count = 0
    while True:
        place = _skip_blanks(text, place)
        if place >= end:
            return count
        if text[place] == _COMMA or text[place] == _SEMICOLON:
            place = _skip_blanks(text, place + 1)
            if place >= end:
                return -1
        if text[place] == _OPEN:
            return 1 if count == 0 and text[end - 1] == _CLOSE else -1
        place = _after_number(text, place, end)
        if place < 0:
            return -1
        if place < end and not (_is_blank(text[place]) or text[place] == _COMMA or text[place] == _SEMICOLON):
            return -1
        count += 1


def check_attributes(text: Bytes, expected: int) -> tuple[int, int]:
    """Of the rest of a line: the number of attributes, and a problem unless it is ``expected`` (−1: any)."""
    count, problem = _check_attributes(text, 0, len(text), expected)
    return int(count), int(problem)


@compiled
def _check_attributes(text: Bytes, place: int, end: int, expected: int) -> tuple[int, int]:
    """As `check_attributes`, from ``place`` on."""
    if expected == 0 and place < end:
        return 0, RAGGED
    count = _count_attributes(text, place, end)
    if count < 0:
        return 0, ATTRIBUTES
    return count, FINE if count == expected or expected < 0 else RAGGED


@compiled
def parse_pairs(
    text: Bytes, limit: int, sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Fill the columns; return the number of edges, the problem (FINE if none) and its line, counted from 1.

    Ids are below ``limit``. Fields stand between blanks, or one comma or semicolon; blank lines and lines that begin
    with # or % are skipped. What follows two ids must be attributes, as many on every line, and is left out.
    """
    edges = 0
    attributes = -1
    line = 0
    place = 0
    size = len(text)
    while place < size:
        line += 1
        place = _skip_blanks(text, place)
        if place >= size:
            break
        if text[place] == _NEWLINE:
            place += 1
            continue
        if text[place] == _HASH or text[place] == _PERCENT:
            while place < size and text[place] != _NEWLINE:
                place += 1
            place += 1
            continue
        source, place, problem = _integer(text, place)
        if problem != FINE:
            return edges, problem, line
        place = _skip_blanks(text, place)
        if place < size and (text[place] == _COMMA or text[place] == _SEMICOLON):
            place = _skip_blanks(text, place + 1)
        if place >= size or text[place] == _NEWLINE:
            return edges, FIELDS, line
        target, place, problem = _integer(text, place)
        if problem != FINE:
            return edges, problem, line
        place = _skip_blanks(text, place)
        end = place
        if place < size and text[place] != _NEWLINE:
            while end < size and text[end] != _NEWLINE:
                end += 1
        after = end
        while after > place and _is_blank(text[after - 1]):
            after -= 1
        if after > place or attributes != 0:
            attributes, problem = _check_attributes(text, place, after, attributes)
            if problem != FINE:
                return edges, problem, line
        place = end + 1
        if source >= limit or target >= limit:
            return edges, UNKNOWN, line
        sources[edges] = source
        targets[edges] = target
        edges += 1
    return edges, FINE, line


@compiled
def split_pairs(
    text: Bytes, separator: int, names: Bytes, offsets: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Copy names to ``names``, source and target in turn, and their ends to ``offsets`` from place 1 on.

    Returns the number of edges, the problem and its line as `parse_pairs` does. ``separator`` is a byte, or 0 for
    blanks. Blanks around a name are left out, and there are no quotes. Attributes are left out as there.
    """
    edges = 0
    attributes = -1
    line = 0
    place = 0
    size = len(text)
    written = 0
    while place < size:
        line += 1
        end = place
        while end < size and text[end] != _NEWLINE:
            end += 1
        begin = place
        place = end + 1
        while begin < end and _is_blank(text[begin]):
            begin += 1
        while end > begin and _is_blank(text[end - 1]):
            end -= 1
        if begin == end or text[begin] == _HASH or text[begin] == _PERCENT:
            continue
        fields = 0
        while begin <= end and fields < 2:
            stop = begin
            while stop < end and not (_is_blank(text[stop]) if separator == 0 else text[stop] == separator):
                stop += 1
            fields += 1
            low, high = begin, stop
            while low < high and _is_blank(text[low]):
                low += 1
            while high > low and _is_blank(text[high - 1]):
                high -= 1
            if low == high:
                return edges, EMPTY, line
            for byte in range(low, high):
                names[written] = text[byte]
                written += 1
            offsets[2 * edges + fields] = written
            if fields < 2 or stop == end:
                stop += 1
            begin = stop
            while separator == 0 and begin < end and _is_blank(text[begin]):
                begin += 1
        if fields != 2:
            return edges, FIELDS, line
        if begin < end or attributes != 0:
            attributes, problem = _check_attributes(text, min(begin, end), end, attributes)
            if problem != FINE:
                return edges, problem, line
        edges += 1
    return edges, FINE, line
