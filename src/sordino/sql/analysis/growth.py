"""How far the counts of a join can grow within k changes of rows, and up to which k one has to look."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError

# Whole numbers: int64, or Python's own where 64 bits might not hold them.
Numbers = NDArray[Any]

_MOST_STEPS = 20_000
_PIVOTS = 256
_FEW = 8
_BLOCK = 1 << 13
_FITS = 1 << 62


def find_unit(weights: Iterable[Fraction]) -> Fraction:
    """The largest unit of which all weights are whole multiples; 1 if there are none."""
    unit = Fraction(0)
    for weight in weights:
        unit = Fraction(
            math.gcd(unit.numerator * weight.denominator, weight.numerator * unit.denominator),
            unit.denominator * weight.denominator,
        )
    return unit or Fraction(1)


def find_horizon(budgets: Iterable[tuple[Fraction, int]], beta: float, unit: Fraction) -> int:
    """The number of lattice steps after which e^(−βk) times a count's growth only falls.

    ``budgets``: weight and copies of each private table that can grow.

    **Guarantee**: let P be a polynomial with coefficients ≥ 0 in κ_t, of degree ≤ c_t in each, and B(k) the maximum of
    P over ΣG_tκ_t ≤ k. For every k ≥ K there is a table with e^(−βk)B(k) ≤ e^(−β(k−G_t))B(k−G_t), for this β and all
    larger ones. *Proof*: among m tables some t has κ_t ≥ k/(mG_t); one row of t less leaves at least
    (1 − 1/κ_t)^(c_t) ≥ e^(−βG_t) of every monomial. Maxima and sums over such P keep it.
    """
    found = list(budgets)
    stop = 0.0
    for weight, copies in found:
        fall = -math.expm1(-beta * float(weight) / copies)
        stop = max(stop, len(found) * float(weight) / fall if fall > 0 else math.inf)
    steps = stop / float(unit) * (1 + 2**-40)
    if steps > _MOST_STEPS:
        raise UnsupportedError(
            f"{steps:.3g} distances would have to be followed at beta = {beta:g} with a unit of {float(unit):g}: "
            "ask with a larger epsilon, or give the tables weights with a larger common unit"
        )
    return math.ceil(steps)


def keep_undominated(vectors: Numbers) -> Numbers:
    """Rows that no other row dominates; a few dominated ones may stay when there are very many rows."""
    if len(vectors) <= 1:
        return vectors
    if len(vectors) <= _FEW:
        rows = list(dict.fromkeys(map(tuple, vectors.tolist())))
        best = [row for row in rows if not any(_dominates(other, row) for other in rows)]
        return np.array(best, dtype=vectors.dtype)
    rest = np.unique(vectors, axis=0) if vectors.dtype != object else vectors
    kept: list[Numbers] = []
    while len(rest) and len(kept) < _PIVOTS:
        pivot = rest[np.argmax(np.log1p(rest.astype(np.float64)).sum(axis=1))]
        kept.append(pivot)
        rest = rest[(rest > pivot).any(axis=1)]
    return np.concatenate([np.array(kept, dtype=vectors.dtype).reshape(-1, vectors.shape[1]), rest])


def _dominates(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def grow_count(
    count: Numbers,
    n: Numbers,
    tables: Sequence[int],
    costs: Sequence[int],
    *,
    factor: int,
    steps: int,
) -> Numbers:
    """A(k) = max over vectors of count + factor · (max Π(n_j + κ_t(j)) − Πn_j), Σ cost_t κ_t ≤ k, for k = 0..steps.

    ``count`` (v,), ``n`` (v, positions); ``tables``: which table each position belongs to, −1 for one that never grows;
    copies of a table share its κ, since one new row enters all of them.

    **Guarantee** (for counts with 0 ≤ count ≤ factor·Πn, of which a new row adds at most factor·(Πn' − Πn)):
    A(k + cost_t) of a database ≥ A(k) of the same with one row of t more or less.
    **Numerics**: exact; whole numbers of 64 bits where the largest value fits, of any size otherwise.
    """
    result = _zeros(steps, _fits(_largest(n) + steps, n.shape[1], factor, _largest(count)))
    for start in range(0, len(count), _BLOCK):
        block = slice(start, start + _BLOCK)
        mine, sizes = count[block].astype(result.dtype), n[block].astype(result.dtype)
        products = _products(sizes, tables, costs, steps)
        values = mine[:, None] + factor * (products - products[:, :1])
        result = np.maximum(result, values.max(axis=0))
    return result


def multiply_growths(one: Numbers, two: Numbers) -> Numbers:
    """max over i + j = k of one[i]·two[j]: two factors that grow by rows of different tables."""
    result = _zeros(len(one) - 1, _largest(one) * max(1, _largest(two)) < _FITS)
    one, two = one.astype(result.dtype), two.astype(result.dtype)
    if (one == one[0]).all():
        constant: Numbers = one[0] * np.maximum.accumulate(two)
        return constant
    for i in range(len(one)):
        np.maximum(result[i:], one[i] * two[: len(two) - i], out=result[i:])
    return result


def add_growths(sequences: Sequence[Numbers], steps: int) -> Numbers:
    """The sum, exact."""
    total = _zeros(steps, sum(_largest(s) for s in sequences) < _FITS)
    for sequence in sequences:
        total = total + sequence.astype(total.dtype)
    return total


def make_whole_numbers(rows: Sequence[Sequence[int]], width: int) -> Numbers:
    """Rows of whole numbers as an array that holds them exactly."""
    small = all(value < _FITS for row in rows for value in row)
    return np.array(rows, dtype=np.int64 if small else object).reshape(-1, width)


def _products(n: Numbers, tables: Sequence[int], costs: Sequence[int], steps: int) -> Numbers:
    """The largest Π(n_j + κ_t(j)) for k = 0..steps, per row of ``n``."""
    live = sorted({t for t in tables if t >= 0})
    still = [j for j, t in enumerate(tables) if t < 0]
    best = np.repeat(n[:, still].prod(axis=1, dtype=n.dtype)[:, None], steps + 1, axis=1)
    for t in live:
        mine = [j for j, owner in enumerate(tables) if owner == t]
        rows = np.arange(steps // costs[t] + 1).astype(n.dtype)
        gain = (n[:, mine, None] + rows).prod(axis=1, dtype=n.dtype)
        best = _shared(best, gain, costs[t])
    return best


def _shared(best: Numbers, gain: Numbers, cost: int) -> Numbers:
    """max over κ of best[k − cost·κ]·gain[κ]."""
    if (best == best[:, :1]).all():
        spread: Numbers = np.repeat(gain, cost, axis=1)[:, : best.shape[1]] * best[:, :1]
        return spread
    result = best * gain[:, :1]
    for row in range(1, gain.shape[1]):
        spent = row * cost
        np.maximum(
            result[:, spent:],
            best[:, : best.shape[1] - spent] * gain[:, row : row + 1],
            out=result[:, spent:],
        )
    return result


def _largest(array: Numbers) -> int:
    return int(array.max()) if array.size else 0


def _fits(size: int, positions: int, factor: int, count: int) -> bool:
    return bool(count + max(1, factor) * max(1, size) ** positions < _FITS)


def _zeros(steps: int, small: bool) -> Numbers:
    if small:
        return np.zeros(steps + 1, dtype=np.int64)
    return np.array([0] * (steps + 1), dtype=object)
