"""Results that several units own: how much of them remains when no unit may take part in more than tau.

f(tau) = max Σ x_j over 0 ≤ x_j ≤ w_j with Σ_{j ∋ u} x_j ≤ tau for every unit u. `gather_results` merges results with
equal owners; `settle_results` takes what every best choice may take, until only results of two or more units that may
be full remain; `flows.py` and `linear_programme.py` finish those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import EngineError, ParameterError

Whole = NDArray[np.int64]

# Weights are cut at tau first, so tau times the number of results bounds every sum: it stays within 64 bits.
LARGEST_SUM = 1 << 62
_EXACT_IN_FLOAT = 1 << 53
# A round that settles less than this share of what is left is the last: the solver is faster than peeling leaf by leaf.
_LEAST_PROGRESS = 1 / 64


@dataclass(frozen=True, slots=True)
class SharedResults:
    """Results with their owners as dense numbers; whatever is in here is private.

    ``owners`` has one row per result and names each owner once; places that are left over name ``len(limited)``, whom
    nothing limits. ``limited[u]`` is the capacity of u where it is not tau: 1 for a value that is counted once, else 0.
    """

    owners: Whole
    weights: Whole
    limited: Whole

    def __repr__(self) -> str:
        return "SharedResults(<secret>)"

    def __len__(self) -> int:
        return len(self.weights)

    def cut(self, most: int) -> SharedResults:
        """The same with no weight above ``most``: results with the same owners come and go together."""
        return replace(self, weights=np.minimum(self.weights, most))

    @property
    def most(self) -> int:
        """What no limit leaves more of: all values once, or all weights."""
        return int(self.limited.sum()) if self.limited.any() else sum(self.weights.tolist())


@dataclass(frozen=True, slots=True)
class OpenResults:
    """What is left to decide: results of two or more units, and what each unit may still take; ``settled`` is taken."""

    settled: int
    owners: Whole
    weights: Whole
    capacities: Whole

    def __repr__(self) -> str:
        return "OpenResults(<secret>)"


def gather_results(
    owners: Sequence[ArrayLike],
    weights: ArrayLike | None = None,
    *,
    values: ArrayLike | None = None,
    most_results: int | None = None,
) -> SharedResults:
    """Merge grouped results by their owners: one array of codes per owner column, and whole weights ≥ 0.

    Equal codes in one result are one owner; codes of different entities must differ. With ``values``, results count
    the distinct values they hold: a value has a code of its own, and counts once however many results have it.

    Raises `EngineError` for more than ``most_results`` results. Their number is private, and so is whether this
    happens: the caller treats it as a database that failed after the question was paid for.
    """
    columns = [np.asarray(column, dtype=np.int64) for column in owners]
    if not columns:
        raise ParameterError("results need at least one column of owners")
    size = len(columns[0])
    if most_results is not None and size > most_results:
        raise EngineError("there are more results with several owners than can be shared out")
    table, units = _number_codes(np.stack(columns, axis=1))
    limited = np.zeros(units, dtype=np.int64)
    amounts = np.ones(size, dtype=np.int64) if weights is None else np.asarray(weights, dtype=np.int64)
    if values is not None:
        held, count = _number_codes(np.asarray(values, dtype=np.int64)[:, None])
        table = np.concatenate([table, held + units], axis=1)
        limited = np.concatenate([limited, np.ones(count, dtype=np.int64)])
    if amounts.shape != (size,) or len(table) != size:
        raise ParameterError("owners, weights and values must have one entry per result")
    if size and amounts.min() < 0:
        raise ParameterError(
            "weights must be >= 0: split signed values into their positive and negative parts"
        )
    table, amounts = merge_equal(_name_once(table, len(limited)), amounts)
    return SharedResults(table, amounts, limited)


def settle_results(results: SharedResults, tau: int) -> OpenResults:
    """Take what some best choice takes for certain; the value of the whole is ``settled`` plus that of what is open.

    A unit that could take all its results without being full limits nobody and is forgotten. A result with one unit
    left fills that unit alone, so it goes first: moving capacity to it from a shared result never loses. Both make
    further units and results simple, and a tree of owners is settled to its root.
    """
    if tau * max(1, len(results)) >= LARGEST_SUM:
        raise EngineError("sums of results with several owners do not fit into 64 bits")
    nobody = len(results.limited)
    capacities = np.where(results.limited > 0, results.limited, tau)
    capacities = np.append(capacities, LARGEST_SUM)
    owners, weights, settled = results.owners.copy(), results.weights, 0
    while len(weights):
        weights = np.minimum(weights, capacities[owners].min(axis=1))
        forgotten = sum_by_unit(owners, weights, nobody + 1) <= capacities
        forgotten[nobody] = True
        owners[forgotten[owners]] = nobody
        left = np.count_nonzero(owners != nobody, axis=1)
        settled += int(weights[left == 0].sum())
        alone = left == 1
        taken = sum_by_unit(owners[alone].min(axis=1, initial=nobody)[:, None], weights[alone], nobody + 1)
        taken = np.minimum(taken, capacities)
        settled += int(taken.sum())
        capacities = capacities - taken
        kept = (left > 1) & (weights > 0)
        settled_share = 1 - np.count_nonzero(kept) / len(kept)
        owners, weights = owners[kept], weights[kept]
        if settled_share < _LEAST_PROGRESS:
            break
    # The last round may have left a unit without capacity: its results are zero.
    weights = np.minimum(weights, capacities[owners].min(axis=1, initial=LARGEST_SUM))
    return OpenResults(settled, owners[weights > 0], weights[weights > 0], capacities)


def _number_codes(table: Whole) -> tuple[Whole, int]:
    codes, places = np.unique(table, return_inverse=True)
    return places.reshape(table.shape).astype(np.int64), len(codes)


def _name_once(table: Whole, nobody: int) -> Whole:
    """Each row in order, every owner once, ``nobody`` in the places of repetitions."""
    rows = np.sort(table, axis=1)
    repeated = np.zeros(rows.shape, dtype=bool)
    repeated[:, 1:] = rows[:, 1:] == rows[:, :-1]
    rows[repeated] = nobody
    rows.sort(axis=1)
    return rows


def merge_equal(table: Whole, weights: Whole) -> tuple[Whole, Whole]:
    """Results with the same owners as one; those that weigh nothing are left out."""
    table, weights = table[weights > 0], weights[weights > 0]
    if not len(table):
        return table, weights
    order = _order_rows(table)
    table, weights = table[order], weights[order]
    first = np.concatenate([[True], (table[1:] != table[:-1]).any(axis=1)])
    if first.all():
        return table, weights
    # A merged weight may outgrow 64 bits, where it is cut: no tau is that large.
    starts = np.flatnonzero(first)
    if int(weights.max()) * len(weights) < LARGEST_SUM:
        return table[starts], np.add.reduceat(weights, starts)
    sums = [sum(part.tolist()) for part in np.split(weights, starts[1:])]
    return table[starts], np.array([min(total, LARGEST_SUM) for total in sums], dtype=np.int64)


def _order_rows(table: Whole) -> NDArray[np.intp]:
    """An order in which equal rows are neighbours: by one number for each row where that fits into 64 bits."""
    names = int(table.max()) + 1
    if names ** table.shape[1] >= LARGEST_SUM:
        return np.lexsort(table.T)
    return np.argsort(table @ np.array([names**place for place in range(table.shape[1])]), kind="stable")


def sum_by_unit(owners: Whole, weights: Whole, units: int) -> Whole:
    """The weight of each unit's results."""
    repeated = np.repeat(weights, owners.shape[1])
    if not len(weights) or int(weights.max()) * owners.size < _EXACT_IN_FLOAT:
        return np.bincount(owners.ravel(), weights=repeated, minlength=units).astype(np.int64)
    totals = np.zeros(units, dtype=np.int64)
    np.add.at(totals, owners.ravel(), repeated)
    return totals
