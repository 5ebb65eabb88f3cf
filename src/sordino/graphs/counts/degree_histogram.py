"""How many nodes have each degree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy  # its parts load when they are first used
from numpy.typing import NDArray

from sordino.core import Guarantee, Loss, Release, Secret, flip_edge
from sordino.core.parameters import choice
from sordino.graphs.counts.question import CountQuestion
from sordino.graphs.graph import Graph
from sordino.mechanisms.noise import DiscreteLaplaceNoise, IntegerLaw
from sordino.sampling.source import is_private
from sordino.sensitivity import Profile

Counts = NDArray[np.int64]
Noisy = NDArray[np.object_]  # whole numbers of any size: noise at a small ε is larger than machine words

# What one edge moves: two nodes, each by one degree.
_BINS, _STEPS = 4, 2


@dataclass(frozen=True, slots=True)
class DegreeHistogram:
    """The numbers of nodes of degree 0, 1, …, ``max_degree``; higher degrees count as ``max_degree``.

    **Guarantee**: ε-DP for one edge added or removed between existing nodes. Two nodes change their degree by one.
    *cumulative* (default): the numbers of nodes of degree >= 1, >= 2, …, >= max_degree. One edge moves two of them by
    1, so their L1 sensitivity is 2: discrete Laplace noise of scale 2/ε on each. Differences of these (n nodes have
    degree >= 0, which is public) are the histogram, with half the variance of the next one in each bin.
    *bins*: each of the two nodes leaves one bin and enters the next: L1 sensitivity 4, scale 4/ε on each bin.
    ``max_degree`` is public, n - 1 unless given. Taking higher degrees as max_degree moves no further than the degree.
    ``non_negative``: the nearest histogram without negative bins, a post-processing (isotonic regression of the
    cumulative numbers within [0, n], rounded; for bins, negatives become 0).
    **Source**: Hay, Li, Miklau, Jensen 2009 sort the degrees where this counts them. **Numerics**: exact integer noise.
    """

    name: str = "degree_histogram"
    least_k: int | None = None
    default_k: int | None = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """cumulative is never worse in any bin."""
        return ("cumulative", "bins")

    @property
    def options(self) -> frozenset[str]:
        """What else may be asked."""
        return frozenset({"max_degree", "non_negative"})

    def check(self, question: CountQuestion) -> None:
        """Refuse another mechanism."""
        if question.mechanism is not None:
            choice("mechanism", question.mechanism, self.mechanisms)

    def profile(self, graph: Graph, k: int) -> Profile:
        """The L1 distance between the histograms of neighbours is at most 4."""
        return Profile.constant(float(_BINS), distance=flip_edge())

    def release(self, graph: Graph, question: CountQuestion) -> Release:
        """The private histogram, an array of whole numbers."""
        law = self.law(graph, question)
        noisy = np.array([coordinate.draw() for coordinate in law], dtype=object)
        cumulative = question.mechanism != "bins"
        values = _bins(graph.nodes, noisy, question.non_negative) if cumulative else noisy
        if question.non_negative:
            values = np.maximum(values, 0)
        exact = count_degrees(graph, question.max_degree)
        details = {
            "exact": exact,
            "noise_scale": (_STEPS if cumulative else _BINS) / question.epsilon,
            "realised_error": int(np.abs(values - exact).sum()),
        }
        theorem = f"discrete Laplace mechanism, L1 sensitivity {_STEPS if cumulative else _BINS}"
        guarantee = Guarantee(Loss(epsilon=question.epsilon), flip_edge(), theorem)
        name = f"discrete_laplace noise, {'cumulative' if cumulative else 'bins'}"
        return Release(values.tolist(), guarantee, name, private=is_private(), details=Secret(details))

    def law(self, graph: Graph, question: CountQuestion) -> list[IntegerLaw]:
        """The exact laws of the independent numbers that are drawn: cumulative ones, or bins."""
        exact, sensitivity = count_degrees(graph, question.max_degree), _BINS
        if question.mechanism != "bins":
            exact, sensitivity = np.cumsum(exact[::-1])[::-1][1:], _STEPS
        noise = DiscreteLaplaceNoise()
        width = noise.width(Fraction(sensitivity), question.epsilon, 0.0)
        return [noise.law(value, width, Fraction(1)) for value in exact.tolist()]


def count_degrees(graph: Graph, max_degree: int) -> Counts:
    """The numbers of nodes of degree 0, …, max_degree, exactly; confidential."""
    return np.bincount(np.minimum(graph.degrees, max_degree), minlength=max_degree + 1)


def _bins(nodes: int, cumulative: Noisy, non_negative: bool) -> Noisy:
    """Differences of n and the numbers of nodes of degree at least 1, 2, …"""
    if non_negative and len(cumulative):
        fitted = scipy.optimize.isotonic_regression(cumulative.astype(np.float64), increasing=False).x
        cumulative = np.rint(np.clip(fitted, 0, nodes)).astype(np.int64).astype(object)
    return -np.diff(np.array([nodes, *cumulative, 0], dtype=object))


DEGREE_HISTOGRAM = DegreeHistogram()
