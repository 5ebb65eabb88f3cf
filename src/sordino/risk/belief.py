"""Beliefs about one unit: how far an ε lets them rise, and the ε that keeps them below a limit."""

from __future__ import annotations

import math

from sordino.core import ParameterError
from sordino.core.parameters import positive, whole
from sordino.risk.guessing import allow_unknown, check_advantage

_DOWN = 1 - 1e-12


def bound_belief(prior: float, epsilon: float, *, units: int = 1) -> float:
    """What is believed at most after an ε-private release, of something that was believed with ``prior`` before.

    ``units``: how far apart the databases are between which it decides: 1 for whether a unit is in the data, 2 for
    what its rows hold, where units are added and removed.

    >>> import sordino as sd
    >>> round(sd.risk.bound_belief(0.1, 1.0), 3)
    0.232
    """
    epsilon, units = positive("epsilon", epsilon), whole("units", units, least=1)
    odds = math.log1p(-_check_prior(prior)) - math.log(prior) - epsilon * units
    return min(1.0, math.nextafter((1 / (1 + math.exp(odds)) if odds < 700 else math.exp(-odds)) / _DOWN, 1))


def limit_belief(advantage: float, *, prior: float | None = None, units: int = 2) -> float:
    """The ε with which no belief about one unit rises by more than ``advantage``, all releases together.

    With a ``prior`` it is about beliefs of that strength, and their denials; without one, about all of them.

    >>> import sordino as sd
    >>> round(sd.risk.limit_belief(0.1), 4)
    0.2007
    """
    advantage, units = check_advantage(advantage), whole("units", units, least=1)
    if prior is None:
        return allow_unknown(advantage, float(units))
    found = math.inf
    for p in (_check_prior(prior), 1 - prior):
        if p + advantage < 1:
            # ln of the ratio of both odds, which is 1 + this
            found = min(found, math.log1p(advantage / (p * (1 - p - advantage))) / units * _DOWN)
    return found


def _check_prior(prior: float) -> float:
    if not 0 < prior < 1:
        raise ParameterError(f"prior must be in (0, 1), got {prior!r}: what is certain cannot be guessed")
    return float(prior)
