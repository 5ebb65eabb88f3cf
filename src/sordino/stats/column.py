"""A column of numbers from whatever the caller holds, checked against its public bounds."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import bounds as checked_bounds

_ACCEPTED = "a list, a numpy array, or a pandas, polars or Arrow column"


def bounded_column(values: Any, *, bounds: Any, clip: bool = False) -> NDArray[np.float64]:
    """Finite numbers within ``bounds``; with ``clip`` what lies outside is moved to the nearer bound.

    Clipping acts on every record by itself, so it changes no guarantee. Nulls and NaN are refused either way.
    """
    low, high = checked_bounds(bounds)
    column = _as_floats(values)
    if not len(column):
        raise ParameterError("values are empty: there must be at least one record")
    if np.isnan(column).any():
        raise PrivateDataError("values contain NaN or nulls: drop or fill them before asking")
    if clip:
        return np.clip(column, low, high)
    if column.min() < low or column.max() > high:
        raise PrivateDataError(
            f"some values lie outside the bounds ({low:g}, {high:g}): widen them or pass clip=True"
        )
    return column


def _as_floats(values: Any) -> NDArray[np.float64]:
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.null_count():
            raise PrivateDataError("values contain NaN or nulls: drop or fill them before asking")
        values = series.to_numpy()
    elif hasattr(values, "null_count") and hasattr(values, "to_numpy"):  # an Arrow array that is not chunked
        if values.null_count:
            raise PrivateDataError("values contain NaN or nulls: drop or fill them before asking")
        values = values.to_numpy(zero_copy_only=False)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ParameterError(f"values must be one column ({_ACCEPTED}), got {array.ndim} axes")
    if array.dtype == object and any(item is None for item in array):
        raise PrivateDataError("values contain NaN or nulls: drop or fill them before asking")
    if array.dtype.kind not in "iuf" and len(array):
        raise ParameterError(f"values must be numbers ({_ACCEPTED}), got elements of type {array.dtype}")
    return array.astype(np.float64)
