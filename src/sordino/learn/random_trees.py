"""Random trees: splits drawn from the public domain, without a look at the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.display.progress import show_progress
from sordino.learn.encoding import Codes
from sordino.learn.schema import Continuous, Schema
from sordino.mechanisms.compiled import compiled
from sordino.sampling.source import random_below

# Split points of a continuous attribute lie on this many equal steps between its bounds.
_STEPS = 1 << 16


@dataclass(frozen=True, slots=True)
class RandomTrees:
    """Complete binary trees of one depth. Node i of a level has children 2i and 2i + 1 on the next.

    In tree t, node i of level l (at 2^l − 1 + i) tests ``attribute`` (−1: none, all rows go left). A discrete value
    goes right if its bit in ``right`` is set; a continuous one, counted in equal steps between its bounds, from
    ``split`` on (−1 where the attribute is discrete).
    """

    depth: int
    attribute: NDArray[np.int32]
    split: NDArray[np.int32]
    right: NDArray[np.uint8]

    def leaves(self, codes: Codes, tree: NDArray[np.int32]) -> NDArray[np.int32]:
        """The leaf (0 … 2^depth − 1) of every row in the tree that is given for it."""
        found = np.zeros(len(codes), dtype=np.int32)
        _find_leaves(codes, tree, self.attribute, self.split, self.right, self.depth, found)
        return found


def draw_trees(schema: Schema, trees: int, depth: int) -> RandomTrees:
    """Draw the structure: at every node an attribute, and a split point or a set of values.

    A discrete attribute is tested once on a path (as in Fletcher and Islam), by a random proper subset of its values;
    a continuous one may be tested again. Where no attribute is left, all rows go left.
    """
    nodes = (1 << depth) - 1
    widest = max((a.size for a in schema.attributes if not isinstance(a, Continuous)), default=1)
    attribute = np.full((trees, nodes), -1, dtype=np.int32)
    split = np.zeros((trees, nodes), dtype=np.int32)
    right = np.zeros((trees, nodes, widest), dtype=np.uint8)
    testable = tuple(p for p, a in enumerate(schema.attributes) if a.size > 1)
    with show_progress("random trees") as step:
        for tree in range(trees):
            _draw_tree(schema, testable, attribute[tree], split[tree], right[tree])
            step(tree + 1, trees)
    return RandomTrees(depth, attribute, split, right)


def _draw_tree(
    schema: Schema,
    testable: tuple[int, ...],
    attribute: NDArray[np.int32],
    split: NDArray[np.int32],
    right: NDArray[np.uint8],
) -> None:
    """Fill in the nodes of one tree, the root first."""
    nodes = len(attribute)
    left_to_test = [testable] + [()] * (nodes - 1)
    for node in range(nodes):
        candidates = left_to_test[node]
        if not candidates:
            continue
        place = candidates[random_below(len(candidates))]
        attribute[node] = place
        chosen = schema.attributes[place]
        rest = candidates
        if isinstance(chosen, Continuous):
            split[node] = 1 + random_below(_STEPS - 1)
        else:
            split[node] = -1
            right[node, : chosen.size] = _proper_subset(chosen.size)
            rest = tuple(p for p in candidates if p != place)
        if 2 * node + 2 < nodes:
            left_to_test[2 * node + 1] = left_to_test[2 * node + 2] = rest


def _proper_subset(size: int) -> list[int]:
    """A uniform subset that is neither empty nor everything, as bits."""
    chosen = 1 + random_below((1 << size) - 2)
    return [chosen >> place & 1 for place in range(size)]


def count_steps(codes_of: NDArray[np.float64], attribute: Continuous) -> Codes:
    """Numbers within the bounds as steps; a missing value (NaN) gets the step after the last."""
    low, high = attribute.bounds
    with np.errstate(invalid="ignore"):
        steps = np.minimum((codes_of - low) / (high - low) * _STEPS, _STEPS - 1)
    return np.where(np.isnan(steps), _STEPS, steps).astype(np.int32)


@compiled
def find_leaf(
    codes: NDArray[np.int32],
    attribute: NDArray[np.int32],
    split: NDArray[np.int32],
    right: NDArray[np.uint8],
    depth: int,
) -> int:
    """The leaf of one row in one tree."""
    node = 0
    for _ in range(depth):
        tested = attribute[node]
        turn = 0
        if tested >= 0:
            code = codes[tested]
            turn = (1 if code >= split[node] else 0) if split[node] >= 0 else right[node, code]
        node = 2 * node + 1 + turn
    return node - ((1 << depth) - 1)


@compiled
def _find_leaves(
    codes: Codes,
    tree: NDArray[np.int32],
    attribute: NDArray[np.int32],
    split: NDArray[np.int32],
    right: NDArray[np.uint8],
    depth: int,
    found: NDArray[np.int32],
) -> None:
    for row in range(codes.shape[0]):
        t = tree[row]
        found[row] = find_leaf(codes[row], attribute[t], split[t], right[t], depth)
