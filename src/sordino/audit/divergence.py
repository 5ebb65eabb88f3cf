"""Losses between pairs of output laws, from the definition, in log space.

Every function takes two arrays of log-probabilities, one row per pair and one column per outcome, and answers
for the ordered pairs (left, right).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_ratios(left: Floats, right: Floats) -> Floats:
    """ln(p/q) of every outcome: +∞ where only q is 0, −∞ (nothing to lose) wherever p is 0."""
    with np.errstate(invalid="ignore"):
        ratios: Floats = left - right
    ratios[np.isneginf(left)] = -np.inf
    return ratios


def hockey_stick(left: Floats, right: Floats, epsilon: float) -> Floats:
    """δ(ε) = Σ (p − e^ε q)₊ per row; written p·(1 − e^{ε − ln(p/q)}) so that a tiny δ keeps its digits."""
    excess = np.minimum(epsilon - log_ratios(left, right), 0.0)
    total: Floats = (np.exp(left) * -np.expm1(excess)).sum(axis=-1)
    return total


def smallest_epsilon(left: Floats, right: Floats, delta: float) -> tuple[Floats, Floats]:
    """The least ε ≥ 0 with δ(ε) ≤ delta per row, and the least ln(p/q) of the event that needs it.

    δ(ε) is the maximum of P(E) − e^ε Q(E) over events, attained by events {ln(p/q) ≥ c}; so the answer is the
    maximum of ln((P(E) − delta)/Q(E)) over those, in closed form and without a search.
    """
    ratios = log_ratios(left, right)
    if delta == 0:
        worst = ratios.max(axis=-1)
        return np.maximum(worst, 0.0), worst
    order = np.argsort(-ratios, axis=-1)
    mass = np.cumsum(np.take_along_axis(np.exp(left), order, axis=-1), axis=-1)
    log_other = np.logaddexp.accumulate(np.take_along_axis(right, order, axis=-1), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.log(np.maximum(mass - delta, 0.0)) - log_other
    needed[mass <= delta] = -np.inf
    best = needed.argmax(axis=-1)[..., None]
    cut = np.take_along_axis(ratios, np.take_along_axis(order, best, axis=-1), axis=-1)[..., 0]
    return np.maximum(np.take_along_axis(needed, best, axis=-1)[..., 0], 0.0), cut
