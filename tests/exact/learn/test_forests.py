"""Forests over all tiny data sets: the law of what the leaves release, through the prover; mutants refused.

The structure is drawn without the data, so the claim is proved for given structures. `fit` itself runs, once for
every way of putting the rows into trees, which are equally likely; what it hands on to be released is caught, and the
law of that is exact.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sordino.audit import LogLaw, prove
from sordino.learn import RandomForestClassifier, random_forest
from sordino.learn.decision_tree import LEAVES
from sordino.learn.random_trees import RandomTrees
from sordino.mechanisms.selection import majority_law

from .tree_laws import Cells, Databases

EPSILON = 1.5
CELLS = Cells(1, 2)


class CaughtError(Exception):
    def __init__(self, counts, epsilon, leaves):
        super().__init__()
        self.counts, self.epsilon, self.leaves = counts, epsilon, leaves


def stumps(*splits):
    """One tree of one split for each (attribute, value that goes right)."""
    attribute = np.array([[place] for place, _ in splits], dtype=np.int32)
    right = np.zeros((len(splits), 1, 2), dtype=np.uint8)
    for tree, (_, value) in enumerate(splits):
        right[tree, 0, value] = 1
    return RandomTrees(1, attribute, np.full_like(attribute, -1), right)


def caught_counts(monkeypatch, model, trees, rows, assignment):
    """What `fit` would release: (exact counts of the leaves, ε, by which mechanism)."""

    def catch(counts, epsilon, trees, schema, classes, prior, leaves, voting):
        raise CaughtError(counts, epsilon, leaves)

    def words(count, dtype):
        assert count == len(assignment)
        return np.array(assignment, dtype=dtype)

    monkeypatch.setattr(random_forest, "draw_trees", lambda *_: trees)
    monkeypatch.setattr(random_forest, "random_words", words)
    monkeypatch.setattr(random_forest, "release_forest", catch)
    codes, labels = rows
    with pytest.raises(CaughtError) as caught:
        model.fit(codes, labels)
    return caught.value


def leaf_law(counts, epsilon, leaves):
    """ln P of every joint release of disjoint leaves."""
    if leaves == "counts":
        laws = [CELLS.log_law(n, epsilon) for n in counts.ravel()]
    else:
        laws = [majority_law(row, epsilon, leaves) for row in counts]
    joint = np.zeros(1)
    for law in laws:
        joint = np.add.outer(joint, law).ravel()
    return joint


def forest_law(monkeypatch, model, trees, rows, every_tree_sees_all=False):
    laws = []
    number = model.n_estimators
    for assignment in itertools.product(range(number), repeat=len(rows[0])):
        seen = caught_counts(monkeypatch, model, trees, rows, assignment)
        counts = seen.counts
        if every_tree_sees_all:
            whole = [(tree,) * len(assignment) for tree in range(number)]
            counts = sum(caught_counts(monkeypatch, model, trees, rows, one).counts for one in whole)
        laws.append(leaf_law(counts, seen.epsilon, seen.leaves))
    return LogLaw(np.logaddexp.reduce(np.array(laws), axis=0) - math.log(len(laws)))


def forest(leaves, trees, classes=2, **changes):
    public = {"schema": {"a": [0, 1], "b": [0, 1]}, "classes": list(range(classes)), "max_rows": 4}
    return RandomForestClassifier(EPSILON, n_estimators=trees, max_depth=1, leaves=leaves, **public | changes)


def proof(monkeypatch, model, trees, databases, neighbours=None, **options):
    return prove(
        lambda database: forest_law(monkeypatch, model, trees, databases.rows(database), **options),
        databases.all,
        neighbours or databases.added_or_removed,
        EPSILON,
    )


@pytest.mark.parametrize("leaves", LEAVES)
def test_one_leaf_is_private(monkeypatch, leaves):
    """Nothing can be tested, so all rows are in one leaf; three classes, up to four rows."""
    databases = Databases(attributes=0, classes=3, rows=4, fewest=1)
    untested = RandomTrees(
        1, np.full((1, 1), -1, np.int32), np.zeros((1, 1), np.int32), np.zeros((1, 1, 1), np.uint8)
    )
    model = forest(leaves, 1, classes=3, schema={"a": [0]})

    def law(database):
        rows = np.zeros((len(database), 1)), databases.rows(database)[1]
        return forest_law(monkeypatch, model, untested, rows)

    found = prove(law, databases.all, databases.added_or_removed, EPSILON)
    assert found, found
    if leaves in ("counts", "smooth_noisy_max"):
        assert found.slack < 1e-9, "all of ε is used"


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("splits", [((0, 1), (1, 1)), ((0, 0), (0, 1))], ids=["different", "alike"])
def test_two_chunks_are_private(monkeypatch, leaves, splits):
    databases = Databases(attributes=2, classes=2, rows=2, fewest=1)
    found = proof(monkeypatch, forest(leaves, 2), stumps(*splits), databases)
    assert found, found


@pytest.mark.parametrize("leaves", LEAVES)
def test_trees_that_all_see_every_row_are_refused(monkeypatch, leaves):
    databases = Databases(attributes=2, classes=2, rows=2, fewest=1)
    found = proof(monkeypatch, forest(leaves, 2), stumps((0, 1), (1, 1)), databases, every_tree_sees_all=True)
    assert not found
    assert found.worst_epsilon > 1.2 * EPSILON


def test_a_replaced_row_costs_two_changes(monkeypatch):
    databases = Databases(attributes=2, classes=2, rows=2, fewest=2)
    one = stumps((0, 1))
    halved = forest("counts", 1, adjacency="replace")
    assert proof(monkeypatch, halved, one, databases, databases.replaced)
    found = proof(monkeypatch, forest("counts", 1), one, databases, databases.replaced)
    assert not found
    assert math.isclose(found.worst_epsilon, 2 * EPSILON)


def test_rows_go_to_trees_whatever_they_hold(monkeypatch):
    """The tree of a row is drawn before its values are looked at: the same words, the same trees."""
    databases = Databases(attributes=2, classes=2, rows=2)
    model = forest("counts", 2)
    for database in databases.all[9:]:
        for assignment in itertools.product(range(2), repeat=2):
            seen = caught_counts(
                monkeypatch, model, stumps((0, 1), (1, 1)), databases.rows(database), assignment
            )
            rows_per_tree = seen.counts.reshape(2, -1).sum(axis=1)
            assert rows_per_tree.tolist() == [assignment.count(0), assignment.count(1)]
