"""Rows that come and go beside cells that move, with the discount of one jump."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen

# SUM(x·y) over one row of S and n rows of R, all x = 1 and y in [0, 0.01]; a row of R weighs 1, and y is 0.01.
_BETA, _ALPHA = 0.1, 0.1
_EPSILON = 3 * (_ALPHA + _BETA)  # Cauchy noise: (γ + 1)(α + β)
_CELL = 0.01
_MOST = 8
_LAST = 400  # outcomes beyond are reported by their sign alone


def _discounted(rows: int) -> float:
    """What rows do, what the cell does now, and the latter at today's number of rows, one jump away."""
    return max(_CELL * (1 + rows), float(rows), math.exp(-_BETA) * rows)


def _followed(rows: int) -> float:
    """The same with the largest of e^(−βk)(rows + k) from one jump on."""
    later = max(math.exp(-_BETA * k) * (rows + k) for k in range(1, 200))
    return max(_CELL * later, float(rows), later)


def _law(rows: int, *, sound: bool) -> NDArray[np.float64]:
    scale = (_followed if sound else _discounted)(rows) / _ALPHA
    edges = np.arange(-_LAST, _LAST + 1) + 0.5
    below = 0.5 + np.arctan((edges - _CELL * rows) / scale) / np.pi
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def _one_row(rows: int) -> Iterator[int]:
    return (other for other in (rows - 1, rows + 1) if 1 <= other <= _MOST)


def _proved(*, sound: bool) -> Proof:
    return prove(lambda rows: _law(rows, sound=sound), range(1, _MOST + 1), _one_row, _EPSILON)


SINGLE_JUMP_DISCOUNT = Specimen(
    name="rows and values with the discount of a single jump",
    claim="e^(−βG) times the slope at today's number of joined rows covers what cells do after a row has come",
    flaw="that number itself grows by more than e^(βG) where βG < 1; the maximum over all jumps is needed",
    source="combined sensitivity as the public Pleak analyser computes it; NAPLES report, §3.3.9",
    refute=lambda: _proved(sound=False),
    repaired=lambda: _proved(sound=True),
)
