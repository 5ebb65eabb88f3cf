"""Private selection at the wrong rate: smooth sensitivity in the exponent, and rates meant for monotone scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import Counts, list_counts_of, replace_one, step_along

Floats = NDArray[np.float64]


def _exponential(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max())
    law: Floats = weights / weights.sum()
    return law


def _smooth_exponential(*, smooth: bool) -> Proof:
    """The thesis's election: C3 gains votes on C1, who wins with 22, and the gap j sets S = e^{−jε}."""
    epsilon = 0.5
    votes = [(22, 8, 17 + gained, 4, 0) for gained in range(8)]

    def law(place: int) -> Floats:
        first, second = sorted(votes[place], reverse=True)[:2]
        sensitivity = math.exp(-(first - second) * epsilon) if smooth else 1.0
        utility = (np.arange(5) == np.argmax(votes[place])).astype(np.float64)
        return _exponential(epsilon * utility / (2 * sensitivity))

    return prove(law, range(len(votes)), lambda place: step_along(len(votes), place), epsilon)


EXPONENTIAL_WITH_SMOOTH_SENSITIVITY = Specimen(
    name="exponential mechanism with smooth sensitivity",
    claim="P(r) ∝ exp(ε u/(2S)) is ε-DP for S smooth, as it is for the global sensitivity (ε = 1/2)",
    flaw="a change of S multiplies every score: votes (22, 8, 17, 4, 0) give C3 .04, one vote more .10",
    source="smooth noisy max thesis, Theorem 7.2",
    refute=lambda: _smooth_exponential(smooth=True),
    repaired=lambda: _smooth_exponential(smooth=False),
)


def _permute_and_flip(rate: float) -> Proof:
    epsilon, candidates = 1.0, 4

    def law(scores: Counts) -> Floats:
        accept = np.exp(rate * epsilon * (np.array(scores) - max(scores)))
        total = np.zeros(candidates)
        for order in permutations(range(candidates)):
            reached = 1.0
            for r in order:
                total[r] += reached * accept[r]
                reached *= 1 - accept[r]
        return total / math.factorial(candidates)

    def shifted(scores: Counts) -> Iterator[Counts]:
        for change in product((-1, 0, 1), repeat=candidates):
            yield tuple(s + c for s, c in zip(scores, change, strict=True))

    return prove(law, product(range(5), repeat=candidates), shifted, epsilon, partial=True)


PERMUTE_AND_FLIP_FULL_RATE = Specimen(
    name="permute-and-flip at full rate",
    claim="accepting with exp(ε (u − u*)/Δ) is ε-DP for any scores of sensitivity Δ",
    flaw="the rate ε/Δ needs scores that all move the same way; otherwise one rises while its rivals fall",
    source="McKenna and Sheldon 2020 prove ε/(2Δ); the full rate is for monotone scores only",
    refute=lambda: _permute_and_flip(1.0),
    repaired=lambda: _permute_and_flip(0.5),
)


def _label_counts(rate: float) -> Proof:
    epsilon = 1.0
    return prove(
        lambda counts: _exponential(rate * epsilon * np.array(counts)),
        list_counts_of(12, 3),
        replace_one,
        epsilon,
    )


MONOTONE_RATE_UNDER_REPLACE = Specimen(
    name="monotone rate under replace",
    claim="P(r) ∝ exp(ε·count) is ε-DP when a row is replaced, because counts are monotone",
    flaw="counts are monotone when rows are added or removed; a replaced row raises one and lowers another",
    source="found by enumeration",
    refute=lambda: _label_counts(1.0),
    repaired=lambda: _label_counts(0.5),
)
