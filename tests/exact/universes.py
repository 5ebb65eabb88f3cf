"""The universes that every selection mechanism is proved on: databases, neighbours, and each one's question.

A question is the scores of a database and their element local sensitivity at every distance, found by the oracle's
walk over the whole universe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sordino.sensitivity import Profile
from tests.oracles import local_sensitivity, percentile
from tests.oracles.universe import (
    Universe,
    contingency_tables,
    histograms,
    histograms_replace,
    labelled_values,
    random_metric_space,
)


@dataclass(frozen=True)
class Case:
    """A universe with utilities, and the exact profile of every database."""

    name: str
    universe: Universe
    utility: np.ndarray
    profiles: np.ndarray  # [database, t, candidate]
    bound: float
    monotone: bool = False

    def element(self, database):
        i = self.universe.position[database]
        return self.utility[i], Profile.from_table(self.profiles[i].T, bound=self.bound)

    def flat(self, database):
        i = self.universe.position[database]
        return self.utility[i], Profile.from_table(self.profiles[i].max(axis=1), bound=self.bound)

    def constant(self, database):
        return self.utility[self.universe.position[database]], self.bound

    @property
    def pairs(self) -> int:
        return sum(len(row) for row in self.universe.adjacent)


def _case(name: str, universe: Universe, utility: np.ndarray, monotone: bool = False) -> Case:
    utility = np.asarray(utility, dtype=float)
    bound = float(local_sensitivity.global_sensitivity(universe, utility))
    profiles = local_sensitivity.element_local_sensitivity(universe, utility)
    return Case(name, universe, utility, profiles, bound, monotone)


def _max_operator(table) -> list[int]:
    """Two attributes over the cells of a 2×2 table: rows as one attribute, columns as the other."""
    (a, b), (c, d) = table
    return [max(a, b) + max(c, d), max(a, c) + max(b, d), max(a + b, c + d)]


@lru_cache(maxsize=1)
def small_cases() -> tuple[Case, ...]:
    """Universes of every kind on which a law may take milliseconds."""
    cases = []
    space = histograms(3, 6)
    cases.append(_case("label counts, add/remove", space, space.table(list), monotone=True))
    space = histograms_replace(3, 6)
    cases.append(_case("label counts, replace", space, space.table(list)))
    space = histograms(4, 4)
    spread = space.table(lambda c: [c[0] ** 2, c[1] ** 2, c[2] * c[3]])
    cases.append(_case("squares and products of counts", space, spread, monotone=True))
    space = contingency_tables((2, 2), 4)
    cases.append(_case("max operator", space, space.table(_max_operator), monotone=True))
    space = labelled_values(3, 3)
    for k in (1, 2, 3):
        utility = space.table(lambda x, k=k: percentile.percentile_utility(x, k))
        cases.append(_case(f"percentile, k = {k}", space, utility))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        space = random_metric_space(rng, int(rng.integers(8, 30)))
        utility = rng.integers(-6, 7, size=(len(space), int(rng.integers(2, 6))))
        cases.append(_case(f"random space {seed}", space, utility * rng.choice([1.0, 0.375])))
    return tuple(cases)


@lru_cache(maxsize=1)
def large_cases() -> tuple[Case, ...]:
    """Universes for the laws that take microseconds."""
    cases = []
    for k in (2, 3):
        space = labelled_values(5, 3)
        utility = space.table(lambda x, k=k: percentile.percentile_utility(x, k))
        cases.append(_case(f"percentile of five, k = {k}", space, utility))
    space = histograms(3, 12)
    cases.append(_case("label counts up to 12", space, space.table(list), monotone=True))
    return tuple(cases)


def winner_question(case: Case, database, table: np.ndarray, winners: np.ndarray):
    """The 0/1 utility of the winner and its profile: 0 for the changes that cannot bring another one."""
    i = case.universe.position[database]
    utility = np.zeros(case.utility.shape[1])
    utility[winners[i]] = 1.0
    margin = case.universe.diameter + 1 if np.isinf(table[i]) else int(table[i]) - 1
    return utility, Profile.from_table(np.zeros(margin), bound=1.0)
