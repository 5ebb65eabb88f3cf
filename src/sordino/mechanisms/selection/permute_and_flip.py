"""Permute-and-flip: never worse than the exponential mechanism on the same scores."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.selection.exponential import global_scores, log_weights
from sordino.mechanisms.selection.mechanism import ScoreMechanism
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.stated_law import StatedLaw, rounded_law
from sordino.mechanisms.selection.traits import MechanismTraits
from sordino.sampling.choice import FlipChoice

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_CHUNK = 1 << 16
_EXACT_DEGREE = 96
# Below this bias a series of 18 terms in p·y replaces one logarithm per node: 0.125^19 is below 1e-17.
_SMALL = 0.125
_TERMS = 18
_QUADRATURE_ERROR = 1e-11


class PermuteAndFlip:
    """Take the first candidate, in random order, whose coin of bias exp(rate·(score − top)) shows heads.

    **Guarantee**: ε-DP with rate ε/(2Δ), or ε/Δ if every score moves the same way under one change. Its zCDP is
    ε²/2 only: it has no bounded range.
    **Requires**: scores of sensitivity Δ.
    **Source**: McKenna and Sheldon 2020; the same law as report-noisy-max with exponential noise (Ding et al. 2021).
    **Numerics**: the draw is exact. The law is p_r ∫₀¹ Π_{s≠r} (1 − p_s y) dy, a polynomial integrated by
    Gauss–Legendre: without error up to rounding for few candidates, to about 10⁻¹² for many.
    """

    name = "permute_and_flip"
    theorem = "permute-and-flip"
    bounded_range = False

    @staticmethod
    def stated_law(scores: GridScores, rate: Fraction) -> StatedLaw:
        """ln P(r) for every candidate, with its error."""
        distinct, inverse, counts = np.unique(scores.values, return_inverse=True, return_counts=True)
        exponents = log_weights(distinct, rate)
        biases = np.exp(exponents)
        nodes, weights = _quadrature(float(counts @ biases), len(scores.values))
        log_terms = _log_products(biases, counts, nodes) + np.log(weights)
        peak = log_terms.max()
        log_share: NDArray[np.float64] = (
            np.log(_shares(biases, nodes, np.exp(log_terms - peak))) + exponents + peak
        )
        # What quadrature leaves of the total mass (about 1e-13) is spread evenly.
        log_share -= np.log(counts @ np.exp(log_share))
        return rounded_law(log_share[inverse], besides=_QUADRATURE_ERROR)

    @staticmethod
    def draw(scores: GridScores, rate: Fraction) -> int:
        """One candidate."""
        return FlipChoice(scores.values, rate).draw()


def _quadrature(total_bias: float, candidates: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on (0, 1), dense near 0 on the scale 1/Σp on which the product decays."""
    if candidates <= _EXACT_DEGREE:
        return _exact_quadrature(candidates // 2 + 1)
    panels = [0.0]
    while panels[-1] < 1 and panels[-1] * total_bias < 800:
        end = max(2 * panels[-1], 1 / (2 * total_bias))
        panels.append(end if end < 0.75 else 1.0)  # no sliver before 1, where the top's factor vanishes
    edges = np.asarray(panels)
    half = np.diff(edges) / 2
    middle = (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()


@cache
def _exact_quadrature(degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    nodes, weights = np.polynomial.legendre.leggauss(degree)
    return (nodes + 1) / 2, weights / 2


def _log_products(
    biases: NDArray[np.float64], counts: NDArray[np.intp], nodes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ over candidates of ln(1 − p y) at every node y: by power sums of p where p is small."""
    small = biases <= _SMALL
    orders = np.arange(1, _TERMS + 1)
    sums, power = np.empty(_TERMS), np.ones(int(small.sum()))
    for order in range(_TERMS):
        power *= biases[small]
        sums[order] = counts[small] @ power
    total: NDArray[np.float64] = -(sums / orders) @ nodes[None, :] ** orders[:, None]
    biases, counts = biases[~small], counts[~small]
    for start in range(0, len(biases), _CHUNK):
        block = biases[start : start + _CHUNK, None] * nodes
        total += counts[start : start + _CHUNK] @ np.log1p(-block)
    return total


def _shares(
    biases: NDArray[np.float64], nodes: NDArray[np.float64], terms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ over nodes y of term/(1 − p y) for every p: by moments of the terms where p is small."""
    result = np.empty(len(biases))
    small = biases <= _SMALL
    moments = nodes[None, :] ** np.arange(_TERMS + 1)[:, None] @ terms
    result[small] = np.polynomial.polynomial.polyval(biases[small], moments)
    for rows in np.array_split(np.flatnonzero(~small), max(1, len(biases) // _CHUNK)):
        result[rows] = (terms / (1 - biases[rows, None] * nodes)).sum(axis=1)
    return result


MECHANISM = ScoreMechanism(
    MechanismTraits(
        "permute_and_flip",
        "permute-and-flip",
        reads="bound",
        monotone=True,
        options={"sampler": (PermuteAndFlip.name,)},
    ),
    global_scores,
    {PermuteAndFlip.name: PermuteAndFlip()},
)
