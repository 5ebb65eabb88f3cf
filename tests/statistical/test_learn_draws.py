"""Whole trees that are drawn against the law of the whole tree, and rows against their trees.

Every test asks, for each outcome, whether a binomial law with the claimed probability gives a count this far out with
probability at least 10⁻⁸/(2·outcomes): the false-alarm rate of the file is below 10⁻⁷. The seeds are fixed, so a pass
repeats. The control claims the law of another ε and must fail.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from scipy import stats

from sordino.learn import DecisionTreeClassifier, RandomForestClassifier
from sordino.learn.contingency import MemoryRows
from sordino.learn.grow import grow
from sordino.testing import seeded
from tests.exact.learn.tree_laws import Databases, FullyReplayed, released, runs

RUNS = 2500
RISK = 1e-8
ROWS = Databases(attributes=2, classes=2, rows=4).rows((0, 3, 3, 6))


def tree(epsilon):
    public = {"schema": {"a": [0, 1], "b": [0, 1]}, "classes": [0, 1], "max_rows": 4}
    return DecisionTreeClassifier(epsilon, max_depth=1, leaves="permute_and_flip", **public)


def law_of(epsilon):
    found = runs(tree(epsilon), ROWS, choices=FullyReplayed)
    return {released(grown): np.exp(asked.log_probability) for grown, asked in found}


def consistent(counts, law, draws):
    level = RISK / (2 * len(law))
    for outcome, p in law.items():
        seen = counts[outcome]
        if min(stats.binom.cdf(seen, draws, p), stats.binom.sf(seen - 1, draws, p)) < level:
            return False
    return set(counts) <= set(law)


def test_fitted_trees_follow_the_law_that_is_proved_private():
    plan, drawn = tree(2.0)._prepared()
    codes, labels = ROWS
    with seeded(21):
        counts = Counter(
            released(grow(MemoryRows(codes, labels, plan.schema.sizes, 2), plan, drawn)) for _ in range(RUNS)
        )
    assert consistent(counts, law_of(2.0), RUNS)
    assert not consistent(counts, law_of(3.0), RUNS), "the control: another ε has another law"


def test_rows_are_spread_evenly_over_the_trees_of_a_forest():
    draws = 60_000
    model = RandomForestClassifier(
        Fraction(500), schema={"a": [0]}, classes=[0, 1], max_rows=draws, n_estimators=6, max_depth=1
    )
    with seeded(22):
        model.fit(np.zeros((draws, 1)), np.zeros(draws, dtype=int))
    per_tree = dict(enumerate(model.forest_.counts.sum(axis=(1, 2)).tolist()))
    assert sum(per_tree.values()) == draws
    assert consistent(Counter(per_tree), dict.fromkeys(range(6), 1 / 6), draws)
    assert not consistent(Counter(per_tree), {0: 0.18, **dict.fromkeys(range(1, 6), 0.164)}, draws)
