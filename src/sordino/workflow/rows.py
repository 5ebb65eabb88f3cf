"""Lists and matrices of numbers, as they are written; whatever else was given is said."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import as_written


def as_list(name: str, values: Any) -> list[Any]:
    """The members of a list, a tuple, an array."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise ParameterError(f"{name} must be a list, got {values!r}")
    return list(values)


def read_vector(name: str, values: Any) -> list[Fraction]:
    """A list of numbers."""
    return [as_written(f"{name}[{place}]", value) for place, value in enumerate(as_list(name, values))]


def read_matrix(name: str, matrix: Any) -> list[list[Fraction]]:
    """A list of lists of numbers."""
    return [read_vector(f"{name}[{place}]", row) for place, row in enumerate(as_list(name, matrix))]
