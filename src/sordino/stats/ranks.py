"""Ranks: how many records lie below and up to every point of a public lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where the lattice points stand in the data, each record rounded to the nearest point."""

    low: Fraction
    step: Fraction
    below: NDArray[np.int64]  # records < point
    upto: NDArray[np.int64]  # records ≤ point
    records: int

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64], low: Fraction, step: Fraction) -> Ranks:
        """From the number of records at every point."""
        upto = np.cumsum(counts)
        return cls(low, step, upto - counts, upto, int(upto[-1]))

    @classmethod
    def of_column(
        cls, column: NDArray[np.float64], bounds: tuple[float, float], step: float, points: int
    ) -> Ranks:
        """From records within the bounds; ``points`` is the place of the last point."""
        # The same float function for every record, so rounding it cannot tell neighbours apart by more than one.
        low, high = bounds
        part = (
            0.5 if math.isinf(high - low) else 1.0
        )  # of bounds that are further apart than the largest float
        index = np.clip(np.rint((column * part - low * part) / (step * part)), 0, points).astype(np.int64)
        return cls.of_counts(np.bincount(index, minlength=points + 1), Fraction(low), Fraction(step))

    def value(self, index: int) -> float:
        """A point of the lattice."""
        return float(self.low + index * self.step)
