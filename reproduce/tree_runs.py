"""Accuracy of private trees by repeated 10-fold cross-validation, all methods on the same folds.

Rows are encoded once. Two ways to grow: `printed` is Algorithm 4 to the letter (`tree_printed`), `ours` is
`sordino.learn.grow`. Draws are seeded, so a run can be repeated; repetitions run in two processes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import tree_printed
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from tree_data import Task, task

from sordino.learn import grow as growing
from sordino.learn.choices import Counts, DrawnChoices
from sordino.learn.contingency import MemoryRows
from sordino.learn.criteria import Table
from sordino.learn.grow import TreePlan
from sordino.learn.path_shares import DEFAULT_SHARES, divide_epsilon
from sordino.learn.splitting import make_splitter
from sordino.mechanisms.noise.counts import count_deviation
from sordino.mechanisms.selection import select
from sordino.testing import seeded

FOLDS = 10
PROCESSES = 2
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to grow a tree. ``rate`` 0.5 is the paper's ε/(2Δ) where the score is monotone and ε/Δ would do."""

    grown: str = "ours"
    criterion: str = "gini"
    selection: str = "permute_and_flip"
    direction: str = "plus"
    rate: Fraction = Fraction(1)
    shares: tuple[float, float, float] = tuple(DEFAULT_SHARES.values())  # type: ignore[assignment]
    leaves: str = "counts"
    predict: str = "smoothed"
    stop: tuple[str, float] = ("widest", 1.0)


@dataclass(frozen=True, slots=True)
class Slower:
    """Choices whose selections spend a part of what they may: e^(ε·rate·u/Δ)."""

    drawn: DrawnChoices
    rate: Fraction

    def attribute(self, tables: Sequence[Table], epsilon: Fraction) -> int:
        return self.drawn.attribute(tables, epsilon * self.rate)

    def counts(self, exact: Counts, epsilon: Fraction) -> Counts:
        return self.drawn.counts(exact, epsilon)

    def labels(self, exact: Counts, epsilon: Fraction) -> Counts:
        return self.drawn.labels(exact, epsilon)


@dataclass(frozen=True, slots=True)
class Run:
    """One repetition of a 10-fold cross-validation, or the first ``folds`` of its folds."""

    data: str
    method: Method
    epsilon: float
    depth: int
    repetition: int
    folds: int = FOLDS


def accuracy(run: Run) -> list[float]:
    """The share of every fold's rows that the tree of the other nine predicts right."""
    table, right = task(run.data), []
    fold = folds(len(table.labels), run.repetition)
    seed = zlib.crc32(repr(run).encode())
    with seeded(seed):
        generator = np.random.default_rng(seed)
        for place in range(run.folds):
            train, test = np.flatnonzero(fold != place), np.flatnonzero(fold == place)
            predicted = GROWERS[run.method.grown](table, train, test, run, generator)
            right.append(float((predicted == table.labels[test]).mean()))
    return right


@cache
def folds(rows: int, repetition: int) -> NDArray[np.int64]:
    """The fold of every row."""
    fold = np.arange(rows) % FOLDS
    np.random.default_rng(repetition).shuffle(fold)
    return fold


def measured(runs: Iterable[Run], measure: Callable[[Any], Any] = accuracy) -> dict[Any, Any]:
    """What every run measures, in two processes."""
    todo = list(runs)
    with ProcessPoolExecutor(PROCESSES) as pool:
        return dict(zip(todo, pool.map(measure, todo, chunksize=4), strict=True))


def _ours(table: Task, train: Places, test: Places, run: Run, _: np.random.Generator) -> NDArray[np.int64]:
    method, classes = run.method, len(table.classes)
    plan = TreePlan(
        schema=table.schema,
        classes=table.classes,
        max_rows=table.max_rows,
        max_depth=run.depth,
        shares=divide_epsilon(run.epsilon, run.depth, dict(zip(DEFAULT_SHARES, method.shares, strict=True))),
        release_counts=method.leaves == "counts",
        prior=np.full(classes, 1 / classes),
    )
    chosen = make_splitter(method.criterion, method.selection, table.max_rows, method.direction, 1.0)
    drawn = DrawnChoices(chosen, "permute_and_flip" if method.leaves == "counts" else method.leaves)
    source = MemoryRows(table.codes[train], table.labels[train], table.schema.sizes, classes)
    with patch.object(growing, "smallest_splittable", _stop(*method.stop)):
        tree = growing.grow(source, plan, Slower(drawn, method.rate))
    leaf = tree.leaf_of(table.codes[test])
    released = tree.counts if method.predict == "argmax" else tree.probabilities
    return np.asarray(released[leaf].argmax(axis=1))


def _stop(kind: str, factor: float) -> Callable[[list[int], TreePlan], float]:
    """`smallest_splittable` with another attribute (widest, mean, narrowest) or fewer rows per cell."""
    sized = {"widest": max, "mean": np.mean, "narrowest": min}[kind]

    def smallest(sizes: list[int], plan: TreePlan) -> float:
        cells = float(sized(sizes)) * len(plan.classes) * count_deviation(plan.shares.leaf)
        return max(factor * cells, 2 * count_deviation(plan.shares.count))

    return smallest


def _printed(
    table: Task, train: Places, test: Places, run: Run, generator: np.random.Generator
) -> NDArray[np.int64]:
    method = run.method
    choose: tree_printed.Choose
    if method.selection == "student as printed":
        choose = tree_printed.printed_student(generator)
    else:
        asked = make_splitter(method.criterion, method.selection, table.max_rows, method.direction, 1.0)

        def choose(tables: list[Table], epsilon: float) -> int:
            return int(select(**asked.question(tables, Fraction(epsilon) * method.rate)).value)

    return tree_printed.predictions(table, train, test, run.epsilon, run.depth, choose, generator)


def _exact(
    table: Task, train: Places, test: Places, run: Run, generator: np.random.Generator
) -> NDArray[np.int64]:
    best = tree_printed.largest(run.method.criterion, table.max_rows)
    return tree_printed.predictions(table, train, test, tree_printed.EXACT, run.depth, best, generator)


def _scikit(
    table: Task, train: Places, test: Places, run: Run, generator: np.random.Generator
) -> NDArray[np.int64]:
    tree = DecisionTreeClassifier(max_depth=run.depth, random_state=run.repetition)
    return np.asarray(tree.fit(table.rows[train], table.labels[train]).predict(table.rows[test]))


def _majority(
    table: Task, train: Places, test: Places, run: Run, generator: np.random.Generator
) -> NDArray[np.int64]:
    return np.full(len(test), np.bincount(table.labels[train]).argmax())


GROWERS: dict[str, Callable[[Task, Places, Places, Run, np.random.Generator], NDArray[np.int64]]] = {
    "ours": _ours,
    "printed": _printed,
    "not private": _exact,
    "scikit-learn": _scikit,
    "majority": _majority,
}
