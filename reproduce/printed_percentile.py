"""The percentile profile as printed: Algorithm 2's six candidate databases, for a whole column at once.

Not admissible (`docs/errata.md`); here only to repeat the published experiment. All six candidates replace the k-th
value again and again, so the sorted values around rank k are known without building a database.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Column:
    """Sorted values in [0, top], the rank k asked for, and each distinct value's first and last rank."""

    ordered: Floats
    k: int
    top: float
    distinct: Floats
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def value(self, rank: int) -> Floats:
        """The value at a rank, 0 before the first and ``top`` after the last."""
        inside = 0.0 if rank < 1 else self.top if rank > len(self.ordered) else self.ordered[rank - 1]
        return np.full(len(self.distinct), inside)

    def other(self, rank: int) -> Floats:
        """The same among the records other than r."""
        return np.where(rank < self.first, self.value(rank), self.value(rank + 1))


def printed_profile(values: Floats, k: int, top: float, *, lemma: bool) -> tuple[Floats, NDArray[np.intp]]:
    """δ(t, r) from the six candidates (rows: distinct values), and the row of every record.

    With ``lemma`` the sensitivity of each candidate is Lemma 10 as printed, otherwise the exact one.
    """
    ordered = np.sort(values)
    distinct, group_of = np.unique(values, return_inverse=True)
    column = Column(
        ordered,
        k,
        top,
        distinct,
        np.searchsorted(ordered, distinct, side="left") + 1,
        np.searchsorted(ordered, distinct, side="right"),
    )
    local = _lemma_10 if lemma else _local_sensitivity
    rows = [local(column, distinct, column.value(k - 1), column.value(k), column.value(k + 1))]
    for t in range(1, min(len(values) - k + 2, k + 1) + 1):
        found = [local(column, *candidate) for candidate in _candidates(column, t)]
        rows.append(np.maximum.reduce([rows[-1], *found]))
    return np.minimum(np.stack(rows, axis=1), top), group_of


def _candidates(c: Column, t: int) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """(x_r, x_{k−1}, x_k, x_{k+1}) of the candidates at distance t ≥ 1; the print's fourth equals its second."""
    again, k = t - 1, c.k
    raised, lowered = np.full(len(c.distinct), c.top), np.zeros(len(c.distinct))
    alone_at_k = (c.first >= k) & (c.last <= k)
    # of equal values another than r is replaced, so r itself goes only when no equal is left
    pushed_up = (c.first >= k) & (c.last <= k + again - 1)
    after_raise = ~alone_at_k & (c.last <= k + 1) & (c.first >= (k + 1 if again == 1 else k - again + 1))
    after_lower = ~alone_at_k & (c.first >= k - 1) & (c.last <= (k - 1 if again == 1 else k + again - 1))

    def without_k(rank: int) -> Floats:
        return c.value(rank) if rank < k else c.value(rank + 1)

    def with_zero_for_k(rank: int) -> Floats:
        return c.value(rank - 1) if rank <= k else c.value(rank)

    return [
        (raised, c.other(k - again - 1), c.other(k - again), c.other(k + 1)),
        (np.where(pushed_up, c.top, c.distinct), c.value(k - 1), c.value(k + again), c.value(k + again + 1)),
        (lowered, c.other(k - again - 2), c.other(k - again - 1), c.other(k)),
        (
            np.where(alone_at_k, c.top, np.where(after_raise & (again > 0), 0.0, c.distinct)),
            without_k(k - again - 1),
            without_k(k - again),
            without_k(k + 1),
        ),
        (
            np.where(alone_at_k, 0.0, np.where(after_lower & (again > 0), c.top, c.distinct)),
            with_zero_for_k(k - 1),
            with_zero_for_k(k + again),
            with_zero_for_k(k + again + 1),
        ),
    ]


def _lemma_10(c: Column, own: Floats, before: Floats, at: Floats, after: Floats) -> Floats:
    """LS(y, 0, r) as printed."""
    p = np.where(own == at, c.top - after, np.where(own < at, c.top + own - 3 * at + after, c.top - own))
    q = np.where(own == at, before, np.where(own < at, 3 * at - own - before, own))
    return np.maximum.reduce([np.abs(at - own), after - at, at - before, p, q])


def _local_sensitivity(c: Column, own: Floats, before: Floats, at: Floats, after: Floats) -> Floats:
    """LS(y, 0, r) exactly."""
    low = np.where(own < at, at, before)
    high = np.where(own <= at, after, at)

    def half(v: Floats, a: Floats, b: Floats, inner: bool) -> Floats:
        best = np.maximum(a - v, np.minimum(v, a - np.maximum(v - b, 0)))
        return np.maximum(best, b - np.maximum(a, v)) if inner else best

    up = half(own, low, high, c.k > 1)
    down = half(c.top - own, c.top - high, c.top - low, c.k < len(c.ordered))
    return np.maximum(up, down)
