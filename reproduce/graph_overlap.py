"""How much of the true top-k by ego betweenness a private top-k holds: scores made once, exact draws repeated.

A method's scores do not depend on ε, so they are prepared once per graph; k draws without replacement at ε/k each
follow `sordino.mechanisms.selection.top_k`. Random bits come from a seeded numpy generator: enough for a simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.graphs import Graph, Metric
from sordino.graphs.metrics import Brokerage, Degree, EgoBetweenness
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.registry import MECHANISMS
from sordino.mechanisms.selection.scores import GridScores
from sordino.sampling.choice import ExponentialChoice, FlipChoice
from sordino.sampling.source import overridden

Floats = NDArray[np.float64]

SIZES = (5, 10, 20)
WORKERS = 2
# A threshold in 256ths of a coin's bias below which no toss counts as heads.
_NEVER = -512


@dataclass(frozen=True, slots=True)
class Method:
    """Scores on the grid, ready to draw from."""

    name: str
    scores: GridScores
    sampler: str
    monotone: bool


def paper_methods(graph: Graph, truth: Floats, max_degree: int, suffix: str) -> list[Method]:
    """The paper's four. Its Δ for degrees up to D, max(D(D−1)/4, D), is ours for D + 1."""
    profile = EgoBetweenness(by_codegree=False).profile(graph, max_degree)
    found = []
    for name, mechanism, sampler in (
        ("exponential", "exponential", None),
        ("permute-and-flip", "permute_and_flip", None),
        ("LD", "local_dampening", "exponential"),
        ("SLD", "shifted_dampening", "exponential"),
    ):
        asked = pose_question(truth, profile=profile, epsilon=1.0, sampler=sampler)
        ready = MECHANISMS[mechanism].prepare(asked)
        found.append(Method(f"{name}, {suffix}", ready.scores, ready.sampler.name, False))
    return found


def metric_method(graph: Graph, metric: Metric, name: str) -> Method:
    """Permute-and-flip on another score, with the rate for scores that move together."""
    profile = metric.profile(graph, graph.nodes - 1)
    asked = pose_question(metric.scores(graph), profile=profile, epsilon=1.0, monotone=True)
    ready = MECHANISMS["permute_and_flip"].prepare(asked)
    return Method(name, ready.scores, ready.sampler.name, True)


def brokerages(graph: Graph) -> list[Method]:
    return [
        metric_method(graph, Brokerage(density=density), f"brokerage({density:g})")
        for density in (0.3, 0.5, 0.7)
    ]


def degree_proxy(graph: Graph) -> Method:
    return metric_method(graph, Degree(), "degree proxy")


def codegree_methods(graph: Graph, truth: Floats) -> list[Method]:
    """Dampening with the profile from common neighbours, drawn by permute-and-flip; D = n − 1."""
    profile = EgoBetweenness().profile(graph, graph.nodes - 1)
    found = []
    for name, mechanism, horizon in (
        ("LD, codegree", "local_dampening", None),
        ("SLD, codegree", "shifted_dampening", None),
        ("inverse sensitivity, codegree", "inverse_sensitivity", 4096),  # the whole profile would not fit
    ):
        cut = profile if horizon is None else profile.until(horizon)
        ready = MECHANISMS[mechanism].prepare(pose_question(truth, profile=cut, epsilon=1.0))
        found.append(Method(name, ready.scores, ready.sampler.name, False))
    return found


class Draws:
    """Repeated top-k draws at one rate. What does not depend on the run is made once; the draws are exact."""

    def __init__(self, method: Method, k: int, epsilon: float) -> None:
        self.k = k
        self.rate = method.scores.rate(Fraction(epsilon) / k, monotone=method.monotone)
        self.once = self._flips if method.sampler == "permute_and_flip" else self._exponential
        self.order = np.argsort(-method.scores.values, kind="stable")
        self.values = method.scores.values[self.order]
        self.choices: dict[int, Any] = {}

    def run(self) -> list[int]:
        """k different candidates, in order."""
        return [int(self.order[place]) for place in self.once()]

    def _after(self, leading: int, kind: type[Any]) -> Any:
        """The choice among all but the leading ones."""
        if leading not in self.choices:
            self.choices[leading] = kind(self.values[leading:], self.rate)
        return self.choices[leading]

    def _flips(self) -> list[int]:
        """With the choice whose top is the best that is left; the others that are gone show no heads."""
        picked: list[int] = []
        for _ in range(self.k):
            leading = _leading(picked)
            choice = self._after(leading, FlipChoice)
            gone = [place - leading for place in picked if place > leading]
            kept = choice.thresholds[gone]
            choice.thresholds[gone] = _NEVER
            picked.append(leading + choice.draw())
            choice.thresholds[gone] = kept
        return picked

    def _exponential(self) -> list[int]:
        """With replacement, passing over repeats: the same law as without what was chosen."""
        picked: list[int] = []
        while len(picked) < self.k:
            leading = _leading(picked)
            place = leading + self._after(leading, ExponentialChoice).draw()
            if place not in picked:
                picked.append(place)
        return picked


def _leading(picked: list[int]) -> int:
    """How many of the best are gone without a gap."""
    leading, gone = 0, set(picked)
    while leading in gone:
        leading += 1
    return leading


def top_of(truth: Floats, k: int) -> set[int]:
    return set(np.argsort(-truth, kind="stable")[:k].tolist())


def _overlaps(job: tuple[Method, int, tuple[float, ...], int, set[int], int]) -> Floats:
    method, k, epsilons, runs, best, seed = job
    with overridden(np.random.Generator(np.random.SFC64(seed)).bytes):
        return np.array(
            [
                [len(best.intersection(draws.run())) / k for _ in range(runs)]
                for draws in (Draws(method, k, epsilon) for epsilon in epsilons)
            ]
        )


def overlaps(
    methods: Sequence[Method], truth: Floats, epsilons: dict[int, Floats], runs: int, seed: int = 0
) -> dict[tuple[str, int], Floats]:
    """The overlap of every run, an array (ε, run), by method and k; ``epsilons`` are given by k."""
    jobs, keys = [], []
    for method in methods:
        for k, grid in epsilons.items():
            keys.append((method.name, k))
            jobs.append((method, k, tuple(grid.tolist()), runs, top_of(truth, k), seed * 1000 + len(jobs)))
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("fork")) as pool:
        return dict(zip(keys, pool.map(_overlaps, jobs), strict=True))


def budget_for(epsilons: Floats, overlap: Floats, wanted: float) -> float:
    """The least ε from which the mean overlap stays at the level wanted, interpolated in log ε; ∞ if it does not."""
    below = np.flatnonzero(overlap < wanted)
    if not len(below):
        return float(epsilons[0])
    last = int(below[-1])
    if last == len(epsilons) - 1:
        return float("inf")
    share = (wanted - overlap[last]) / (overlap[last + 1] - overlap[last])
    return float(np.exp(np.log(epsilons[last]) + share * np.log(epsilons[last + 1] / epsilons[last])))
