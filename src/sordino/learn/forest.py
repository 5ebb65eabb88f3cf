"""Forest: the released random trees, and how their leaves are put together (post-processing: it costs nothing)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.loss import NOT_PRIVATE
from sordino.learn.encoding import Codes
from sordino.learn.probabilities import LEAST_WEIGHT
from sordino.learn.random_trees import RandomTrees, find_leaf
from sordino.learn.schema import Schema
from sordino.mechanisms.compiled import compiled
from sordino.mechanisms.noise.counts import add_count_noise, count_deviation
from sordino.mechanisms.selection import majority_labels
from sordino.sampling.source import is_private

Floats = NDArray[np.float64]

# Trees see overlapping attributes, so their log-odds must not simply add up: together they weigh like this many
# independent ones (measured, docs/benchmarks/reproduction-trees.md).
POOLED_TREES = 3.0
VOTING = ("auto", "pooled", "soft", "hard")


@dataclass(frozen=True, slots=True)
class Forest:
    """Released: the structure, and per tree and leaf the noisy counts per class or (``counts`` None) the label.

    ``votes``: what a leaf adds to the score of every class; ``start``: the score before any tree has spoken.
    ``private``: False if it was drawn from a seed.

    >>> from sordino.learn import RandomForestClassifier
    >>> domain = {"member": ["no", "yes"]}
    >>> model = RandomForestClassifier(100.0, schema=domain, classes=["left", "stayed"], max_rows=10, n_estimators=2)
    >>> _ = model.fit([["no"], ["yes"]] * 5, ["left", "stayed"] * 5)
    >>> model.forest_
    Forest(trees=2, depth=1, leaves=2 each)
    """

    schema: Schema
    classes: NDArray[Any]
    trees: RandomTrees
    counts: NDArray[np.int64] | None
    labels: NDArray[np.int64] | None
    votes: Floats
    start: Floats
    pooled: bool
    private: bool = True

    def probabilities(self, codes: Codes, threads: int) -> Floats:
        """A distribution over classes for every row of codes."""
        scores = np.tile(self.start, (len(codes), 1))
        parts = np.array_split(np.arange(len(codes)), max(1, min(threads, len(codes))))

        def add(rows: NDArray[np.intp]) -> None:
            if len(rows):
                part = slice(int(rows[0]), int(rows[-1]) + 1)
                t = self.trees
                _add_votes(codes[part], t.attribute, t.split, t.right, t.depth, self.votes, scores[part])

        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(add, parts))
        if self.pooled:
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def __repr__(self) -> str:
        trees, nodes = self.trees.attribute.shape
        mark = "" if self.private else f", {NOT_PRIVATE}"
        return f"Forest(trees={trees}, depth={self.trees.depth}, leaves={nodes + 1} each{mark})"


def count_threads(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs as a number of threads."""
    processors = os.cpu_count() or 1
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ParameterError(f"n_jobs must be a whole number of threads, -1 for all, or None, got {n_jobs!r}")
    return max(1, processors + 1 + n_jobs) if n_jobs < 0 else n_jobs


def estimate_leaves(counts: NDArray[np.int64], deviation: float, prior: Floats) -> Floats:
    """(trees, leaves, classes) noisy counts as distributions, each node mixed with its parent's.

    As in `sordino.learn.probabilities`: a node of a complete tree has the summed counts of its leaves, and its parent's
    distribution weighs as much as one standard deviation of that sum's noise; the root's parent is the prior.
    """
    levels = [counts.astype(np.float64)]
    while levels[-1].shape[1] > 1:
        trees, nodes, classes = levels[-1].shape
        levels.append(levels[-1].reshape(trees, nodes // 2, 2, classes).sum(axis=2))
    chances = np.broadcast_to(prior, levels[-1].shape)
    for level in reversed(levels):
        if level.shape[1] > 1:
            chances = np.repeat(chances, 2, axis=1)
        weight = max(deviation * np.sqrt(counts.shape[1] / level.shape[1]), LEAST_WEIGHT)
        rows = np.maximum(level, 0.0)
        chances = (rows + weight * chances) / (rows.sum(axis=2, keepdims=True) + weight)
    return np.asarray(chances)


def estimate_classes(counts: NDArray[np.int64], deviation: float, prior: Floats) -> Floats:
    """The classes' share of all rows, from the noisy counts of all leaves of all trees."""
    trees, leaves, _ = counts.shape
    totals = np.maximum(counts.sum(axis=(0, 1)), 0.0)
    weight = max(deviation * np.sqrt(trees * leaves), LEAST_WEIGHT)
    return np.asarray((totals + weight * prior) / (totals.sum() + weight))


def release_forest(
    exact: NDArray[np.int64],
    epsilon: Fraction,
    trees: RandomTrees,
    schema: Schema,
    classes: NDArray[Any],
    prior: Floats,
    leaves: str,
    voting: str,
) -> Forest:
    """Release what the leaves hold (rows of ``exact``, disjoint) and turn it into votes."""
    shape = (len(trees.attribute), 1 << trees.depth, len(classes))
    if leaves != "counts":
        labels = majority_labels(exact, epsilon, leaves).reshape(shape[:2])
        votes = np.eye(len(classes))[labels]
        start = np.zeros(len(classes))
        return Forest(schema, classes, trees, None, labels, votes, start, False, is_private())
    counts = add_count_noise(exact, epsilon).reshape(shape)
    deviation = count_deviation(epsilon)
    common = estimate_classes(counts, deviation, prior)
    chances = estimate_leaves(counts, deviation, common)
    start = np.zeros(len(classes))
    if voting == "hard":
        votes = np.eye(len(classes))[chances.argmax(axis=2)]
    elif voting == "soft":
        votes = chances
    else:
        votes = (np.log(chances) - np.log(common)) * min(1.0, POOLED_TREES / len(chances))
        start = np.log(common)
    pooled = voting in ("auto", "pooled")
    return Forest(schema, classes, trees, counts, None, votes, start, pooled, is_private())


@compiled
def _add_votes(
    codes: Codes,
    attribute: NDArray[np.int32],
    split: NDArray[np.int32],
    right: NDArray[np.uint8],
    depth: int,
    votes: Floats,
    scores: Floats,
) -> None:
    for tree in range(attribute.shape[0]):
        for row in range(codes.shape[0]):
            leaf = find_leaf(codes[row], attribute[tree], split[tree], right[tree], depth)
            for label in range(scores.shape[1]):
                scores[row, label] += votes[tree, leaf, label]
