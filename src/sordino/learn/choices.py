"""Everything random that happens while a tree grows, behind one door.

`grow` asks a `Choices` and nothing else. `DrawnChoices` answers from the operating system's randomness; the proofs
answer with every possible outcome in turn, so that what is proved is the code that runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.learn.criteria import Table
from sordino.learn.splitting import Splitter
from sordino.mechanisms.noise.counts import add_count_noise
from sordino.mechanisms.selection import majority_labels, select

Counts = NDArray[np.int64]


class Choices(Protocol):
    """The three private questions of a tree, each with its own ε."""

    def attribute(self, tables: Sequence[Table], epsilon: Fraction) -> int:
        """The table whose attribute splits best."""

    def counts(self, exact: Counts, epsilon: Fraction) -> Counts:
        """Noisy counts of disjoint rows."""

    def labels(self, exact: Counts, epsilon: Fraction) -> Counts:
        """One label per group of disjoint rows, from its counts per class."""


@dataclass(frozen=True, slots=True)
class DrawnChoices:
    """Draws from the exact laws."""

    splitter: Splitter
    leaf_mechanism: str

    def attribute(self, tables: Sequence[Table], epsilon: Fraction) -> int:
        """The table whose attribute splits best."""
        return int(select(**self.splitter.question(tables, epsilon)).value)

    def counts(self, exact: Counts, epsilon: Fraction) -> Counts:
        """Noisy counts of disjoint rows."""
        return add_count_noise(exact, epsilon)

    def labels(self, exact: Counts, epsilon: Fraction) -> Counts:
        """One label per group of disjoint rows, from its counts per class."""
        return majority_labels(exact, epsilon, self.leaf_mechanism)
