"""The max operator: how many rows the best label of every value gets right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sordino.core import add_remove_row
from sordino.learn.criteria.criterion import MOST_ROWS, Table
from sordino.sensitivity import Profile


class MaxOperator:
    """u(A) = Σ_j max_c τ_jc.

    **Guarantee**: one row moves u by 0 or 1, and an added row never lowers it; both at every distance.
    **Source**: Friedman and Schuster 2010; monotone under add/remove only.
    **Numerics**: whole numbers.
    """

    name = "max_operator"
    monotone = True

    def most_rows(self, *, profiled: bool) -> int:
        """As many as can be selected by."""
        return MOST_ROWS

    def scores(self, tables: Sequence[Table], max_rows: int) -> NDArray[np.float64]:
        """Rows that the best labels get right, per attribute."""
        return np.array([table.max(axis=1).sum() for table in tables], dtype=np.float64)

    def sensitivity(self, max_rows: int) -> float:
        """1."""
        return 1.0

    def profile(self, tables: Sequence[Table], max_rows: int) -> Profile:
        """1 at every distance."""
        return Profile.constant(1.0, distance=add_remove_row())

    def margin(self, tables: Sequence[Table]) -> tuple[int, int]:
        """The winner (the first of the largest), and how many rows it certainly survives as the winner.

        One row moves the lead of the winner over another attribute by at most 1, so a lead of g (an earlier place in
        the public order counts as one more) survives g − 1 rows.
        """
        scores = self.scores(tables, 0)
        winner = int(scores.argmax())
        leads = scores[winner] - scores + (np.arange(len(scores)) > winner)
        leads[winner] = np.inf
        return winner, int(leads.min()) - 1 if len(scores) > 1 else 0
