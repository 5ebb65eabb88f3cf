"""Metric: a score of every node with what one flipped edge can do to it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.graph import Graph
from sordino.sensitivity import Profile


@runtime_checkable
class Metric(Protocol):
    """A node score under edge privacy. Monotone ones need half the noise of undampened mechanisms.

    >>> from sordino.graphs import METRICS, Metric
    >>> isinstance(METRICS["degree"], Metric), METRICS["degree"].monotone
    (True, True)
    """

    @property
    def name(self) -> str:
        """The name that callers use."""

    @property
    def monotone(self) -> bool:
        """Whether adding an edge never lowers any score."""

    def scores(self, graph: Graph) -> NDArray[np.float64]:
        """The score of every node."""

    def profile(self, graph: Graph, max_degree: int) -> Profile:
        """An admissible profile of every node's score among graphs whose degrees are at most ``max_degree``."""
