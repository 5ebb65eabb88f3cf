"""Where a growing tree's counts come from: rows in memory here, a database in `relation.py`."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.learn.encoding import Codes
from sordino.mechanisms.compiled import compiled

Counts = NDArray[np.int64]


class CellCounter(Protocol):
    """Rows that are sorted into the open nodes of one level, and can be counted there.

    The cells of a node are all (attribute, code, class), attribute after attribute. Rows at closed nodes are out.
    """

    def tables(self, nodes: int) -> Counts:
        """Counts of all cells: (nodes, cells)."""

    def histograms(self, nodes: int) -> Counts:
        """Counts per class: (nodes, classes)."""

    def descend(self, attribute: NDArray[np.int32], first_child: NDArray[np.int32]) -> None:
        """Move every row to the child of its node: ``first_child`` + its code; attribute −1 closes the node."""


class MemoryRows:
    """Rows in memory, as codes and class codes."""

    def __init__(self, codes: Codes, labels: Codes, sizes: tuple[int, ...], classes: int) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.labels = np.ascontiguousarray(labels)
        self.classes = classes
        self.starts = np.cumsum([0, *sizes]) * classes
        self.node = np.zeros(len(codes), dtype=np.int32)

    def tables(self, nodes: int) -> Counts:
        """Counts of all cells: (nodes, cells)."""
        counts = np.zeros((nodes, int(self.starts[-1])), dtype=np.int64)
        _count_cells(self.codes, self.labels, self.node, self.starts, self.classes, counts)
        return counts

    def histograms(self, nodes: int) -> Counts:
        """Counts per class: (nodes, classes)."""
        here = self.node >= 0
        places = self.node[here].astype(np.int64) * self.classes + self.labels[here]
        return np.bincount(places, minlength=nodes * self.classes).reshape(nodes, self.classes)

    def descend(self, attribute: NDArray[np.int32], first_child: NDArray[np.int32]) -> None:
        """Move every row to the child of its node."""
        _move(self.codes, self.node, attribute, first_child)


class CutCounter:
    """A counter of any number of rows, for criteria that are told of ``max_rows`` at most.

    Every cell (value, class) of an attribute's table counts at most ``max_rows`` divided by the cells of that table,
    so no table holds more than ``max_rows`` rows.

    **Guarantee**: neighbours stay neighbours. A row added to the data adds one to one cell of every table, or, where
    the cell is full, nothing: what is cut is the table of the same rows or of one row more, and every release that is
    private for one row added or removed stays so, of whatever data. (Rows could not be cut like that: to keep the
    first so many of them puts another row in the place of one that leaves, which is two changes.)
    **What it costs**: nothing while all cells are below that; beyond, splits are judged and counts are released as if
    the full cells were no fuller.
    """

    def __init__(self, source: CellCounter, sizes: tuple[int, ...], classes: int, max_rows: int) -> None:
        self.source = source
        self.most = np.repeat([max_rows // (size * classes) for size in sizes], [s * classes for s in sizes])
        self.most_of_class = max_rows // classes

    def tables(self, nodes: int) -> Counts:
        """Counts of all cells: (nodes, cells)."""
        counts: Counts = np.minimum(self.source.tables(nodes), self.most)
        return counts

    def histograms(self, nodes: int) -> Counts:
        """Counts per class: (nodes, classes)."""
        counts: Counts = np.minimum(self.source.histograms(nodes), self.most_of_class)
        return counts

    def descend(self, attribute: NDArray[np.int32], first_child: NDArray[np.int32]) -> None:
        """Move every row to the child of its node."""
        self.source.descend(attribute, first_child)


@compiled
def _count_cells(
    codes: Codes, labels: Codes, node: NDArray[np.int32], starts: Counts, classes: int, counts: Counts
) -> None:
    for row in range(codes.shape[0]):
        place = node[row]
        if place >= 0:
            for attribute in range(codes.shape[1]):
                counts[place, starts[attribute] + codes[row, attribute] * classes + labels[row]] += 1


@compiled
def _move(
    codes: Codes, node: NDArray[np.int32], attribute: NDArray[np.int32], first_child: NDArray[np.int32]
) -> None:
    for row in range(codes.shape[0]):
        place = node[row]
        if place >= 0:
            split = attribute[place]
            node[row] = -1 if split < 0 else first_child[place] + codes[row, split]
