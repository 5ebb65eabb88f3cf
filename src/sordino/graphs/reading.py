"""Edges from a file: text or CSV, gzipped or not, or Parquet. Errors name the line, never what it says."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from array import array
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import choice
from sordino.graphs.conversion import split_columns
from sordino.graphs.kernels import edge_text
from sordino.graphs.numbering import (
    NumberedEdges,
    check_names,
    check_node_count,
    is_number,
    number_edges,
    number_names,
    sort_by_name,
)

_GZIP, _PARQUET, _MARK = b"\x1f\x8b", b"PAR1", b"\xef\xbb\xbf"
_SEPARATORS = re.compile(rb"[\s,;]+")
_INTEGER = re.compile(rb"-?[0-9]+")
_BRACES = re.compile(rb"[\s,;]+\{.*\}$")
_ENDS = ((b"source", b"target"), (b"from", b"to"), (b"src", b"dst"), (b"u", b"v"))
_PROBLEMS = {
    edge_text.NOT_AN_INTEGER: "an id is not a whole number; ids='text' reads ids as names",
    edge_text.NEGATIVE: "an id is negative; ids must be >= 0, or be read as names by ids='text'",
    edge_text.TOO_LARGE: "an id is 2^63 − 1 or more; ids='text' reads ids as names",
    edge_text.FIELDS: "an edge is two ids, this line has fewer fields",
    edge_text.UNKNOWN: "an id is not among the nodes that were declared",
    edge_text.EMPTY: "an id is empty",
    edge_text.RAGGED: "it has another number of fields than the lines before; an edge list has one edge per line",
    edge_text.ATTRIBUTES: "only numbers (weights, times) or one {…} may follow two ids, and are ignored",
}

_PROBE = 1 << 16


def read_edges(
    path: str | PathLike[str], *, nodes: Any = None, header: bool | None = None, ids: str = "auto"
) -> NumberedEdges:
    """The edges of a file; see `Graph.read`."""
    choice("ids", ids, ("auto", "integer", "text"))
    if ids == "text" and nodes is not None:
        check_names(nodes)  # two parameters that disagree, whatever the file holds
    if header not in (None, True, False):
        raise ParameterError(f"header must be True, False or None, got {header!r}")
    if not isinstance(path, str | PathLike):
        raise ParameterError(
            f"path must be a file name, got {type(path).__name__}; Graph.of takes data in memory"
        )
    name = fspath(path)
    content = read_content(name)
    if content.startswith(_PARQUET):
        return number_edges(*split_columns(_parquet(name, content)), nodes=nodes)
    content = content.removeprefix(_MARK)
    if b"\0" in content[:_PROBE]:
        raise ParameterError(f"{name} is not a text file: an edge list is UTF-8 text, gzip of it, or Parquet")
    first, second = _first_two(content)
    if header is None:
        named = first is not None and not any(map(_INTEGER.fullmatch, _fields(first)[:2]))
        header = named and _begins_with_integers(second)
        guessed = header
    else:
        guessed = True
    if header and first is not None:
        _check_header(name, first)
    opening = second if header else first
    if opening is None:  # no edges, with or without a header
        if nodes is None:
            raise ParameterError(f"{name} holds no edges: give nodes if the graph has none")
        return number_edges([], [], nodes=nodes)
    if ids == "auto":
        # A first id that begins like a number makes it a file of integers, so that a slip is found and named.
        ids = "integer" if _INTEGER.match(opening) else "text"
    if ids == "integer":
        return _integers(name, content, header, nodes)
    if nodes is not None:
        _check_names_are_declared(name, nodes)
    separator = _separator(opening)
    if not guessed and separator in (",", ";"):
        raise ParameterError(
            f"{name} is a CSV of names: say whether its first line is one of column names (header or no header)"
        )
    if separator and b'"' in content:
        return _quoted_names(name, content, header, separator, nodes)
    return _names(name, content, header, separator, nodes)


def read_content(name: str) -> bytes:
    """The bytes of a file, unpacked where it is gzipped."""
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise ParameterError(f"cannot read {name}: {error.strerror or type(error).__name__}") from None
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise ParameterError(f"{name} is a gzip file that is damaged or cut short") from None


def _parquet(name: str, content: bytes) -> Any:
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:  # whose text may quote the file
        raise ParameterError(f"cannot read {name} as Parquet ({type(error).__name__})") from None


def _first_two(content: bytes) -> tuple[bytes | None, bytes | None]:
    """The first two lines that are neither blank nor comments."""
    found: list[bytes] = []
    for line in io.BytesIO(content):
        text = line.strip()
        if text and text[:1] not in b"#%":
            found.append(text)
            if len(found) == 2:
                return found[0], found[1]
    return (found[0] if found else None), None


def _fields(line: bytes) -> list[bytes]:
    return _SEPARATORS.split(line)


def _begins_with_integers(line: bytes | None) -> bool:
    return line is not None and all(map(_INTEGER.fullmatch, _fields(line)[:2]))


def _check_header(name: str, line: bytes) -> None:
    """Refuse a header that says that the first two columns are not the ids: a third one is not looked at."""
    columns = [field.strip(b"\"' ").lower() for field in _fields(line)]
    if not columns[0]:
        raise ParameterError(
            f"the first column of {name} has no name, so it is no id: write the two columns of ids first"
        )
    for ends in _ENDS:
        if set(ends) <= set(columns) and set(ends) != set(columns[:2]):
            named = " and ".join(end.decode() for end in ends)
            raise ParameterError(f"the columns {named} of {name} must come first: write these two first")


def _separator(line: bytes) -> str | None:
    """The mark between the names of a line, or None for blanks; marks between the braces at its end do not count."""
    without = _BRACES.sub(b"", line)
    ids = without if len(_fields(without)) > 1 else line
    return next((mark for mark in ",;\t" if mark.encode() in ids), None)


def _integers(name: str, content: bytes, header: bool, nodes: Any) -> NumberedEdges:
    limit = check_node_count(nodes) if is_number(nodes) else 2**63 - 1
    text, skipped = _after_header(content, header)
    lines = edge_text.count_lines(text)
    sources, targets = np.empty(lines, np.int64), np.empty(lines, np.int64)
    edges, problem, line = edge_text.parse_pairs(text, limit, sources, targets)
    _check(problem, skipped + line, name)
    return number_edges(sources[:edges], targets[:edges], nodes=nodes)


def _check_names_are_declared(name: str, nodes: Any) -> None:
    try:
        check_names(nodes)
    except ParameterError as error:
        raise PrivateDataError(
            f"{name} is read as names: {error}; or say that it has a header if its first line names the columns"
        ) from None


def _names(name: str, content: bytes, header: bool, separator: str | None, nodes: Any) -> NumberedEdges:
    import pyarrow

    text, skipped = _after_header(content, header)
    offsets = np.zeros(2 * edge_text.count_lines(text) + 1, np.int64)
    names = np.empty(len(text), np.uint8)
    edges, problem, line = edge_text.split_pairs(text, ord(separator) if separator else 0, names, offsets)
    if problem != edge_text.FINE:
        _check_text(name, content)  # a file in another encoding has lines of any number of fields
    _check(problem, skipped + line, name)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(names)]
    column = pyarrow.Array.from_buffers(pyarrow.large_string(), 2 * edges, buffers)
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        _check_text(name, content)
        raise PrivateDataError(f"{name} is not UTF-8 text") from None
    return number_names(column, nodes=nodes)


def _check(problem: int, line: int, name: str) -> None:
    if problem != edge_text.FINE:
        raise PrivateDataError(f"line {line} of {name}: {_PROBLEMS[problem]}")


def _after_header(content: bytes, header: bool) -> tuple[NDArray[np.uint8], int]:
    """The bytes after the header, if there is one, and the number of lines before them."""
    end = 0
    lines = 0
    for line in io.BytesIO(content) if header else ():
        end += len(line)
        lines += 1
        if line.strip() and line.strip()[:1] not in b"#%":
            break
    return np.frombuffer(content, np.uint8)[end:], lines


def _check_text(name: str, content: bytes) -> None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PrivateDataError(f"line {line} of {name} is not UTF-8 text") from None


class _Lines:
    """Lines of text without comments and blank lines; ``number`` is that of the last line given out."""

    def __init__(self, content: bytes) -> None:
        self.number = 0
        self._stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="\n")

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.number += 1
            text = line.strip()
            if text and text[0] not in "#%":
                yield line


def _bytes(fields: list[str], separator: str) -> NDArray[np.uint8]:
    """The rest of a line, between its separators again."""
    return np.frombuffer(separator.join(fields).strip().encode(), np.uint8)


def _quoted_names(name: str, content: bytes, header: bool, separator: str, nodes: Any) -> NumberedEdges:
    """A CSV with quotes, row by row."""
    _check_text(name, content)
    lines = _Lines(content)
    rows = csv.reader(lines, delimiter=separator, strict=True)
    position: dict[str, int] = {}
    columns = array("i"), array("i")
    attributes = -1
    try:
        if header:
            next(rows)
        for row in rows:
            if len(row) < 2:
                _check(edge_text.FIELDS, lines.number, name)
            attributes, problem = edge_text.check_attributes(_bytes(row[2:], separator), attributes)
            _check(problem, lines.number, name)
            for column, field in zip(columns, row[:2], strict=True):
                label = field.strip()
                if not label:
                    _check(edge_text.EMPTY, lines.number, name)
                column.append(position.setdefault(label, len(position)))
    except csv.Error:
        raise PrivateDataError(f"line {lines.number} of {name} is not CSV: its quotes do not match") from None
    sources, targets = (np.frombuffer(column, np.int32) for column in columns)
    if nodes is None:
        return sort_by_name(sources, targets, position)
    labels = np.array(list(position), dtype=object)
    return number_edges(labels[sources], labels[targets], nodes=check_names(nodes))
