"""StatedLaw: the probabilities of a selection with a bound on their own rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDING = 2.0**-50


@dataclass(frozen=True, slots=True)
class StatedLaw:
    """ln P(r) for every candidate, and how far each may be from the truth (∞ where nothing is known).

    What a proof compares: `sordino.audit.LogLaw` takes both.
    """

    log_probabilities: Floats
    error: Floats


def rounded_law(log_probabilities: Floats, *, besides: float = 0.0) -> StatedLaw:
    """A law in closed form: each ln P is a few rounded operations on numbers of its size, and a sum over candidates.

    ``besides`` is what the formula itself is off by. A P below all doubles' logarithms is known to be small, no more.
    """
    size = np.abs(log_probabilities) + np.log(len(log_probabilities)) + 4
    return StatedLaw(log_probabilities, size * _ROUNDING + besides)
