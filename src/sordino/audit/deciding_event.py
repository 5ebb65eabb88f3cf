"""DecidingEvent: the outcomes by which two neighbouring databases are told apart best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.divergence import Floats, log_ratios, smallest_epsilon


@dataclass(frozen=True, slots=True)
class DecidingEvent:
    """A worst outcome, or worst set of outcomes, of one pair with both of its probabilities."""

    outcome: Any
    left: float
    right: float


def find_worst_outcomes(left: Floats, right: Floats, delta: float) -> NDArray[np.intp]:
    """The deciding event; for a pure loss, the likeliest of the outcomes that have it."""
    _, cut = smallest_epsilon(left[None], right[None], delta)
    ratios = log_ratios(left, right)
    if delta:
        event: NDArray[np.intp] = np.flatnonzero(ratios >= cut[0])
        return event
    tied = np.flatnonzero(ratios >= cut[0] - 1e-12)
    return tied[[int(left[tied].argmax())]]


def mass(log_probabilities: Floats) -> float:
    """The probability of a set of outcomes."""
    return float(np.exp(log_probabilities).sum())
