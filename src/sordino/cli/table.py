"""Table: named columns of numbers and texts that a command reads from a file, whatever the file's format."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import choice


class FileTable(Protocol):
    """Named columns. Errors name the file, the column and the line, never a value."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column of finite numbers."""

    def texts(self, column: str) -> list[str]:
        """A column as text."""


def choose_column(table: FileTable, column: str | None, option: str) -> str:
    """The column that an option names; without the option, the only column there is."""
    if column is None:
        if len(table.header) == 1:
            return table.header[0]
        _refuse_data_as_header(table)
        raise ParameterError(f"give {option}: one of the columns of {table.name}: {', '.join(table.header)}")
    if column not in table.header:
        _refuse_data_as_header(table)
    choice(f"{option}: the column of {table.name}", column, table.header)
    if table.header.count(column) > 1:
        raise ParameterError(f"{option}: {table.name} has more than one column named {column!r}")
    return column


def _refuse_data_as_header(table: FileTable) -> None:
    """A first line with a number in it is a record, which no message may show."""
    if any(reads_as_number(name) for name in table.header):
        raise ParameterError(f"the first line of {table.name} must name the columns; it looks like a record")


def reads_as_number(text: str) -> bool:
    """Whether a field is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def unreadable(path: str, error: OSError) -> ParameterError:
    """What to say when the operating system refuses a file."""
    return ParameterError(f"cannot read {path}: {(error.strerror or type(error).__name__).lower()}")
