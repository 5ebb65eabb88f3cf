"""The majority label of many disjoint groups of rows, each group's privately."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core.parameters import choice
from sordino.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sordino.mechanisms.selection.registry import MECHANISMS, mechanism_names
from sordino.mechanisms.selection.select import select, selection_law
from sordino.sampling.geometric import draw_geometric
from sordino.sampling.source import random_below
from sordino.sensitivity import Profile

Counts = NDArray[np.int64]

# all but those that sum a profile: of one that all labels share, that changes nothing
MAJORITY_MECHANISMS = mechanism_names(lambda traits: traits.reads != "sum")


def majority_labels(counts: Counts, epsilon: Fraction, mechanism: str = PermuteAndFlip.name) -> Counts:
    """For every group (a row of ``counts``, one column per label) a label that many of its rows have.

    **Guarantee**: ε-DP for one row added or removed.
    **Requires**: every row is in at most one group; the labels are public.
    ``mechanism``: those of `select`. The ones that use a bound alone choose by the counts themselves (sensitivity 1,
    and they all move the same way, so e^(ε·count)); the ones that follow a profile by the utility that is 1 for the
    majority label and 0 for the others, with the number of rows that the majority survives. There ties go to the first
    label in an order that is drawn anew for every group, without a look at it: a fixed one would give all empty groups
    one label.
    **Source**: permute-and-flip is the largest of counts plus exponential noise. Of an exponential variable the whole
    part is geometric and the rest independent of it, so it is the largest of counts plus *geometric* noise with ties
    broken by a fair draw: exact whole numbers, all groups at once.
    """
    choice("mechanism", mechanism, MAJORITY_MECHANISMS)
    if counts.shape[1] == 1:  # the one label, whatever the rows
        return np.zeros(len(counts), dtype=np.int64)
    if mechanism == PermuteAndFlip.name:
        noisy = counts + draw_geometric(epsilon, counts.size).reshape(counts.shape)
        return _fair_largest(noisy)
    labels = np.empty(len(counts), dtype=np.int64)
    for group, row in enumerate(counts):
        order = (
            _random_order(len(row)) if MECHANISMS[mechanism].traits.follows_profile else np.arange(len(row))
        )
        labels[group] = order[select(**_question(row[order], epsilon, mechanism)).value]
    return labels


def majority_law(
    counts: Counts, epsilon: Fraction, mechanism: str = PermuteAndFlip.name
) -> NDArray[np.float64]:
    """ln P(label) for one group."""
    choice("mechanism", mechanism, MAJORITY_MECHANISMS)
    if len(counts) == 1:
        return np.zeros(1)
    if not MECHANISMS[mechanism].traits.follows_profile:
        return selection_law(log=True, **_question(counts, epsilon, mechanism))
    law = np.zeros(len(counts))
    for chance, order in _orders_that_differ(counts):
        ordered = selection_law(**_question(counts[order], epsilon, mechanism))
        law[order] += chance * ordered
    return np.log(law)


def majority_margin(counts: Counts) -> tuple[int, int]:
    """The majority label (the first of the largest) and how many added or removed rows it survives as such."""
    winner = int(counts.argmax())
    leads = counts[winner] - counts + (np.arange(len(counts)) > winner)
    return winner, int(np.delete(leads, winner).min()) - 1


def _orders_that_differ(counts: Counts) -> list[tuple[float, NDArray[np.intp]]]:
    """Orders of the labels with their chances, one for each (winner, margin) that a uniform order can give.

    Of m labels with the largest count each comes first equally often, and then survives nothing. A single one
    survives a row more where it comes before all r labels of the second largest count: in one of r + 1 orders.
    """
    falling = np.argsort(-counts, kind="stable")
    top = falling[counts[falling] == counts.max()]
    if len(top) > 1:
        others = [np.append(first, np.delete(falling, np.flatnonzero(falling == first))) for first in top]
        return [(1 / len(top), order) for order in others]
    second = int((counts == counts[falling[1]]).sum())
    last = np.append(falling[1:], falling[0])
    return [(1 / (second + 1), falling), (second / (second + 1), last)]


def _question(counts: Counts, epsilon: Fraction, mechanism: str) -> dict[str, Any]:
    """The arguments of `select` for one group, whose labels stand in the order that breaks ties."""
    asked: dict[str, Any] = {"mechanism": mechanism, "epsilon": epsilon}
    if not MECHANISMS[mechanism].traits.follows_profile:
        return asked | {"scores": counts, "profile": 1.0, "monotone": True, "step": 1.0}
    winner, margin = majority_margin(counts)
    utilities = (np.arange(len(counts)) == winner).astype(np.float64)
    asked |= {"scores": utilities, "profile": _zero_until(margin)}
    return asked | dict(MECHANISMS[mechanism].traits.winner or {})


def _zero_until(margin: int) -> Profile:
    """0 for so many changes and 1 from then on, without a table of that many zeros."""
    return Profile(1, 1.0, margin, lambda start, stop: np.zeros((1, stop - start)))


def _random_order(size: int) -> NDArray[np.intp]:
    """A uniform permutation."""
    order = np.arange(size)
    for place in range(size - 1, 0, -1):
        other = random_below(place + 1)
        order[[place, other]] = order[[other, place]]
    return order


def _fair_largest(values: Counts) -> Counts:
    """The column of every row's largest value; ties are broken uniformly."""
    tied = values == values.max(axis=1, keepdims=True)
    labels: Counts = tied.argmax(axis=1)
    for row in np.flatnonzero(tied.sum(axis=1) > 1).tolist():
        candidates = np.flatnonzero(tied[row])
        labels[row] = candidates[random_below(len(candidates))]
    return labels
