"""Whole trees over all tiny data sets: the law of everything that is released, through the prover; mutants refused.

Two binary attributes and two classes make 8 kinds of rows; a data set is a multiset of at most 4 of them (495), and a
neighbour has one row more or less (2640 ordered pairs) or, where that is said, another row in place of one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sordino.audit import prove
from sordino.learn import DecisionTreeClassifier
from sordino.learn.grow import smallest_splittable

from .tree_laws import Cells, Databases, FullyReplayed, mutant_of_grow, released, runs, tree_law

EPSILON = 2.0
CRITERIA = ("gini", "max_operator", "information_gain")
# every pair of criterion and selection, but those whose laws take integrals once per criterion only
SPLITS = [
    *((criterion, selection) for criterion in CRITERIA for selection in (
        "permute_and_flip", "exponential", "shifted_dampening", "local_dampening", "report_noisy_max"
    )),
    ("gini", "inverse_sensitivity"),
    ("information_gain", "inverse_sensitivity"),
    ("max_operator", "smooth_noisy_max"),
    ("gini", "smooth_noisy_max"),
]  # fmt: skip
FOUR_ROWS = Databases(attributes=2, classes=2, rows=4)
THREE_ROWS = Databases(attributes=2, classes=2, rows=3)
TWO_ROWS = Databases(attributes=2, classes=2, rows=2)
THREE_ATTRIBUTES = Databases(attributes=3, classes=2, rows=2)
EXACTLY_THREE_ROWS = Databases(attributes=2, classes=2, rows=3, fewest=3)


def tree(depth, attributes=2, **changes):
    public = {"schema": {name: [0, 1] for name in "abc"[:attributes]}, "classes": [0, 1], "max_rows": 4}
    shares = {"selection": 0.4, "count": 0.2, "leaf": 0.4}
    return DecisionTreeClassifier(EPSILON, max_depth=depth, shares=shares, **public | changes)


def size_cells(model):
    """No rows, fewer than a split needs, enough: what `grow` does is the same within each."""
    plan, _ = model._prepared()
    return Cells(1, math.ceil(smallest_splittable([2], plan))) if plan.max_depth > 1 else None


def proof(model, databases=FOUR_ROWS, *, neighbours=None, claimed=EPSILON, cells=None, **options):
    options |= {"cells": cells or Cells(1), "sizes": size_cells(model)}
    return prove(
        lambda database: tree_law(model, databases.rows(database), **options),
        databases.all,
        neighbours or databases.added_or_removed,
        claimed,
    )


@pytest.mark.parametrize(("criterion", "selection"), SPLITS)
def test_trees_of_one_split_with_labels_are_private(criterion, selection):
    found = proof(tree(1, criterion=criterion, selection=selection, leaves="permute_and_flip"))
    assert found, found
    assert found.pairs == 2640


@pytest.mark.parametrize(
    ("criterion", "selection", "direction"),
    [
        ("gini", "permute_and_flip", "plus"),
        ("max_operator", "permute_and_flip", "plus"),
        ("information_gain", "permute_and_flip", "plus"),
        ("gini", "shifted_dampening", "plus"),
        ("information_gain", "shifted_dampening", "minus"),
        ("information_gain", "local_dampening", "plus"),
        ("max_operator", "smooth_noisy_max", "plus"),
    ],
)
def test_trees_of_one_split_with_counts_are_private(criterion, selection, direction):
    model = tree(1, criterion=criterion, selection=selection, direction=direction)
    found = proof(model, cells=Cells(1, 2, 3))
    assert found, found
    if selection in ("permute_and_flip", "smooth_noisy_max"):
        assert found.slack < 1e-6, "all of ε is used: nothing smaller would do"


@pytest.mark.slow
@pytest.mark.parametrize("leaves", ["permute_and_flip", "counts"])
@pytest.mark.parametrize("criterion", ["gini", "max_operator"])
def test_trees_of_two_levels_are_private(criterion, leaves):
    found = proof(tree(2, criterion=criterion, leaves=leaves))
    assert found, found
    assert found.pairs == 2640
    assert found.slack < (1e-6 if criterion == "max_operator" else 0.25)


@pytest.mark.parametrize(
    ("criterion", "selection"),
    [
        ("gini", "permute_and_flip"),
        ("information_gain", "shifted_dampening"),
        ("information_gain", "local_dampening"),
        ("max_operator", "smooth_noisy_max"),
    ],
)
def test_a_choice_of_attributes_on_the_second_level_is_paid_for(criterion, selection):
    model = tree(2, attributes=3, criterion=criterion, selection=selection, leaves="permute_and_flip")
    found = proof(model, THREE_ATTRIBUTES)
    assert found, found


@pytest.mark.parametrize("leaves", ["exponential", "local_dampening", "smooth_noisy_max"])
def test_trees_with_other_labels_are_private(leaves):
    found = proof(tree(2, leaves=leaves), TWO_ROWS)
    assert found, found


@pytest.mark.parametrize("leaves", ["permute_and_flip", "counts"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plan.shares.total - nodes[node].spent", "plan.shares.total"),
        ("nodes[node].spent += plan.shares.count", "pass"),
        ("node.spent += plan.shares.selection", "pass"),
        ("rest, node.spent)", "rest, Fraction(0))"),
    ],
    ids=["a leaf takes all of ε", "counts are free", "selections are free", "children start anew"],
)
def test_mutants_of_the_account_are_refused(old, new, leaves):
    """The same tree without the change is proved above, on data sets of up to four rows."""
    model = tree(2, criterion="max_operator", leaves=leaves)
    found = proof(model, THREE_ROWS, grower=mutant_of_grow(old, new))
    assert not found
    assert found.worst_epsilon > EPSILON + 0.3


@pytest.mark.parametrize("depth", [1, 2])
def test_a_replaced_row_costs_two_changes(depth):
    """Disjoint nodes count once for a row that comes or goes; a replaced row touches two of them."""
    halved = tree(depth, adjacency="replace")
    assert proof(halved, EXACTLY_THREE_ROWS, neighbours=EXACTLY_THREE_ROWS.replaced)
    full = tree(depth)
    found = proof(full, EXACTLY_THREE_ROWS, neighbours=EXACTLY_THREE_ROWS.replaced)
    assert not found
    assert found.worst_epsilon > 1.5 * EPSILON


def test_a_smaller_claim_is_refused():
    assert not proof(tree(1), claimed=0.99 * EPSILON)


@pytest.mark.parametrize("leaves", ["permute_and_flip", "counts"])
def test_leaves_are_independent_factors_of_the_law(leaves):
    """Scripting the leaves as well gives the same probabilities as multiplying them."""
    model = tree(2, leaves=leaves)
    options = {"cells": Cells(1), "sizes": size_cells(model)}
    for database in [(), (0, 0, 3), (1, 2, 5, 7)]:
        rows = FOUR_ROWS.rows(database)
        scripted = {}
        for grown, asked in runs(model, rows, choices=FullyReplayed, **options):
            key = released(grown)
            assert key not in scripted
            scripted[key] = asked.log_probability
        factored = tree_law(model, rows, **options).log_probabilities
        assert math.isclose(math.fsum(map(math.exp, scripted.values())), 1.0, rel_tol=1e-12)
        assert np.allclose(np.sort(list(scripted.values())), np.sort(factored), rtol=0, atol=1e-11)


def test_cells_hold_all_of_the_noise():
    """Against plain sums of the discrete Laplace law."""
    rate, cells = 0.7, Cells(-1, 1, 5)
    q = math.exp(-rate)
    for count in range(-3, 8):
        mass = [0.0] * 4
        for k in range(-200, 201):
            place = sum(count + k >= start for start in cells.starts)
            mass[place] += (1 - q) / (1 + q) * q ** abs(k)
        assert np.allclose(np.exp(cells.log_law(count, rate)), mass, rtol=1e-12)


def test_grow_reaches_both_ends_of_the_second_level():
    """What the proofs of two levels walk through: nodes that stop, and nodes that are split."""
    model = tree(2)
    options = {"cells": Cells(1), "sizes": size_cells(model)}
    shapes = {grown.leaves for grown, _ in runs(model, FOUR_ROWS.rows((0, 1)), **options)}
    assert shapes == {2, 3, 4}
