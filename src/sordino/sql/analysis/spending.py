"""The best way to spend a distance on new rows of several tables."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.sql.analysis.growth import Numbers, multiply_growths

_MOST_WAYS = 1_000_000
_FITS = 1 << 62
# What is computed in floating point is off by less than this.
_ROUND_UP = 1 + 2.0**-44

# A coefficient ≥ 0, and the power of the new rows of each table.
Term = tuple[tuple[int, ...], int]


def find_largest_values(terms: Sequence[Term], costs: Sequence[int], last: int) -> list[int]:
    """max of P(κ) = Σ coefficient·Πκ^power over κ ≥ 0 with Σ cost·κ ≤ k, for k = 0..last.

    Two tables x, y of which P has no square need not be tried out: what the others leave for them, m, is spent best by
    a formula (`_spend_on_pair`). The ways to spend on the others, with m, are looked at one by one, up to the distance
    where there are more than a million (which the powers and the costs decide). Beyond, every term is spent for by
    itself: never less.
    **Numerics**: exact whole numbers where eight times the largest fits into 62 bits, else floating point rounded up
    by a relative 2⁻⁴⁴.
    """
    live = [t for t in range(len(costs)) if any(powers[t] for powers, _ in terms)]
    if not live:
        return [sum(coefficient for _, coefficient in terms)] * (last + 1)
    pair = _find_pair(terms, costs, live)
    tried = [t for t in live if t not in pair.tables] if pair else live
    paid = [*(costs[t] for t in tried), 1] if pair else [costs[t] for t in tried]
    followed = find_last_followed(paid, last, _MOST_WAYS // (pair.period if pair else 1))
    spent, rows = _list_ways(paid, followed)
    top = _value(terms, [followed // cost + 1 for cost in costs]) * 8 * (pair.margin if pair else 1)
    kind = np.int64 if top < _FITS else np.float64
    factors = _collect_factors(terms, tried, rows.astype(kind), pair)
    values = _spend_on_pair(factors, rows[:, -1], pair) if pair else factors[0]
    best = np.zeros(followed + 1, dtype=kind)
    np.maximum.at(best, spent, values)
    best = np.maximum.accumulate(best)
    exact = [int(b) for b in best] if kind is np.int64 else [int(b * _ROUND_UP) + 1 for b in best]
    return exact if followed == last else exact + _spend_term_by_term(terms, costs, last)[followed + 1 :]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two tables x, y and the costs of their rows.

    ``period`` rows of x cost as much as ``trade`` rows of y.
    """

    tables: tuple[int, int]
    costs: tuple[int, int]

    @property
    def period(self) -> int:
        return self.costs[1] // math.gcd(*self.costs)

    @property
    def trade(self) -> int:
        return self.costs[0] // math.gcd(*self.costs)

    @property
    def margin(self) -> int:
        return self.period * self.trade


def _find_pair(terms: Sequence[Term], costs: Sequence[int], live: Sequence[int]) -> _Pair | None:
    single = [t for t in live if all(powers[t] <= 1 for powers, _ in terms)]
    pairs = [_Pair((x, y), (costs[x], costs[y])) for x, y in permutations(single, 2)]
    return min(pairs, key=lambda pair: (pair.period, pair.trade), default=None)


def _collect_factors(
    terms: Sequence[Term], tried: Sequence[int], rows: NDArray[Any], pair: _Pair | None
) -> list[NDArray[Any]]:
    """Per way to spend on the tables tried: the factors of 1, x, y and xy (without a pair: of 1)."""
    factors: list[NDArray[Any]] = [np.zeros(len(rows), dtype=rows.dtype) for _ in range(4)]
    for powers, coefficient in terms:
        value: NDArray[Any] = np.full(len(rows), coefficient, dtype=rows.dtype)
        for axis, t in enumerate(tried):
            if powers[t]:
                value *= rows[:, axis] ** powers[t]
        factors[powers[pair.tables[0]] + 2 * powers[pair.tables[1]] if pair else 0] += value
    return factors


def _spend_on_pair(factors: Sequence[NDArray[Any]], left: NDArray[np.int64], pair: _Pair) -> NDArray[Any]:
    """max of a + bx + cy + dxy over whole x, y ≥ 0 that cost at most ``left``.

    Let x = r + pq with r < p, the period; then y = y₀ − hq with h, the trade, and y₀ what is left for y if x = r.
    From q to q + 1 the value changes by slope − bend·q with bend ≥ 0, so it is largest where that turns negative. No
    other q lies above the two lines that go on with the changes next to q; adding them keeps this an upper bound where
    q is off by rounding, and in whole numbers adds 0.
    """
    a, b, c, d = factors
    kind = a.dtype
    period, trade = pair.period, pair.trade
    best = np.zeros_like(a)
    for r in range(min(period, int(left.max()) // pair.costs[0] + 1)):
        rest = left - pair.costs[0] * r
        y0 = np.maximum(rest, 0) // pair.costs[1]
        most = (y0 // trade).astype(kind)
        slope = b * period - c * trade + d * (period * y0 - trade * r - period * trade).astype(kind)
        bend = 2 * period * trade * d
        turn = -(-slope // np.maximum(bend, 1))
        q = np.clip(np.where(bend > 0, turn, np.where(slope > 0, most, 0)), 0, most)
        x, y = r + period * q, y0.astype(kind) - trade * q
        value = a + b * x + c * y + d * (x * y)
        rise, fall = slope - bend * q, slope - bend * (q - 1)
        value = value + np.maximum(rise, 0) * (most - q) + np.maximum(-fall, 0) * q
        best = np.maximum(best, np.where(rest >= 0, value, 0))
    return best


def find_last_followed(costs: Sequence[int], last: int, most: int) -> int:
    """The largest distance up to which there are about ``most`` ways to spend at the most."""

    def ways(k: int) -> int:
        return math.prod(k // cost + i + 1 for i, cost in enumerate(costs)) // math.factorial(len(costs))

    return max(0, bisect_right(range(last + 1), most, key=ways) - 1)


def _spend_term_by_term(terms: Sequence[Term], costs: Sequence[int], last: int) -> list[int]:
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


def _value(terms: Sequence[Term], rows: Sequence[int]) -> int:
    return sum(c * math.prod(r**p for r, p in zip(rows, powers, strict=True)) for powers, c in terms)


def _list_ways(costs: Sequence[int], last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
