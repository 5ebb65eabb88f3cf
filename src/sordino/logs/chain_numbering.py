"""The loop of plain correlation, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.compiled import compiled


@compiled
def number_places(codes: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """The chain of every row of ``codes``, as the row (from 1) at which it begins; codes are below ``values``."""
    places, width = codes.shape
    top = np.full(values, -1, np.int64)  # by value: the cell (row, column) that was put on its stack last
    below = np.full(places * width, -1, np.int64)  # by cell: the cell beneath it on the stack
    is_last = np.zeros(places, np.bool_)
    number = np.empty(places, np.int64)
    for place in range(places):
        latest = -1
        for column in range(width):
            value = codes[place, column]
            if value >= 0:
                cell = top[value]
                while cell >= 0 and not is_last[cell // width]:
                    cell = below[cell]
                top[value] = cell
                if cell >= 0:
                    latest = max(latest, cell // width)
        if latest >= 0:
            is_last[latest] = False
            number[place] = number[latest]
        else:
            number[place] = place + 1
        is_last[place] = True
        for column in range(width):
            value = codes[place, column]
            if value >= 0:
                below[place * width + column] = top[value]
                top[value] = place * width + column
    return number
