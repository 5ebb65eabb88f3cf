"""Parquet through pyarrow, polars or pandas, whichever is installed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sordino.cli.table import unreadable
from sordino.core import MissingExtraError, ParameterError, PrivateDataError

_READERS = (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"), ("pandas", "read_parquet"))


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A data frame behind narwhals."""

    name: str
    frame: nw.DataFrame[Any]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column of finite numbers."""
        series = self.frame.get_column(column)
        if not len(series):  # whatever its type: a column of nothing but nulls has none
            return np.empty(0)
        if not series.dtype.is_numeric():
            raise ParameterError(
                f"column {column!r} of {self.name} must hold numbers, its type is {series.dtype}"
            )
        values = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(values))
        if series.null_count() or len(bad):
            raise PrivateDataError(
                f"column {column!r} of {self.name} holds nulls, NaN or infinities: drop or fill them before asking"
            )
        return values

    def texts(self, column: str) -> list[str]:
        """A column as text."""
        return [str(value) for value in self.frame.get_column(column).to_list()]


def read_parquet(path: str) -> ParquetTable:
    """Read a Parquet file with the first package that is installed."""
    try:
        with Path(path).open("rb"):
            pass
    except OSError as error:
        raise unreadable(path, error) from None
    for module, function in _READERS:
        try:
            reader = getattr(importlib.import_module(module), function)
        except ImportError:
            continue
        try:
            native = reader(path)
        except Exception as error:  # each package has its own tree of errors, whose text may quote the file
            raise ParameterError(f"cannot read {path} as Parquet ({type(error).__name__})") from None
        return ParquetTable(path, nw.from_native(native, eager_only=True))
    raise MissingExtraError(
        "reading Parquet needs pyarrow, polars or pandas: pip install pyarrow, or give a CSV"
    )
