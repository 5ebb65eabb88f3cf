"""The seam between a contingency table and the selection of a split: one entry per criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.sensitivity import Profile

# Scores of more rows could leave the grid of a selection, which holds 2^30 times the sensitivity.
MOST_ROWS = 1 << 30

Table = NDArray[np.int64]
"""Counts of the rows of one node: τ[j, c] for every public value j of an attribute and every public class c."""


class Criterion(Protocol):
    """How good an attribute splits a node: larger is better.

    One row added or removed changes one cell by one in the table of *every* attribute at once; scores and profiles
    are per attribute, so that is all they need to know.
    """

    name: str
    monotone: bool
    """Adding a row never raises any score."""

    def most_rows(self, *, profiled: bool) -> int:
        """The largest ``max_rows`` that is served, with `profile` or with `sensitivity` alone."""

    def scores(self, tables: Sequence[Table], max_rows: int) -> NDArray[np.float64]:
        """One score per attribute, on a public grid that ``max_rows`` decides."""

    def sensitivity(self, max_rows: int) -> float:
        """The most that one row can move any score, where no table holds more than ``max_rows`` rows."""

    def profile(self, tables: Sequence[Table], max_rows: int) -> Profile:
        """The sensitivity of each attribute's score, t rows away from these tables."""
