"""SubgraphCount: what turns a number of subgraphs and its sensitivity into a release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sordino.core import ParameterError, Release, UnsupportedError, flip_edge
from sordino.core.parameters import choice
from sordino.graphs.counts.question import CountQuestion
from sordino.graphs.graph import Graph
from sordino.mechanisms.noise import add_noise, noise_law, noise_radius
from sordino.mechanisms.noise.beta_grid import BetaGrid, best_grid_noise
from sordino.mechanisms.noise.ladder import LADDERS, LadderName, add_ladder_noise, ladder_law
from sordino.mechanisms.noise.registry import AUTO, NOISES, check_serves, noise_names
from sordino.sensitivity import Profile

# a ladder's name among the mechanisms of a count, and its own
LADDER_OF: dict[str, LadderName] = {"ladder": "smooth", "zhang_ladder": "zhang"}
GLOBAL = "global"
_CONFIDENCE = 0.95
MECHANISMS = (*LADDER_OF, *noise_names(constant=False), GLOBAL)

_LARGEST_BOUND = 10**290


@dataclass(frozen=True, slots=True)
class SubgraphCount:
    """A whole number read off a graph, with its local sensitivity at every distance.

    ``value(graph, k)`` is the number, ``profile(graph, k)`` an admissible profile for flip_edge(), and
    ``bound(n, k)`` the global sensitivity over graphs of n nodes (at least 1). ``least_k`` is None where there is
    no k.

    **Guarantee**: that of the mechanism, for one edge added or removed between existing nodes.
    *ladder* and *zhang_ladder* (ε-DP), every noise that takes a smooth bound, and *global* (ε-DP, Laplace noise with
    the global sensitivity, in whole steps where that is a whole number of them).
    Without a mechanism: the best noise for smooth bounds (`add_noise`), or global where even on the graph without
    edges, whose profile is public, its 95 % radius is not below that of global. That depends on n, k and ε alone. For
    triangles, 2- and 3-stars and 2-triangles of ca-GrQc, Facebook and Enron at ε = 0.1 and 1 its expected error is
    below the ladder's in 20 of 24 cases, by up to 47 %, and at most 4.3 % above it in the others.
    """

    name: str
    value: Callable[[Graph, int], int]
    profile: Callable[[Graph, int], Profile]
    bound: Callable[[int, int], int]
    least_k: int | None = None
    default_k: int | None = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that this count takes."""
        return MECHANISMS

    @property
    def options(self) -> frozenset[str]:
        """What else may be asked."""
        return frozenset({"step", "beta"} if self.least_k is None else {"step", "beta", "k"})

    def check(self, question: CountQuestion) -> None:
        """Refuse what no graph of this size could answer; before the graph is read."""
        mechanism = question.mechanism
        if mechanism is not None:
            choice("mechanism", mechanism, self.mechanisms)
        if question.beta is not None and not _takes_beta(mechanism):
            raise ParameterError(f"the {mechanism} mechanism has no beta, got {question.beta!r}")
        if mechanism in NOISES:
            check_serves(NOISES[mechanism].traits, constant=False, delta=question.delta)
        if self.bound(question.nodes, question.k) > _LARGEST_BOUND:
            raise UnsupportedError(
                f"{self.name} with k = {question.k} on {question.nodes} nodes may change by more than 1e290 "
                "with one edge; give a smaller k"
            )

    def release(self, graph: Graph, question: CountQuestion) -> Release:
        """The private count."""
        mechanism, value, profile = self._settled(graph, question)
        if mechanism in LADDER_OF:
            return add_ladder_noise(
                value,
                profile,
                epsilon=question.epsilon,
                variant=LADDER_OF[mechanism],
                beta=question.beta,
                step=question.step,
                distance=flip_edge(),
            )
        return add_noise(value, **self._noise(mechanism, profile, question))

    def law(self, graph: Graph, question: CountQuestion) -> Any:
        """The exact law of `release`."""
        mechanism, value, profile = self._settled(graph, question)
        if mechanism in LADDER_OF:
            return ladder_law(
                value,
                profile,
                epsilon=question.epsilon,
                variant=LADDER_OF[mechanism],
                beta=question.beta,
                step=question.step,
            )
        return noise_law(value, **self._noise(mechanism, profile, question))

    def default_mechanism(self, question: CountQuestion) -> str:
        """The best noise or global, by n, k and ε."""
        if question.beta is not None:
            return AUTO
        bound = round_up_to_float(self.bound(question.nodes, question.k))
        empty = self.profile(Graph.from_edges(_NO_EDGES, nodes=question.nodes), question.k)
        grid = BetaGrid.of(best_grid_noise(question.epsilon), epsilon=question.epsilon)
        least = grid.radius(float(grid.scale(empty.smooth_bound(flip_edge()))), _CONFIDENCE)
        return (
            AUTO if least < noise_radius(bound, epsilon=question.epsilon, confidence=_CONFIDENCE) else GLOBAL
        )

    def _settled(self, graph: Graph, question: CountQuestion) -> tuple[str, int, Profile]:
        mechanism = question.mechanism or self.default_mechanism(question)
        if mechanism == GLOBAL:
            constant = Profile.constant(round_up_to_float(self.bound(question.nodes, question.k)))
            return mechanism, self.value(graph, question.k), constant
        return mechanism, self.value(graph, question.k), self.profile(graph, question.k)

    def _noise(self, mechanism: str, profile: Profile, question: CountQuestion) -> dict[str, Any]:
        common = {"epsilon": question.epsilon, "step": question.step, "distance": flip_edge()}
        if mechanism == GLOBAL:
            return common | {"bound": profile.bound}
        return common | {"bound": profile, "noise": mechanism, "delta": question.delta, "beta": question.beta}


def _takes_beta(mechanism: str | None) -> bool:
    if mechanism in LADDER_OF:
        return LADDERS[LADDER_OF[mechanism]].takes_beta
    return mechanism != GLOBAL


_NO_EDGES: list[tuple[int, int]] = []


def round_up_to_float(value: int) -> float:
    """The least float that is not below a whole number."""
    result = float(value)
    return result if int(result) >= value else math.nextafter(result, math.inf)
