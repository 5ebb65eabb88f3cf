"""Answers that cost more than they are charged: a free maximum, free comparisons, free parallel parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import tabulate_discrete_laplace
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import Counts, list_counts_of, replace_one

Floats = NDArray[np.float64]

_EPSILON = 1.0


def _unit_changes(values: Counts) -> Iterator[Counts]:
    for change in product((-1, 0, 1), repeat=len(values)):
        yield tuple(v + c for v, c in zip(values, change, strict=True))


# ---- the noisy maximum, value included ---------------------------------------------------------------------

_SCORED = 4
_REACH = 60


def _noisy_maximum(rate: float) -> Proof:
    """Law of (index, noisy maximum clamped to ±reach), ties to the first index; noise of the given rate."""

    def law(scores: Counts) -> Floats:
        mass = np.array([tabulate_discrete_laplace(1 / rate, s, -_REACH, _REACH) for s in scores])
        up_to = np.minimum(np.cumsum(mass, axis=1), 1.0)
        below = np.concatenate([np.zeros((_SCORED, 1)), up_to[:, :-1]], axis=1)
        joint = np.array(
            [mass[r] * np.prod([*below[:r], *up_to[r + 1 :]], axis=0) for r in range(_SCORED)]
        )  # fmt: skip
        flat: Floats = joint.ravel()
        return flat

    return prove(law, product(range(3), repeat=_SCORED), _unit_changes, _EPSILON, partial=True)


NOISY_MAXIMUM_VALUE = Specimen(
    name="noisy maximum released with its index",
    claim="report-noisy-max with Laplace noise 2Δ/ε may release the winning noisy score as well, for the same ε",
    flaw="only the index is paid for; a low maximum speaks for all d noisy scores at once and costs d·ε/2",
    source="Dwork and Roth 2014, Section 3.3 (index only); Ding et al. 2018 on detecting it",
    refute=lambda: _noisy_maximum(_EPSILON / 2),
    repaired=lambda: _noisy_maximum(_EPSILON / _SCORED),
)

# ---- sparse vector without noise on the queries ------------------------------------------------------------

_QUERIES = 4


def _sparse_vector(*, noisy_queries: bool) -> Proof:
    """Above-threshold answers of a few queries; the repaired one stops after the first answer above."""
    reach = 200
    thresholds = np.arange(-reach, reach + 1)

    def law(answers: Counts) -> dict[tuple[bool, ...], float]:
        prior = tabulate_discrete_laplace(2 / _EPSILON, 0, -reach, reach)
        law_of: dict[tuple[bool, ...], float] = {}
        if not noisy_queries:
            for threshold, mass in zip(thresholds.tolist(), prior.tolist(), strict=True):
                pattern = tuple(a >= threshold for a in answers)
                law_of[pattern] = law_of.get(pattern, 0.0) + mass
            return law_of
        still = prior
        for place, answer in enumerate(answers):
            noise = tabulate_discrete_laplace(4 / _EPSILON, answer, -2 * reach, 2 * reach)
            below = np.concatenate([[0.0], np.cumsum(noise)])[thresholds + 2 * reach]
            law_of[(False,) * place + (True,)] = float(still @ (1 - below))
            still = still * below
        law_of[(False,) * len(answers)] = float(still.sum())
        return law_of

    return prove(law, product(range(3), repeat=_QUERIES), _unit_changes, _EPSILON, partial=True)


SPARSE_VECTOR_BARE_QUERIES = Specimen(
    name="sparse vector with bare queries",
    claim="one noisy threshold, compared with any number of exact query answers, is ε-DP",
    flaw="two queries that change order across the threshold give answers the neighbour can never give",
    source="the variant without query noise in Lyu, Su, Li 2017, Figure 1",
    refute=lambda: _sparse_vector(noisy_queries=False),
    repaired=lambda: _sparse_vector(noisy_queries=True),
)

# ---- parallel composition under replace --------------------------------------------------------------------


def _histogram(scale: float) -> Proof:
    reach = 25

    def law(counts: Counts) -> Floats:
        one, two = (tabulate_discrete_laplace(scale, c, -reach, reach) for c in counts[:2])
        joint: Floats = np.outer(one, two).ravel()
        return joint

    return prove(law, list_counts_of(3, 3), replace_one, _EPSILON)


PARALLEL_UNDER_REPLACE = Specimen(
    name="parallel composition under replace",
    claim="ε-DP counts of disjoint parts are ε-DP together when a row is replaced",
    flaw="a replaced row leaves one part and enters another: two counts change and the loss is 2ε",
    source="McSherry 2009 proves it for rows added or removed",
    refute=lambda: _histogram(1 / _EPSILON),
    repaired=lambda: _histogram(2 / _EPSILON),
)
