"""The Gini criterion: how many pairs of rows of one value differ in class, per row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError
from sordino.learn.criteria.criterion import MOST_ROWS, Table
from sordino.learn.criteria.element_profile import Curve, make_curve, make_element_profile
from sordino.sensitivity import Profile

_FEW_ROWS = 1 << 26  # squares are exact in double precision; tables of so many numbers fit memory
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
    functions of the true quotient, so the score stays monotone. Where ``max_rows`` allows more than 2²⁶ rows the
    quotient is rounded down in whole numbers instead; which of the two is done is public.
    """

    name = "gini"
    monotone = True

    def most_rows(self, *, profiled: bool) -> int:
        """2²⁶ with a profile, which is looked up in tables."""
        return _FEW_ROWS if profiled else MOST_ROWS

    def scores(self, tables: Sequence[Table], max_rows: int) -> NDArray[np.float64]:
        """Minus the weighted impurity, per attribute."""
        grid = _grid(max_rows)
        impurity = _impurity if max_rows <= _FEW_ROWS else _exact_impurity
        return np.array([-grid * impurity(table, grid) for table in tables])

    def sensitivity(self, max_rows: int) -> float:
        """2(N − 1)/N."""
        grid = _grid(max_rows)
        return math.ceil(float(_jump(max(2, max_rows) - 1, grid)) / grid) * grid

    def profile(self, tables: Sequence[Table], max_rows: int) -> Profile:
        """The element sensitivity of every attribute; its gap in closed form."""
        return make_element_profile(tables, _curve(max_rows))


def _impurity(table: Table, grid: float) -> int:
    rows = table.sum(axis=1)
    pairs = rows * rows - (table * table).sum(axis=1)
    return int(np.floor(pairs / np.maximum(rows, 1) / grid).astype(np.int64).sum())


def _exact_impurity(table: Table, grid: float) -> int:
    steps = round(1 / grid)
    cells: list[list[int]] = table.tolist()
    return sum((sum(row) ** 2 - sum(cell**2 for cell in row)) * steps // max(sum(row), 1) for row in cells)


def _grid(max_rows: int) -> float:
    """Quotients of up to N/2 keep as many bits behind the point as doubles hold."""
    if max_rows > MOST_ROWS:
        raise UnsupportedError(
            f"gini is offered up to max_rows = {MOST_ROWS}, got {max_rows}; "
            "criterion='max_operator' has no such limit"
        )
    return float(2.0 ** -min(_GRID_BITS, 50 - math.ceil(math.log2(max_rows + 1))))


def _jump(x: Any, grid: float) -> Any:
    """f(x); two roundings of less than a step are paid for."""
    return 2 * x / (x + 1) + 2 * grid


@lru_cache(maxsize=4)
def _curve(max_rows: int) -> Curve:
    if max_rows > _FEW_ROWS:
        raise UnsupportedError(
            f"the element sensitivity of gini is offered up to max_rows = {_FEW_ROWS}, got {max_rows}; "
            "selection='permute_and_flip' has no such limit"
        )
    grid = _grid(max_rows)
    return make_curve(_jump(np.arange(max(2, max_rows), dtype=np.float64), grid), grid, gini=True)
