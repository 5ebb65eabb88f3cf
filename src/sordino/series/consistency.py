"""Consistency: noisy sums of overlapping blocks turned into one estimate of every change, by least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import ParameterError

Floats = NDArray[np.float64]


def make_consistent(
    blocks: Sequence[tuple[int, int]], values: ArrayLike, *, horizon: int, variances: ArrayLike | None = None
) -> Floats:
    """The changes x₁ … x_n whose block sums are closest to the released ones, each weighed by its variance.

    ``blocks``: (first, last) of every released sum, both included. **Guarantee**: that of the sums; this is
    post-processing. Of all linear unbiased estimates each total of the result has the smallest variance
    (Gauss–Markov; Hay, Rastogi, Miklau and Suciu 2010 for trees). Changes that no sum tells apart share what is known.

    >>> import sordino as sd
    >>> changes = sd.series.make_consistent([(1, 1), (2, 2), (1, 2)], [3.0, 4.0, 10.0], horizon=2)
    >>> [round(float(x), 6) for x in changes]
    [4.0, 5.0]
    """
    measured = np.asarray(values, dtype=np.float64)
    if len(blocks) != len(measured) or not len(measured):
        raise ParameterError(f"there must be one value per block, got {len(measured)} for {len(blocks)}")
    weights = np.ones(len(measured))
    if variances is not None:
        given = np.asarray(variances, dtype=np.float64)
        if given.shape != measured.shape or not (given > 0).all():
            raise ParameterError("variances must be one positive number per block")
        weights = 1 / np.sqrt(given)
    design = np.zeros((len(blocks), horizon))
    for row, (first, last) in enumerate(blocks):
        if not 1 <= first <= last <= horizon:
            raise ParameterError(f"a block lies within 1 … {horizon}, got {first} … {last}")
        design[row, first - 1 : last] = 1
    solved: Any = np.linalg.lstsq(design * weights[:, None], measured * weights, rcond=None)
    changes: Floats = solved[0]
    return changes
