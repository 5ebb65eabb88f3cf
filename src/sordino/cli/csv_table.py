"""CSV by the standard library, strict: every line has the fields of the header."""

from __future__ import annotations

import csv
import io
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sordino.cli.table import unreadable
from sordino.core import ParameterError, PrivateDataError

_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Rows as text, with the line on which each began."""

    name: str
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column of finite numbers."""
        place = self.header.index(column)
        values = np.empty(len(self.rows))
        for index, row in enumerate(self.rows):
            value = _number(row[place])
            if value is None:
                raise PrivateDataError(
                    f"line {self.lines[index]} of {self.name}: column {column!r} is not a finite number"
                )
            values[index] = value
        return values

    def texts(self, column: str) -> list[str]:
        """A column as text."""
        place = self.header.index(column)
        return [row[place] for row in self.rows]


def read_csv(path: str) -> CsvTable:
    """Read a file, or standard input for '-'. The separator is the comma, semicolon or tab that the header uses."""
    name = "standard input" if path == "-" else path
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PrivateDataError(f"line {line} of {name} is not UTF-8 text") from None
    first = text.split("\n", 1)[0]
    if not first.strip():
        raise ParameterError(f"{name} has no header: its first line must name the columns")
    delimiter = max(_DELIMITERS, key=first.count)
    return _parsed(name, text, delimiter)


def _parsed(name: str, text: str, delimiter: str) -> CsvTable:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    start = 1
    try:
        header = tuple(field.strip() for field in next(reader))
        start = reader.line_num + 1
        for row in reader:
            if row:
                if len(row) != len(header):
                    raise PrivateDataError(
                        f"line {start} of {name} has {len(row)} fields, the header has {len(header)}"
                    )
                rows.append(row)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise PrivateDataError(f"line {start} of {name} is not CSV: {error}") from None
    return CsvTable(name, header, rows, lines)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None
