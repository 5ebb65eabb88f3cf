"""The majority label of many disjoint groups of rows, each group's privately."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core.parameters import choice
from sordino.mechanisms.selection.select import select, selection_law
from sordino.sampling.geometric import geometric
from sordino.sampling.source import random_below
from sordino.sensitivity import Profile

Counts = NDArray[np.int64]

MAJORITY_MECHANISMS = ("permute_and_flip", "exponential", "local_dampening", "smooth_noisy_max")


def majority_labels(counts: Counts, epsilon: Fraction, mechanism: str = "permute_and_flip") -> Counts:
    """For every group (a row of ``counts``, one column per label) a label that many of its rows have.

    **Guarantee**: ε-DP for one row added or removed.
    **Requires**: every row is in at most one group; the labels are public.
    ``mechanism``: permute_and_flip and exponential on the counts themselves (sensitivity 1, and they all move the same
    way, so e^(ε·count)); local_dampening and smooth_noisy_max on the utility that is 1 for the majority label and 0
    for the others, with the number of rows that the majority survives.
    **Source**: permute-and-flip is the largest of counts plus exponential noise. Of an exponential variable the whole
    part is geometric and the rest independent of it, so it is the largest of counts plus *geometric* noise with ties
    broken by a fair draw: exact whole numbers, all groups at once.
    """
    choice("mechanism", mechanism, MAJORITY_MECHANISMS)
    if mechanism == "permute_and_flip":
        noisy = counts + geometric(epsilon, counts.size).reshape(counts.shape)
        return _fair_largest(noisy)
    return np.array([select(**_question(row, epsilon, mechanism)).value for row in counts], dtype=np.int64)


def majority_law(
    counts: Counts, epsilon: Fraction, mechanism: str = "permute_and_flip"
) -> NDArray[np.float64]:
    """ln P(label) for one group."""
    choice("mechanism", mechanism, MAJORITY_MECHANISMS)
    return selection_law(log=True, **_question(counts, epsilon, mechanism))


def majority_margin(counts: Counts) -> tuple[int, int]:
    """The majority label (the first of the largest) and how many added or removed rows it survives as such."""
    winner = int(counts.argmax())
    leads = counts[winner] - counts + (np.arange(len(counts)) > winner)
    return winner, int(np.delete(leads, winner).min()) - 1


def _question(counts: Counts, epsilon: Fraction, mechanism: str) -> dict[str, Any]:
    """The arguments of `select` for one group."""
    asked: dict[str, Any] = {"mechanism": mechanism, "epsilon": epsilon}
    if mechanism in ("permute_and_flip", "exponential"):
        return asked | {"scores": counts, "profile": 1.0, "monotone": True}
    winner, margin = majority_margin(counts)
    utilities = (np.arange(len(counts)) == winner).astype(np.float64)
    asked |= {"scores": utilities, "profile": Profile.from_table(np.zeros(margin), bound=1.0)}
    return asked | ({"noise": "winner"} if mechanism == "smooth_noisy_max" else {})


def _fair_largest(values: Counts) -> Counts:
    """The column of every row's largest value; ties are broken uniformly."""
    tied = values == values.max(axis=1, keepdims=True)
    labels: Counts = tied.argmax(axis=1)
    for row in np.flatnonzero(tied.sum(axis=1) > 1).tolist():
        candidates = np.flatnonzero(tied[row])
        labels[row] = candidates[random_below(len(candidates))]
    return labels
