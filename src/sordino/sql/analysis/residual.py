"""Residual sensitivity: the largest joins of the tables that remain, for every set of them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.sql.analysis.closure import NormalForm, find_equality_neighbours
from sordino.sql.analysis.components import drop_long_cycles, find_components
from sordino.sql.analysis.counting import describe_count
from sordino.sql.analysis.growth import Numbers, multiply_growths
from sordino.sql.analysis.patterns import list_subsets
from sordino.sql.analysis.reader import Asking, Reader
from sordino.sql.analysis.steps import Steps

_MOST_ALLOCATIONS = 1_000_000
_FITS = 1 << 62
# Sums of products of up to 16 factors in floating point are off by less than this.
_ROUND_UP = 1 + 2.0**-44

# New rows of each private table (by its number) to the power given → the joins of the positions that are left.
Monomial = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Residual:
    """Bounds from T_E, the largest number of results of joining the positions E for one value of their boundary.

    With κ_t new rows in table t a row at the positions X meets at most Σ over E' of T_{rest∖E'}·Π_{j∈E'} κ_t(j); B_k is
    the largest sum of that over the sets X of copies of the table, over all ways to spend k.

    **Guarantee**: as `Patterns`. Copies of a table share its κ and all X count (one row may serve several copies).
    **Source**: Dong & Yi 2021; conditions that are only partly decided by E are weakened to what E decides.
    A row meets no fewer combinations when a condition is dropped, so an equality that closes a long cycle may be
    dropped from the whole question. (Dropping it for some E alone would break B_{k+G}(x) ≥ B_k(y): a new row in E
    leaves E∖j, whose T must be of the same question.)
    Beyond the distance at which there are more than a million ways to spend, every term is spent for by itself: larger,
    and admissible too. A term of a neighbour's sum is at most the same term and those with one new row more, and their
    own maxima at k + G are no smaller than its at k. Across the seam the exact value at k is at most that at k + G,
    and this at most the larger one.
    **Numerics**: exact whole numbers below 2^62, else floating point rounded up by a relative 2⁻⁴⁴.
    """

    tables: tuple[str, ...]
    joins: dict[tuple[int, ...], tuple[int, ...]]
    monomials: dict[str, tuple[Monomial, ...]]
    reach: int

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int]]:
        """B_0, B_1, … per private table."""
        sizes = {E: math.prod(map(reader.largest, pieces)) for E, pieces in self.joins.items()}
        result = {}
        for table, monomials in self.monomials.items():
            terms = [(powers, sizes[E] * self.reach) for powers, E in monomials]
            result[table] = _largest_values(terms, [steps.cost(t) for t in self.tables], steps)
        return result


def prepare_residual(form: NormalForm, asking: Asking) -> Residual:
    """What to ask; long cycles are opened first, in the same place for every E."""
    form = drop_long_cycles(form, asking.most_joined + 1)
    neighbours = find_equality_neighbours(form)
    everything = range(len(form.occurrences))
    tables = tuple(dict.fromkeys(o.table for o in form.occurrences if o.private))
    joins: dict[tuple[int, ...], tuple[int, ...]] = {}
    monomials: dict[str, tuple[Monomial, ...]] = {}
    for table in tables:
        mine: list[Monomial] = []
        for at in list_subsets([j for j in everything if form.occurrences[j].table == table]):
            rest = [j for j in everything if j not in at]
            for new in [(), *list_subsets([j for j in rest if form.occurrences[j].private])]:
                left = tuple(j for j in rest if j not in new)
                grown = [form.occurrences[j].table for j in new]
                mine.append((tuple(grown.count(t) for t in tables), left))
                if left not in joins:
                    pieces = find_components(form, left, neighbours)
                    joins[left] = tuple(_place(form, piece, asking) for piece in pieces)
        monomials[table] = () if form.impossible else tuple(mine)
    return Residual(tables, joins, monomials, form.measure.reach)


def _place(form: NormalForm, piece: tuple[int, ...], asking: Asking) -> int:
    """Where T_E of a piece is found."""
    return asking.largest(describe_count(form, piece, form.boundary(piece))[0])


def _largest_values(
    terms: Sequence[tuple[tuple[int, ...], int]], costs: Sequence[int], steps: Steps
) -> list[int]:
    """max of Σ coefficient·Πκ^power over Σ cost·κ ≤ k, for k = 0..last."""
    live = [t for t in range(len(costs)) if any(powers[t] for powers, _ in terms)]
    if not live:
        return [sum(coefficient for _, coefficient in terms)] * (steps.last + 1)
    followed = _enumerable([costs[t] for t in live], steps.last)
    spent, rows = _allocations([costs[t] for t in live], followed)
    top = _value(terms, [followed // cost for cost in costs])
    kind = np.int64 if top < _FITS else np.float64
    total: NDArray[Any] = np.zeros(len(spent), dtype=kind)
    for powers, coefficient in terms:
        value: NDArray[Any] = np.full(len(spent), coefficient, dtype=kind)
        for axis, t in enumerate(live):
            value *= rows[:, axis].astype(kind) ** powers[t]
        total += value
    best = np.zeros(followed + 1, dtype=kind)
    np.maximum.at(best, spent, total)
    best = np.maximum.accumulate(best)
    exactly = [int(b) for b in best] if kind is np.int64 else [int(b * _ROUND_UP) + 1 for b in best]
    return (
        exactly
        if followed == steps.last
        else exactly + _term_by_term(terms, costs, steps.last)[followed + 1 :]
    )


def _enumerable(costs: Sequence[int], last: int) -> int:
    """The largest distance up to which all ways to spend can be looked at."""

    def ways(k: int) -> int:
        return math.prod(k // cost + i + 1 for i, cost in enumerate(costs)) // math.factorial(len(costs))

    return bisect_right(range(last + 1), _MOST_ALLOCATIONS, key=ways) - 1


def _term_by_term(terms: Sequence[tuple[tuple[int, ...], int]], costs: Sequence[int], last: int) -> list[int]:
    """Σ coefficient·max Πκ^power, each term with its own best way to spend, for k = 0..last: never less, and exact."""
    growths: dict[tuple[int, ...], Numbers] = {}
    total: Numbers = np.zeros(last + 1, dtype=object)
    for powers, coefficient in terms:
        if powers not in growths:
            growth: Numbers = np.array([1] * (last + 1), dtype=np.int64)
            for power, cost in zip(powers, costs, strict=True):
                if power:
                    rows = np.array([(k // cost) ** power for k in range(last + 1)], dtype=object)
                    growth = multiply_growths(rows, growth)
            growths[powers] = growth.astype(object)
        total = total + coefficient * growths[powers]
    return [int(value) for value in total]


def _value(terms: Sequence[tuple[tuple[int, ...], int]], rows: Sequence[int]) -> int:
    return sum(c * math.prod(r**p for r, p in zip(rows, powers, strict=True)) for powers, c in terms)


def _allocations(costs: Sequence[int], last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What is spent, and the rows of each table, of all ways to spend at most ``last``."""
    spent = np.zeros(1, dtype=np.int64)
    rows = np.zeros((1, 0), dtype=np.int64)
    for cost in costs:
        most = (last - spent) // cost
        start = np.repeat(np.arange(len(spent)), most + 1)
        first = np.repeat(np.cumsum(most + 1) - (most + 1), most + 1)
        here = np.arange(len(start)) - first
        spent = spent[start] + cost * here
        rows = np.column_stack([rows[start], here])
    return spent, rows
