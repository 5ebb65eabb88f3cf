"""Tree: what was released, and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core.loss import NOT_PRIVATE
from sordino.learn.encoding import Codes
from sordino.learn.schema import Schema


@dataclass(frozen=True, slots=True)
class Tree:
    """A released decision tree as flat arrays, one entry per node, the root first.

    ``attribute``: the place of the attribute that splits the node, −1 for leaves; its child for code v is
    ``first_child`` + v. ``size``: the noisy number of rows, NaN where none was released. ``counts``: noisy rows per
    class, of leaves (zero elsewhere), with the ``epsilon`` that was spent on them; or ``label``, −1 where counts were
    released instead. ``probabilities``: rows per class as a distribution, computed from the above alone.
    ``private``: False if it was drawn from a seed, which everything that shows the tree then says.

    >>> from sordino.learn import DecisionTreeClassifier
    >>> domain = {"member": ["no", "yes"]}
    >>> model = DecisionTreeClassifier(100.0, schema=domain, classes=["left", "stayed"], max_rows=10)
    >>> _ = model.fit([["no"], ["yes"]] * 5, ["left", "stayed"] * 5)
    >>> model.tree_
    Tree(nodes=3, leaves=2, depth=1)
    """

    schema: Schema
    classes: NDArray[Any]
    attribute: NDArray[np.int32]
    first_child: NDArray[np.int32]
    level: NDArray[np.int32]
    size: NDArray[np.float64]
    counts: NDArray[np.int64]
    epsilon: NDArray[np.float64]
    label: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    private: bool = True

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.attribute)

    @property
    def leaves(self) -> int:
        """How many of them are leaves."""
        return int((self.attribute < 0).sum())

    @property
    def depth(self) -> int:
        """The level of the deepest node."""
        return int(self.level.max())

    def leaf_of(self, codes: Codes) -> NDArray[np.int32]:
        """The leaf that every row of codes falls into."""
        at = np.zeros(len(codes), dtype=np.int32)
        for _ in range(self.depth):
            inner = np.flatnonzero(self.attribute[at] >= 0)
            here = at[inner]
            at[inner] = self.first_child[here] + codes[inner, self.attribute[here]]
        return at

    def children(self, node: int) -> range:
        """The children of an inner node, in the order of the attribute's codes."""
        start = int(self.first_child[node])
        return range(start, start + self.schema.attributes[int(self.attribute[node])].size)

    def to_dict(self, node: int = 0) -> dict[str, Any]:
        """The tree from ``node`` down as plain data for JSON."""
        return {"private": self.private} | self._below(node)

    def _below(self, node: int) -> dict[str, Any]:
        chances = [round(chance, 6) for chance in self.probabilities[node].tolist()]
        shown: dict[str, Any] = {
            "probabilities": dict(zip(map(str, self.classes.tolist()), chances, strict=True))
        }
        if not math.isnan(self.size[node]):
            shown["noisy_rows"] = int(self.size[node])
        if self.attribute[node] < 0:
            if self.label[node] >= 0:
                return shown | {"label": self.classes[self.label[node]].item()}
            return shown | {"noisy_counts": self.counts[node].tolist()}
        attribute = self.schema.attributes[int(self.attribute[node])]
        below = {attribute.label(code): self._below(child) for code, child in enumerate(self.children(node))}
        return shown | {"split_by": attribute.name, "children": below}

    def __repr__(self) -> str:
        mark = "" if self.private else f", {NOT_PRIVATE}"
        return f"Tree(nodes={self.nodes}, leaves={self.leaves}, depth={self.depth}{mark})"
