"""The Gini criterion: how many pairs of rows of one value differ in class, per row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError
from sordino.learn.criteria.criterion import Table
from sordino.learn.criteria.element_profile import Curve, make_curve, make_element_profile
from sordino.sensitivity import Profile

_MOST_ROWS = 1 << 26  # squares are exact in double precision
_GRID_BITS = 30


class Gini:
    """u(A) = −Σ_j (τ_j² − Σ_c τ_jc²)/τ_j: minus the rows of each value times its Gini impurity.

    A row added to a cell of b rows, in a value that has m rows of other classes, Q = Σ τ² over these classes, and
    a = b + m rows in all, moves u by −(m² + Q)/(a(a+1)). So u is *monotone*, and as Q ≤ m² one row moves it by at most
    2m²/(a(a+1)) ≤ 2(N−1)/N if neither neighbour has more than N rows; all rows in another class attain it.

    **Guarantee** (element sensitivity): `make_element_profile` with f(x) = 2x/(x+1), where a cell's part is
    2p²/(n(n−1)), p = a−b+t−i, n = a+t−2i: exact for two classes; for more, the other classes are taken together,
    which is an admissible upper bound.
    **Source**: sensitivity 2 in Friedman and Schuster 2010; that it is monotone, and the profile, are ours.
    **Numerics**: a quotient of exact whole numbers, rounded once and then down to a public grid: both are monotone
    functions of the true quotient, so the score stays monotone.
    """

    name = "gini"
    monotone = True

    def scores(self, tables: Sequence[Table], max_rows: int) -> NDArray[np.float64]:
        """Minus the weighted impurity, per attribute."""
        grid = _curve(max_rows).grid
        return np.array([-grid * _impurity(table, grid) for table in tables])

    def sensitivity(self, max_rows: int) -> float:
        """2(N − 1)/N."""
        return _curve(max_rows).bound * _curve(max_rows).grid

    def profile(self, tables: Sequence[Table], max_rows: int) -> Profile:
        """The element sensitivity of every attribute; its gap in closed form."""
        return make_element_profile(tables, _curve(max_rows))


def _impurity(table: Table, grid: float) -> int:
    rows = table.sum(axis=1)
    pairs = rows * rows - (table * table).sum(axis=1)
    return int(np.floor(pairs / np.maximum(rows, 1) / grid).astype(np.int64).sum())


@lru_cache(maxsize=4)
def _curve(max_rows: int) -> Curve:
    if max_rows > _MOST_ROWS:
        raise UnsupportedError(
            f"gini is offered up to max_rows = {_MOST_ROWS}, got {max_rows}; "
            "criterion='max_operator' has no such limit"
        )
    x = np.arange(max(2, max_rows), dtype=np.float64)
    # quotients of up to N/2 keep this many bits behind the point; two roundings of less than a step are paid for
    grid = 2.0 ** -min(_GRID_BITS, 50 - math.ceil(math.log2(max_rows + 1)))
    return make_curve(2 * x / (x + 1) + 2 * grid, grid, gini=True)
