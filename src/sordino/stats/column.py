"""A column of numbers from whatever the caller holds, checked against its public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import bounds as checked_bounds
from sordino.core.parameters import flag
from sordino.mechanisms.column import as_floats


def bounded_column(
    values: Any, *, bounds: Any, clip: bool = False, may_be_empty: bool = False
) -> NDArray[np.float64]:
    """Finite numbers within ``bounds``; with ``clip`` what lies outside is moved to the nearer bound.

    Clipping acts on every record by itself, so it changes no guarantee. Nulls and NaN are refused either way.
    ``may_be_empty`` where an answer is not one of the records; where it is, none are refused: their number is public.
    """
    low, high = checked_bounds(bounds)
    flag("clip", clip)
    column = as_floats("values", values)
    if not len(column):
        if may_be_empty:
            return column
        raise ParameterError("values are empty: there must be at least one record")
    if np.isnan(column).any():
        raise PrivateDataError("values contain NaN or nulls: drop or fill them before asking")
    if clip:
        return np.clip(column, low, high)
    if column.min() < low or column.max() > high:
        raise PrivateDataError(
            f"some values lie outside the bounds ({low:g}, {high:g}): widen them, or ask for clipping (clip)"
        )
    return column
