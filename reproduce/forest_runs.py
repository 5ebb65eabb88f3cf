"""One random forest, many ways to release its leaves: they share the structure and the rows, so they compare in pairs.

Labels are drawn from the exact laws (`sordino.mechanisms.selection.majority_law`), looked up by margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from tree_data import Task

from sordino.learn import forest
from sordino.learn.forest import Forest
from sordino.learn.random_trees import RandomTrees, draw_trees
from sordino.mechanisms.selection import selection_law
from sordino.sensitivity import Profile

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
NONE = Fraction(10**6)  # an ε at which noise does nothing


@dataclass(frozen=True, slots=True)
class Grown:
    """Trees, what their leaves hold exactly, and the rows to test on."""

    task: Task
    trees: RandomTrees
    exact: Wholes
    test: NDArray[np.intp]

    def accuracy(self, found: Forest) -> float:
        """Share of the test rows that a released forest gets right."""
        codes = self.task.fine[self.test]
        chances = found.probabilities(codes, 1)
        return float((chances.argmax(axis=1) == self.task.labels[self.test]).mean())

    def counted(self, epsilon: Fraction, voting: str) -> Forest:
        """Leaves by noisy counts, put together in one of our ways."""
        task = self.task
        prior = np.full(len(task.classes), 1 / len(task.classes))
        return forest.release_forest(
            self.exact, epsilon, self.trees, task.schema, task.classes, prior, "counts", voting
        )

    def voted(self, labels: Wholes) -> Forest:
        """One hard vote per tree, by the labels of its leaves."""
        classes = len(self.task.classes)
        shape = (len(self.trees.attribute), 1 << self.trees.depth)
        votes = np.eye(classes)[labels.reshape(shape)]
        start = np.zeros(classes)
        return Forest(
            self.task.schema, self.task.classes, self.trees, None, labels.reshape(shape), votes, start, False
        )


def grown(task: Task, trees: int, depth: int, seed: int, *, test_share: float = 0.2) -> Grown:
    """Random trees on disjoint parts of four fifths of the rows; the rest is for the test. Call it seeded."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(task.labels))
    held_out = round(test_share * len(order))
    test, train = order[:held_out], order[held_out:]
    structure = draw_trees(task.schema, trees, depth)
    tree = generator.integers(trees, size=len(train)).astype(np.int32)
    leaf = (tree.astype(np.int64) << depth) + structure.leaves(task.fine[train], tree)
    classes = len(task.classes)
    cells = np.bincount(leaf * classes + task.labels[train], minlength=(trees << depth) * classes)
    return Grown(task, structure, cells.reshape(-1, classes), test)


def margins(counts: Wholes) -> tuple[Wholes, Wholes]:
    """The majority label of every leaf (the first of the largest), and the changes that it survives."""
    winner = counts.argmax(axis=1)
    rows = np.arange(len(counts))
    leads = counts[rows, winner][:, None] - counts + (np.arange(counts.shape[1]) > winner[:, None])
    leads[rows, winner] = np.iinfo(np.int64).max
    return winner, leads.min(axis=1) - 1


def by_winner(counts: Wholes, chance: Callable[[int], float], generator: np.random.Generator) -> Wholes:
    """The majority label with a probability that its margin decides; the other labels share the rest."""
    winner, margin = margins(counts)
    distinct, place = np.unique(margin, return_inverse=True)
    chances = np.array([chance(int(m)) for m in distinct])[place]
    others = generator.integers(counts.shape[1] - 1, size=len(counts))
    others += others >= winner
    return np.where(generator.random(len(counts)) < chances, winner, others)


def in_random_order(
    counts: Wholes, label: Callable[[Wholes], Wholes], generator: np.random.Generator
) -> Wholes:
    """Labels with every leaf's ties broken in an order of its own, drawn without a look at the data.

    Most leaves of deep trees are empty. Where the first label wins ties, they all vote for the first class.
    """
    plain = np.tile(np.arange(counts.shape[1]), (len(counts), 1))
    order = generator.permuted(plain, axis=1)
    places = label(np.take_along_axis(counts, order, axis=1))
    return np.asarray(order[np.arange(len(counts)), places])


def labels(counts: Wholes, epsilon: Fraction, mechanism: str, generator: np.random.Generator) -> Wholes:
    """The labels of all leaves by a mechanism of the foundation."""
    if mechanism == "exponential":
        return np.asarray((float(epsilon) * counts + generator.gumbel(size=counts.shape)).argmax(axis=1))
    if mechanism == "permute_and_flip":
        noise = generator.exponential(1 / float(epsilon), size=counts.shape)
        return np.asarray((counts + noise).argmax(axis=1))
    majority = (np.arange(counts.shape[1]) == 0).astype(np.float64)
    options = {"noise": "winner"} if mechanism == "smooth_noisy_max" else {}

    def chance(margin: int) -> float:
        lasting = Profile.from_table(np.zeros(margin), bound=1.0)
        law = selection_law(majority, profile=lasting, epsilon=epsilon, mechanism=mechanism, **options)
        return float(law[0])

    return by_winner(counts, chance, generator)
