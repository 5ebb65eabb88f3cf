"""Information gain: how many bits the attribute saves in telling the classes of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sordino.core import PrivateDataError, UnsupportedError
from sordino.learn.criteria.criterion import Table
from sordino.learn.criteria.element_profile import Curve, make_curve, make_element_profile
from sordino.sensitivity import Profile

_MOST_ROWS = 1 << 27
_GRID_BITS = 30


def measure_jump(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """f(x) = (x+1)log2(x+1) − x log2 x, increasing, f(0) = 0, without cancellation."""
    safe = np.maximum(x, 1.0)
    exact = np.log2(safe + 1) + safe * np.log1p(1 / safe) / math.log(2)
    return np.where(x > 0, exact, 0.0)


class InformationGain:
    """u(A) = Σ_j Σ_c τ_jc log2(τ_jc/τ_j): minus the entropy of the class given the attribute, times the rows.

    With L(x) = x log2 x this is Σ L(τ_jc) − Σ L(τ_j), so a row added to a cell b of a value with a rows moves it by
    f(b) − f(a), where f(x) = L(x+1) − L(x) is increasing and b ≤ a: u is *monotone*, and one row moves it by at most
    f(N − 1) if neither neighbour has more than N rows.

    **Guarantee** (element sensitivity): `make_element_profile`, where a cell's part is f(a+t−2i−1) − f(b−i−1).
    **Requires**: public values and classes (two at least), public ``max_rows``.
    **Source**: LD §6.3; the print's Algorithm 5 stops too early (`docs/errata.md`), without the stop its recurrence is
    this closed form.
    **Numerics**: L is the sum of f rounded to a public grid, so scores are whole steps and exactly monotone.
    """

    name = "information_gain"
    monotone = True

    def most_rows(self, *, profiled: bool) -> int:
        """2²⁷: its logarithms are looked up in tables."""
        return _MOST_ROWS

    def scores(self, tables: Sequence[Table], max_rows: int) -> NDArray[np.float64]:
        """−rows·H(class | attribute), per attribute."""
        grid, sums = _curve(max_rows).grid, _sums(max_rows)
        rows = [table.sum(axis=1) for table in tables]
        if any(int(row.sum()) > max_rows for row in rows):
            raise PrivateDataError(f"a table has more rows than max_rows = {max_rows}")
        whole = [sums[table].sum() - sums[row].sum() for table, row in zip(tables, rows, strict=True)]
        return np.array(whole, dtype=np.float64) * grid

    def sensitivity(self, max_rows: int) -> float:
        """f(N − 1)."""
        return _curve(max_rows).bound * _curve(max_rows).grid

    def profile(self, tables: Sequence[Table], max_rows: int) -> Profile:
        """The element sensitivity of every attribute; its gap in closed form."""
        return make_element_profile(tables, _curve(max_rows))


@lru_cache(maxsize=4)
def _curve(max_rows: int) -> Curve:
    if max_rows > _MOST_ROWS:
        raise UnsupportedError(
            f"information gain is offered up to max_rows = {_MOST_ROWS}, got {max_rows}; "
            "criterion='max_operator' has no such limit"
        )
    jumps = measure_jump(np.arange(max(2, max_rows), dtype=np.float64))
    return make_curve(jumps, 2.0 ** (math.floor(math.log2(jumps[-1])) - _GRID_BITS), gini=False)


@lru_cache(maxsize=4)
def _sums(max_rows: int) -> NDArray[np.int64]:
    """L(0), L(1), … in whole steps of the grid: partial sums of f rounded."""
    table = _curve(max_rows)
    return np.concatenate([[0], np.cumsum(np.rint(table.jumps / table.grid).astype(np.int64))])
