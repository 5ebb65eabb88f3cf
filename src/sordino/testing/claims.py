"""Claims: the shipped mechanisms on small universes, which `sordino audit` proves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

import sordino as sd
from sordino.audit import LogLaw, ProfileCheck, Proof, check_profile, prove
from sordino.audit.zoo.universes import Counts, add_or_remove, list_counts_of, list_counts_up_to, replace_one
from sordino.graphs import Graph, local_sensitivity_profile, triangles_per_node
from sordino.graphs.metrics import EgoBetweenness
from sordino.mechanisms.selection import stated_law
from sordino.mechanisms.selection.rank_choice import RankChoice
from sordino.stats import order_statistic_bound
from sordino.units.key_release import KeyRelease
from sordino.units.sparse_vector import SparseVector
from sordino.units.truncation import Truncation

_EPSILON = 1.0
_DELTA = 0.01
_CENTRALITY = EgoBetweenness()
_BY_DEGREE = EgoBetweenness(by_codegree=False)

Progress = Callable[[int, int], None]
Law = Callable[[Any], Any]
Record = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Universe:
    """All databases of one small kind, and what one change makes of each."""

    name: str
    databases: Callable[[], Iterable[Any]]
    neighbours: Callable[[Any], Iterable[Any]]
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """One claim: a law on a universe is (ε, δ)-differentially private."""

    name: str
    universe: Universe
    law: Law
    epsilon: float = _EPSILON
    delta: float = 0.0

    def run(self, progress: Progress) -> Proof:
        """Enumerate every neighbouring pair."""
        universe = self.universe
        return prove(
            self.law,
            universe.databases(),
            universe.neighbours,
            self.epsilon,
            self.delta,
            partial=universe.partial,
            progress=progress,
        )


@dataclass(frozen=True, slots=True)
class ProfileClaim:
    """One claim: a profile is admissible for a utility on a universe."""

    name: str
    universe: Universe
    profile_of: Callable[[Any], sd.Profile]
    utility: Callable[[Any], Any]
    horizon: int

    def run(self, progress: Progress) -> ProfileCheck:
        """Compare the profile with its definition on every neighbouring pair."""
        return check_profile(
            self.profile_of,
            self.universe.databases(),
            self.universe.neighbours,
            self.utility,
            horizon=self.horizon,
        )


def checks(*, quick: bool) -> Iterator[Check | ProfileClaim]:
    """Every shipped mechanism; ``quick`` takes smaller universes."""
    yield from _votes(7 if quick else 14)
    yield from _graphs(4 if quick else 5)
    yield from _records(3 if quick else 4)
    yield from _quantiles(4 if quick else 6)
    yield from _numbers(3 if quick else 5)
    yield from _units(2 if quick else 4)


def _selection_law(scores: Any, **options: Any) -> LogLaw:
    stated = stated_law(scores, **options)
    return LogLaw(stated.log_probabilities, error=stated.error)


def _votes(voters: int) -> Iterator[Check]:
    """Scores are counts of three candidates."""
    replaced = Universe(
        f"{voters} votes, 3 candidates, one replaced", lambda: list_counts_of(voters, 3), replace_one
    )
    added = Universe(
        f"up to {voters} votes, 3 candidates, one added or removed",
        lambda: list_counts_up_to(voters, 3),
        add_or_remove,
        partial=True,
    )

    def counts(**options: Any) -> Law:
        given = {"profile": 1.0, "epsilon": _EPSILON} | options
        return lambda votes: _selection_law(votes, **given)

    def winner(noise: str) -> Law:
        def law(votes: Counts) -> LogLaw:
            best = int(np.argmax(votes))
            gaps = [votes[best] - c + (best < s) for s, c in enumerate(votes) if s != best]
            margin = min(-(-gap // 2) for gap in gaps) - 1
            table = np.append(np.zeros(margin), 1.0)
            profile = sd.Profile.from_table(table, bound=1.0, distance=sd.replace_row())
            utility = np.eye(3)[best]
            given: dict[str, Any] = {"profile": profile, "epsilon": _EPSILON, "noise": noise}
            return _selection_law(utility, mechanism="smooth_noisy_max", **given)

        return law

    yield Check("exponential", replaced, counts(mechanism="exponential"))
    yield Check("exponential, monotone", added, counts(mechanism="exponential", monotone=True))
    yield Check("permute-and-flip", replaced, counts(mechanism="permute_and_flip"))
    yield Check("permute-and-flip, monotone", added, counts(mechanism="permute_and_flip", monotone=True))
    for noise in ("exponential", "gumbel", "laplace"):
        yield Check(f"report noisy max, {noise}", replaced, counts(mechanism="report_noisy_max", noise=noise))
    yield Check("inverse sensitivity", replaced, counts(mechanism="inverse_sensitivity"))
    for noise in ("winner", "certified"):
        yield Check(f"smooth noisy max, {noise}", replaced, winner(noise))


@dataclass(frozen=True, slots=True)
class _Graphs:
    """All graphs of a few nodes; a database says for each possible edge whether it is there."""

    nodes: int

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        return tuple(combinations(range(self.nodes), 2))

    @property
    def universe(self) -> Universe:
        count = len(self.edges)
        return Universe(
            f"graphs of {self.nodes} nodes, one edge flipped",
            lambda: product((0, 1), repeat=count),
            lambda graph: ((*graph[:e], 1 - graph[e], *graph[e + 1 :]) for e in range(count)),
        )

    def graph(self, present: Record) -> Graph:
        edges = [edge for edge, there in zip(self.edges, present, strict=True) if there]
        return Graph.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes=self.nodes)

    def scores(self, present: Record) -> Any:
        return _CENTRALITY.scores(self.graph(present))

    def profile(self, present: Record) -> sd.Profile:
        return _CENTRALITY.profile(self.graph(present), self.nodes - 1)

    def central(self, **options: Any) -> Law:
        """Scores are ego betweenness with its element profile."""

        def law(present: Record) -> LogLaw:
            given: dict[str, Any] = {"profile": self.profile(present), "epsilon": _EPSILON} | options
            return _selection_law(self.scores(present), **given)

        return law

    def smooth_noisy_max(self, noise: str, delta: float) -> Check:
        law = self.central(mechanism="smooth_noisy_max", noise=noise, delta=delta)
        return Check(f"smooth noisy max, {noise}", self.universe, law, delta=delta)


def _graphs(nodes: int) -> Iterator[Check | ProfileClaim]:
    small = _Graphs(nodes)
    universe = small.universe
    yield ProfileClaim(
        "profile of ego betweenness",
        universe,
        small.profile,
        small.scores,
        horizon=nodes,
    )
    yield ProfileClaim(
        "profile of ego betweenness by degree",
        universe,
        lambda present: _BY_DEGREE.profile(small.graph(present), nodes - 1),
        small.scores,
        horizon=nodes,
    )
    yield ProfileClaim(
        "profile of the triangle count",
        universe,
        lambda present: local_sensitivity_profile(small.graph(present), "triangles"),
        lambda present: int(triangles_per_node(small.graph(present)).sum()) // 3,
        horizon=nodes,
    )
    for sampler in ("exponential", "permute_and_flip"):
        law = small.central(mechanism="local_dampening", sampler=sampler)
        yield Check(f"local dampening, {sampler}", universe, law)
    for direction in ("plus", "minus"):
        law = small.central(mechanism="shifted_dampening", direction=direction)
        yield Check(f"shifted dampening, {direction}", universe, law)
    yield Check("inverse sensitivity by profile", universe, small.central(mechanism="inverse_sensitivity"))
    for noise, delta in (("polynomial", 0.0), ("student_t", 0.0), ("laplace", _DELTA)):
        yield small.smooth_noisy_max(noise, delta)
    # The law of lln noise takes a double integral per database, so its graphs have a node less.
    yield _Graphs(nodes - 1).smooth_noisy_max("lln", _DELTA)


def _records(records: int) -> Iterator[Check]:
    """Which record is the median? Databases are tuples: a record keeps its place."""
    top = 4
    universe = Universe(
        f"{records} records in 0 … {top}, one replaced",
        lambda: product(range(top + 1), repeat=records),
        lambda x: ((*x[:i], v, *x[i + 1 :]) for i in range(records) for v in range(top + 1) if v != x[i]),
    )

    def median_record(mechanism: str) -> Law:
        def law(values: Record) -> LogLaw:
            scores, profile = sd.percentile_question(values, 50, bounds=(0, top))
            asked: dict[str, Any] = {"profile": profile, "epsilon": _EPSILON, "mechanism": mechanism}
            return _selection_law(scores, **asked)

        return law

    for mechanism in ("local_dampening", "shifted_dampening"):
        yield Check(f"record at a percentile, {mechanism}", universe, median_record(mechanism))


def _multisets(records: int, top: int) -> Universe:
    def replaced(x: Record) -> Iterator[Record]:
        for i in range(len(x)):
            for value in range(top + 1):
                yield tuple(sorted((*x[:i], value, *x[i + 1 :])))

    return Universe(
        f"{records} records in 0 … {top}, unordered, one replaced",
        lambda: combinations_with_replacement(range(top + 1), records),
        replaced,
    )


def _quantiles(records: int) -> Iterator[Check]:
    top = 5
    replaced = _multisets(records, top)

    def removed(x: Record) -> Iterator[Record]:
        yield from (x[:i] + x[i + 1 :] for i in range(len(x)))
        yield from (tuple(sorted((*x, value))) for value in range(top + 1))

    added = Universe(
        f"1 … {records} records in 0 … {top}, one added or removed",
        lambda: (x for n in range(1, records + 1) for x in combinations_with_replacement(range(top + 1), n)),
        removed,
        partial=True,
    )

    def law(mechanism: str, distance: sd.Distance) -> Law:
        def law_of(values: Record) -> Any:
            asked: dict[str, Any] = {
                "bounds": (0, top),
                "step": 1,
                "epsilon": _EPSILON,
                "mechanism": mechanism,
            }
            return sd.quantile_law(values, 0.4, distance=distance, **asked)

        return law_of

    for mechanism in ("exponential", "permute_and_flip", "inverse_sensitivity", "winner"):
        yield Check(f"quantile, {mechanism}", replaced, law(mechanism, sd.replace_row()))
    for mechanism in ("exponential", "permute_and_flip"):
        yield Check(f"quantile, {mechanism}", added, law(mechanism, sd.add_remove_row()))


def _numbers(records: int) -> Iterator[Check]:
    """The median as a number: smooth noise by the order statistic's bound, plain noise by the width."""
    top = 4
    universe = _multisets(records, top)
    rank = (records + 1) // 2

    def smooth(**options: Any) -> Law:
        def law(x: Record) -> Any:
            bound = order_statistic_bound(np.array(x, dtype=np.float64), rank, float(top))
            return sd.noise_law(x[rank - 1], bound, epsilon=_EPSILON, step=1, **options)

        return law

    def plain(**options: Any) -> Law:
        return lambda x: sd.noise_law(x[rank - 1], top, epsilon=_EPSILON, step=1, **options)

    yield Check("Laplace noise", universe, plain(noise="laplace"))
    yield Check("discrete Laplace noise", universe, plain(noise="discrete_laplace"))
    yield Check("Gaussian noise", universe, plain(noise="gaussian", delta=_DELTA), delta=_DELTA)
    law = plain(noise="discrete_gaussian", delta=_DELTA)
    yield Check("discrete Gaussian noise", universe, law, delta=_DELTA)
    yield Check("Student-t noise, smooth bound", universe, smooth(noise="student_t"))
    yield Check("Cauchy noise, smooth bound", universe, smooth(noise="cauchy"))
    yield Check("Laplace noise, smooth bound", universe, smooth(noise="laplace", delta=_DELTA), delta=_DELTA)


