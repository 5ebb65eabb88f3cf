"""Filters on protected values whose precision is chosen by the data."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen

_EPSILON = 1.0  # per unit, and a cell moves by tenths of a unit
_MOVE = 0.1
_CELLS, _PIVOT, _ROWS = 9, 4, 10
_SHARP, _FLAT = 4.0, 0.5
_LAST = 40  # outcomes beyond are reported by their sign alone


def _precision(cell: int, chosen: bool) -> float:
    """A sharp filter where the cell is far from the pivot, a flat one near it: the smaller error of the two."""
    return _SHARP if chosen and abs(cell - _PIVOT) > 1 else _FLAT


def _law(cell: int, *, chosen: bool) -> NDArray[np.float64]:
    """Laplace noise of the largest slope that the filter of this precision has anywhere, rounded to whole numbers."""
    steepness = _precision(cell, chosen)
    centre = _ROWS / (1 + math.exp(-steepness * (cell - _PIVOT)))
    scale = _ROWS * steepness / 4 / _MOVE / _EPSILON
    edges = np.arange(-_LAST, _LAST + 1) + 0.5
    below = np.where(
        edges < centre, 0.5 * np.exp((edges - centre) / scale), 1 - 0.5 * np.exp((centre - edges) / scale)
    )
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def _one_step(cell: int) -> Iterator[int]:
    return (other for other in (cell - 1, cell + 1) if 0 <= other < _CELLS)


def _filtered(*, chosen: bool) -> Proof:
    return prove(lambda cell: _law(cell, chosen=chosen), range(_CELLS), _one_step, _EPSILON * _MOVE)


PRECISION_FROM_THE_DATA = Specimen(
    name="the precision of a filter chosen by the data",
    claim="of two smooth filters, each with noise for its own slope, the one with less error may be taken",
    flaw="the two have different answers and scales, and where the choice flips both jump at no distance",
    source="NAPLES report, l. 2216–2238; public grids of β vary the scale only, and that smoothly",
    refute=lambda: _filtered(chosen=True),
    repaired=lambda: _filtered(chosen=False),
)
