"""Exact mechanisms on numbers that a machine word does not hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.audit.log_law import LogLaw
from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import step_along

_EPSILON = 1.0
_UNIT = 1 << 20  # dampened scores are counted in this part of a step
_FARTHEST = 1 << 42
_SCORES = tuple((2**43 + change, 2**43 - 2, 0) for change in range(-3, 4))  # three candidates along a path


def _dampened(*, wraps: bool) -> Proof:
    """Local dampening with δ = 1, so that D is the score; 2⁴³ steps are 2⁶³ units."""

    def law(place: int) -> LogLaw:
        steps: NDArray[np.int64] = np.array(_SCORES[place], dtype=np.int64)
        if not wraps:
            steps = np.maximum(steps - steps.max(), -_FARTHEST)
        with np.errstate(over="ignore"):
            units = (steps * _UNIT).astype(np.float64)
        behind = (units - units.max()) * (_EPSILON / (2 * _UNIT))
        return LogLaw(behind - np.log(np.exp(behind).sum()))

    return prove(law, range(len(_SCORES)), lambda place: step_along(len(_SCORES), place), _EPSILON)


WRAPPED_DAMPENING = Specimen(
    name="dampened scores in 64 bits",
    claim="D counted in 2⁻²⁰ of a step is an exact whole number, so local dampening on it is ε-DP",
    flaw="a score worth 2⁴³ steps wraps: the best candidate of one database is the last of its neighbour",
    source="an implementation in 64-bit integers; the repaired one counts from the best score, down to 2⁴² steps",
    refute=lambda: _dampened(wraps=True),
    repaired=lambda: _dampened(wraps=False),
)
