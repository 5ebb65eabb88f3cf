"""Columns of plain values as the data frames of other libraries, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Columns = Mapping[str, Sequence[Any]]


def make_pandas(columns: Columns) -> Any:
    """A pandas DataFrame."""
    import pandas

    return pandas.DataFrame(dict(columns))


def make_polars(columns: Columns) -> Any:
    """A polars DataFrame."""
    import polars

    return polars.DataFrame({name: _of_one_type(values) for name, values in columns.items()})


def make_arrow(columns: Columns) -> Any:
    """An Arrow table."""
    import pyarrow

    return pyarrow.table({name: _of_one_type(values) for name, values in columns.items()})


def _of_one_type(values: Sequence[Any]) -> list[Any]:
    """A column that a typed frame can hold: whole numbers beside others become floats, mixtures become text."""
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) < 2:
        return list(values)
    turn = float if kinds == {int, float} else str
    return [None if value is None else turn(value) for value in values]


FRAMES: dict[str, Callable[[Columns], Any]] = {
    "pandas": make_pandas,
    "polars": make_polars,
    "pyarrow": make_arrow,
}
