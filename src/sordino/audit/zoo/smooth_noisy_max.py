"""Smooth noisy max on 0/1 utilities: the thesis's smoothing rate and its distance to the next winner."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtr

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import Counts, add_or_remove, list_counts_up_to

_EPSILON = 1.0
_LABELS = 3
_SOUND_RATE = (
    3.2  # the largest rate, per unit of the log-scale, at which ln P(loser) falls for t(3), d <= 100
)

Floats = NDArray[np.float64]


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes in φ for z = √3 tan φ, where t(3) has density (2/π) cos² φ, as (z, weight)."""
    nodes, weights = np.polynomial.legendre.leggauss(1200)
    angle = nodes * math.pi / 2
    return np.sqrt(3) * np.tan(angle), weights * np.cos(angle) ** 2


@lru_cache(maxsize=4096)
def _loser(theta: float) -> float:
    """Probability of each of the labels that do not win, at signal-to-noise ratio θ = 1/N."""
    z, weight = _nodes()
    return float(weight @ (stdtr(3, z - theta) * stdtr(3, z) ** (_LABELS - 2)))


@lru_cache(maxsize=1)
def _theta() -> float:
    """The ratio at which winner and loser differ by e^ε: what S = 1 must be calibrated to."""
    gap: Callable[[float], float] = lambda t: math.log(1 / _loser(t) - (_LABELS - 1)) - _EPSILON  # noqa: E731
    return float(brentq(gap, 1e-6, 50.0, xtol=1e-14)) * (1 - 1e-9)


def _winner(counts: Counts) -> int:
    return int(np.argmax(counts))  # ties go to the first label, a public order


def _changes_needed(counts: Counts) -> int:
    """Rows to add or remove until another label wins."""
    w = _winner(counts)
    return min(counts[w] - c + (w < s) for s, c in enumerate(counts) if s != w)


def _plain_gap(counts: Counts) -> int:
    """The thesis's j, one too large where the winner comes later in the tie order."""
    first, second = sorted(counts, reverse=True)[:2]
    return first - second + 1


def _check(beta: float, distance: Callable[[Any], int]) -> Proof:
    def law(counts: Counts) -> Floats:
        lost = _loser(_theta() * math.exp(beta * (distance(counts) - 1)))
        probabilities = np.full(_LABELS, lost)
        probabilities[_winner(counts)] = 1 - (_LABELS - 1) * lost
        return probabilities

    return prove(law, list_counts_up_to(7, _LABELS), add_or_remove, _EPSILON, partial=True)


SMOOTHING_BY_EPSILON = Specimen(
    name="smooth noisy max, smoothed by ε",
    claim="Student-t(3) noise of scale 2S/α with S = e^{−jε} on 0/1 utilities is ε-DP",
    flaw="the noise pays for a smoothing rate β well below ε; the loser's probability falls by e^{3.1 ε} per step",
    source="smooth noisy max thesis, Theorem 7.3 as used in its Algorithm 6",
    refute=lambda: _check(_EPSILON, _changes_needed),
    repaired=lambda: _check(_EPSILON / _SOUND_RATE, _changes_needed),
)

TIES_FORGOTTEN = Specimen(
    name="smooth noisy max, ties forgotten",
    claim="S = e^{−jβ} with j the gap of the two largest counts is β-smooth for the 0/1 utility of the winner",
    flaw="a winner that loses ties is one row nearer to losing than the gap says",
    source="smooth noisy max thesis, Theorem 7.3",
    refute=lambda: _check(_EPSILON / _SOUND_RATE, _plain_gap),
    repaired=lambda: _check(_EPSILON / _SOUND_RATE, _changes_needed),
)
