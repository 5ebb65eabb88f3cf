"""A column of numbers from whatever the caller holds."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError

_ACCEPTED = "a list, a numpy array, or a pandas, polars or Arrow column"


def as_floats(name: str, values: Any) -> NDArray[np.float64]:
    """One column as doubles: a list, a numpy array, or a pandas, polars or Arrow column; nulls are refused."""
    known = isinstance(values, np.ndarray | list | tuple)  # these need no look at every data frame library
    native = values if known else nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.LazyFrame):
        raise ParameterError(f"{name} must be one column, got a data frame: choose one of its columns")
    if isinstance(native, nw.Series):
        _refuse_nulls(name, native.null_count())
        values = native.to_numpy()
    elif type(values).__module__.partition(".")[0] == "pyarrow":  # an Arrow array that is not chunked
        _refuse_nulls(name, values.null_count)
        values = values.to_numpy(zero_copy_only=False)
    if isinstance(values, np.ma.MaskedArray):
        _refuse_nulls(name, int(np.ma.getmaskarray(values).sum()))
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(
            f"{name} must be one column ({_ACCEPTED}), got rows of different lengths"
        ) from None
    if array.ndim != 1:
        given = type(values).__name__ if array.ndim == 0 else f"{array.ndim} axes"
        raise ParameterError(f"{name} must be one-dimensional ({_ACCEPTED}), got {given}")
    if array.dtype == object:
        _refuse_nulls(name, sum(item is None for item in array))
    if array.size and array.dtype.kind not in "iuf":
        raise ParameterError(f"{name} must be numbers ({_ACCEPTED}), got elements of type {array.dtype}")
    return array.astype(np.float64)


def _refuse_nulls(name: str, count: int) -> None:
    if count:
        raise PrivateDataError(f"{name} contain NaN or nulls: drop or fill them before asking")
