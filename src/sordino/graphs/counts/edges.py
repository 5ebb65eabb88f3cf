"""The number of edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino.core import Release, flip_edge
from sordino.core.parameters import choice
from sordino.graphs.counts.question import CountQuestion
from sordino.graphs.graph import Graph
from sordino.mechanisms.noise import DiscreteLaplaceNoise, add_noise, noise_law
from sordino.sensitivity import Profile


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """Discrete Laplace noise on the number of edges.

    **Guarantee**: ε-DP for one edge added or removed between existing nodes, which moves the count by exactly 1.
    **Source**: Ghosh, Roughgarden, Sundararajan 2009. **Numerics**: exact.
    """

    name: str = "edges"
    least_k: int | None = None
    default_k: int | None = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """One: nothing is gained from a constant local sensitivity."""
        return (DiscreteLaplaceNoise.traits.name,)

    @property
    def options(self) -> frozenset[str]:
        """What else may be asked."""
        return frozenset()

    def check(self, question: CountQuestion) -> None:
        """Refuse another mechanism."""
        if question.mechanism is not None:
            choice("mechanism", question.mechanism, self.mechanisms)

    def profile(self, graph: Graph, k: int) -> Profile:
        """1 at every distance."""
        return Profile.constant(1.0, distance=flip_edge())

    def release(self, graph: Graph, question: CountQuestion) -> Release:
        """The private count."""
        return add_noise(graph.edges, **_noise(question))

    def law(self, graph: Graph, question: CountQuestion) -> Any:
        """The exact law of `release`."""
        return noise_law(graph.edges, **_noise(question))


def _noise(question: CountQuestion) -> dict[str, Any]:
    return {
        "bound": 1,
        "epsilon": question.epsilon,
        "noise": DiscreteLaplaceNoise.traits.name,
        "step": 1,
        "distance": flip_edge(),
    }


EDGES = EdgeCount()
