"""Grow a private decision tree level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import PrivateDataError
from sordino.display.progress import show_progress
from sordino.learn import probabilities
from sordino.learn.choices import Choices
from sordino.learn.contingency import CellCounter
from sordino.learn.criteria import Table
from sordino.learn.path_shares import PathShares
from sordino.learn.schema import Schema
from sordino.learn.tree import Tree
from sordino.mechanisms.noise.counts import count_deviation
from sordino.sampling.source import is_private


@dataclass(frozen=True, slots=True)
class TreePlan:
    """The public parameters of a tree."""

    schema: Schema
    classes: NDArray[Any]
    max_rows: int
    max_depth: int
    shares: PathShares
    release_counts: bool
    prior: NDArray[np.float64]


@dataclass(slots=True)
class _Node:
    """A node while the tree grows: public facts about its path, and what was released about it."""

    parent: int
    level: int
    open: tuple[int, ...]
    spent: Fraction
    attribute: int = -1
    first_child: int = -1
    size: float = math.nan
    epsilon: Fraction = Fraction(0)
    label: int = -1
    counts: list[int] = field(default_factory=list)


def grow(source: CellCounter, plan: TreePlan, choices: Choices) -> Tree:
    """Grow and release a tree.

    **Guarantee**: ε-DP for one row added or removed, ε = ``plan.shares.total``. Nodes of one level hold disjoint rows,
    so their releases compose in parallel; along a path they compose in sequence, and `_Node.spent` never exceeds ε:
    every leaf is given exactly what its path has left. Where to split, stop and what to spend depends on what was
    released before and on public parameters only.
    **Requires**: the domain, the classes and ``max_rows`` are public, and no more rows than that are there.
    **Source**: LD Algorithm 4, with a count only where the outcome matters, and no budget left at a leaf.
    """
    nodes = [_Node(-1, 0, _useful(plan.schema), Fraction(0))]
    frontier = [0]
    with show_progress("tree") as step:
        while frontier:
            frontier = _grow_level(nodes, frontier, source, plan, choices)
            step(nodes[frontier[0]].level if frontier else plan.max_depth, plan.max_depth)
    return _finished(nodes, plan)


def _grow_level(
    nodes: list[_Node], frontier: list[int], source: CellCounter, plan: TreePlan, choices: Choices
) -> list[int]:
    """Split or close every open node of one level; the open nodes of the next."""
    splittable = [n for n in frontier if nodes[n].level < plan.max_depth and nodes[n].open]
    counts = source.tables(len(frontier)) if splittable else None
    histograms = source.histograms(len(frontier)) if counts is None else _classes_of(counts, plan)
    if frontier == [0] and histograms.sum() > plan.max_rows:
        raise PrivateDataError(f"there are more rows than max_rows = {plan.max_rows}: give a larger bound")
    place = {node: position for position, node in enumerate(frontier)}
    going = _large_enough(nodes, splittable, histograms[[place[n] for n in splittable]], plan, choices)
    for node in going:
        if counts is not None:
            _split(nodes[node], _tables(counts[place[node]], nodes[node].open, plan), plan, choices)
    _close(nodes, frontier, histograms, plan, choices)
    return _children(nodes, frontier, source, plan)


def smallest_splittable(sizes: list[int], plan: TreePlan) -> float:
    """The public size below which a node becomes a leaf.

    A split by the attribute of most values must leave, on average, more rows in every cell (value, class) than the
    standard deviation of a leaf's noise; and the count that decides this must stand clear of its own noise.
    """
    per_cell = max(sizes) * len(plan.classes) * count_deviation(plan.shares.leaf)
    return max(per_cell, 2 * count_deviation(plan.shares.count))


def _useful(schema: Schema) -> tuple[int, ...]:
    return tuple(place for place, size in enumerate(schema.sizes) if size > 1)


def _classes_of(counts: NDArray[np.int64], plan: TreePlan) -> NDArray[np.int64]:
    """Rows per class, from the cells of the first attribute."""
    classes = len(plan.classes)
    cells = counts[:, : plan.schema.sizes[0] * classes]
    rows: NDArray[np.int64] = cells.reshape(len(counts), -1, classes).sum(axis=1)
    return rows


def _tables(cells: NDArray[np.int64], open_: tuple[int, ...], plan: TreePlan) -> list[Table]:
    classes, sizes = len(plan.classes), plan.schema.sizes
    starts = list(accumulate(sizes, initial=0))
    return [cells[starts[a] * classes : starts[a + 1] * classes].reshape(-1, classes) for a in open_]


def _large_enough(
    nodes: list[_Node], candidates: list[int], histograms: NDArray[np.int64], plan: TreePlan, choices: Choices
) -> list[int]:
    """Those of the candidates that are large enough to be split, by a noisy count; the root always is."""
    if not candidates or candidates == [0]:
        return candidates
    going, sizes = [], plan.schema.sizes
    noisy = choices.counts(histograms.sum(axis=1), plan.shares.count)
    for node, size in zip(candidates, noisy.tolist(), strict=True):
        nodes[node].size = size
        nodes[node].spent += plan.shares.count
        if size >= smallest_splittable([sizes[a] for a in nodes[node].open], plan):
            going.append(node)
    return going


def _split(node: _Node, tables: list[Table], plan: TreePlan, choices: Choices) -> None:
    """Choose the attribute; where only one is left there is nothing to choose, or to pay."""
    chosen = 0
    if len(tables) > 1:
        chosen = choices.attribute(tables, plan.shares.selection)
        node.spent += plan.shares.selection
    node.attribute = node.open[chosen]


def _close(
    nodes: list[_Node], frontier: list[int], histograms: NDArray[np.int64], plan: TreePlan, choices: Choices
) -> None:
    """Release the counts or the label of every node that was not split, for all that its path has left."""
    left: dict[Fraction, list[int]] = {}
    for position, node in enumerate(frontier):
        if nodes[node].attribute < 0:
            left.setdefault(plan.shares.total - nodes[node].spent, []).append(position)
    for epsilon, positions in left.items():
        exact = histograms[positions]
        released = choices.counts(exact, epsilon) if plan.release_counts else choices.labels(exact, epsilon)
        for position, value in zip(positions, released.tolist(), strict=True):
            leaf = nodes[frontier[position]]
            leaf.epsilon, leaf.spent = epsilon, plan.shares.total
            if plan.release_counts:
                leaf.counts = value
            else:
                leaf.label = value


def _children(nodes: list[_Node], frontier: list[int], source: CellCounter, plan: TreePlan) -> list[int]:
    """Open the children of every split node and move the rows there."""
    attribute = np.array([nodes[node].attribute for node in frontier], dtype=np.int32)
    first_child = np.full(len(frontier), -1, dtype=np.int32)
    start, opened, sizes = len(nodes), 0, plan.schema.sizes
    for position, index in enumerate(frontier):
        node = nodes[index]
        if node.attribute >= 0:
            first_child[position] = opened
            node.first_child = start + opened
            rest = tuple(a for a in node.open if a != node.attribute)
            size = sizes[node.attribute]
            nodes.extend(_Node(index, node.level + 1, rest, node.spent) for _ in range(size))
            opened += size
    if opened:
        source.descend(attribute, first_child)
    return list(range(start, start + opened))


def _finished(nodes: list[_Node], plan: TreePlan) -> Tree:
    classes = len(plan.classes)
    parents = np.array([node.parent for node in nodes], dtype=np.int32)
    labels = np.array([node.label for node in nodes], dtype=np.int32)
    counts = np.array([node.counts or [0] * classes for node in nodes], dtype=np.int64)
    variances = np.array([count_deviation(n.epsilon) ** 2 if n.counts else 0.0 for n in nodes])
    if plan.release_counts:
        chances = probabilities.from_counts(parents, counts.astype(np.float64), variances, plan.prior)
    else:
        chances = probabilities.from_labels(parents, labels, classes)
    return Tree(
        schema=plan.schema,
        classes=plan.classes,
        attribute=np.array([node.attribute for node in nodes], dtype=np.int32),
        first_child=np.array([node.first_child for node in nodes], dtype=np.int32),
        level=np.array([node.level for node in nodes], dtype=np.int32),
        size=np.array([node.size for node in nodes]),
        counts=counts,
        epsilon=np.array([float(node.epsilon) for node in nodes]),
        label=labels,
        probabilities=chances,
        private=is_private(),
    )
