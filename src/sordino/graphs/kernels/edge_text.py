"""Lines of two integers or two names to columns, one byte at a time, with the line on which it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.compiled import compiled

FINE, NOT_AN_INTEGER, NEGATIVE, TOO_LARGE, FIELDS, UNKNOWN, EMPTY = range(7)

_NEWLINE, _MINUS, _ZERO, _NINE, _COMMA, _SEMICOLON, _HASH, _PERCENT = (ord(c) for c in "\n-09,;#%")
_TAB, _RETURN, _SPACE = (ord(c) for c in "\t\r ")
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
def parse_pairs(
    text: Bytes, limit: int, sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Fill the columns; return the number of edges, the problem (FINE if none) and its line, counted from 1.

    Ids are below ``limit``. Fields stand between blanks, or one comma or semicolon; blank lines and lines that begin
    with # or % are skipped.
    """
    edges = 0
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
        if place < size and text[place] != _NEWLINE:
            return edges, FIELDS, line
        place += 1
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
    blanks. Blanks around a name are left out, and there are no quotes.
    """
    edges = 0
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
        while begin <= end:
            stop = begin
            while stop < end and not (_is_blank(text[stop]) if separator == 0 else text[stop] == separator):
                stop += 1
            fields += 1
            if fields > 2:
                return edges, FIELDS, line
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
            begin = stop + 1
            if separator == 0:
                while begin < end and _is_blank(text[begin]):
                    begin += 1
        if fields != 2:
            return edges, FIELDS, line
        edges += 1
    return edges, FINE, line