def _units(users: int) -> Iterator[Check]:
    """Users with up to four results each, one of them added or removed with all their results."""
    most = 4
    sums = Truncation.of(epsilon=Fraction(_EPSILON), most=most)
    half = Fraction(_EPSILON) / 2
    sparse = SparseVector.of(threshold=1, threshold_epsilon=half, query_epsilon=half)
    median = RankChoice.quantile(0.5, epsilon=_EPSILON)
    keys = KeyRelease.of(epsilon=_EPSILON, delta=_DELTA)

    def changed(held: Record) -> Iterator[Record]:
        for i in range(len(held)):
            yield (*held[:i], *held[i + 1 :])
        for more in range(1, most + 1) if len(held) < users else ():
            yield tuple(sorted((*held, more)))

    def above(held: Record) -> list[int]:
        return [sum(c > limit for c in held) for limit in sums.grid]

    def truncated(held: Record) -> LogLaw:
        totals = [sum(min(c, limit) for c in held) for limit in sums.grid]
        outcomes, stated = sums.law(above(held), totals, (0, most * users))
        return LogLaw(stated.log_probabilities, error=stated.error, outcomes=outcomes)

    def stopped(held: Record) -> LogLaw:
        stated = sparse.law(above(held))
        return LogLaw(stated.log_probabilities, error=stated.error)

    def ranked(held: Record) -> LogLaw:
        stated = median.law(np.bincount(np.array(held, dtype=np.int64), minlength=most + 1))
        return LogLaw(stated.log_probabilities, error=stated.error)

    def shown(held: Record) -> dict[bool, float]:
        chance = keys.probability(len(held))
        return {True: float(chance), False: float(1 - chance)}

    sets = Universe(
        f"up to {users} users with 1 to {most} results, one added or removed",
        lambda: [
            held
            for size in range(users + 1)
            for held in combinations_with_replacement(range(1, most + 1), size)
        ],
        changed,
    )
    yield Check("truncated sum, limit and number", sets, truncated)
    yield Check("sparse vector, units above limits", sets, stopped)
    yield Check("quantile of one value per user", sets, ranked)
    yield Check("key of a group, shown or not", sets, shown, delta=_DELTA)
