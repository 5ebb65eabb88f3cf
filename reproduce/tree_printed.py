"""Local dampening's Algorithm 4 to the letter, for any way of choosing the attribute.

ε' = ε/(2(d+1)) for the count of every node and for its selection or its class counts; a node is split if its noisy
count is at least √2/ε' per cell of the widest attribute (both prints say √2/2, see `docs/errata.md`); a leaf's label is
the largest noisy class count. Rows to predict are sent down beside the rows to learn from.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tree_data import Task

from sordino.learn.contingency import MemoryRows
from sordino.learn.criteria import CRITERIA, MaxOperator, Table

Places = NDArray[np.intp]
Choose = Callable[[list[Table], float], int]
EXACT = math.inf
DEGREES = 3  # of freedom of the thesis's Student-t noise


def predictions(
    task: Task,
    train: Places,
    test: Places,
    epsilon: float,
    depth: int,
    choose: Choose,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """The labels that a tree grown on ``train`` gives to ``test``. With ε = ∞ it is plain ID3."""
    each = epsilon / (2 * (depth + 1))
    found = np.zeros(len(task.labels), dtype=np.int64)
    classes, sizes = len(task.classes), task.schema.sizes

    def noisy(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        scale = 0.0 if math.isinf(each) else 1 / each
        return np.asarray(counts + generator.laplace(scale=scale, size=counts.shape))

    def build(rows: Places, asked: Places, left: tuple[int, ...], levels: int) -> None:
        if not len(asked):  # nobody looks at this part of the tree
            return
        counts = np.bincount(task.labels[rows], minlength=classes)
        size = float(noisy(counts.sum())[()])
        widest = max((sizes[attribute] for attribute in left), default=1)
        deviation = 0.0 if math.isinf(each) else math.sqrt(2) / each
        if not left or not levels or size / (widest * classes) < deviation or (deviation == 0 and size == 0):
            found[asked] = noisy(counts).argmax()
            return
        cells = MemoryRows(task.codes[rows], task.labels[rows], sizes, classes).tables(1)[0]
        starts = np.cumsum([0, *sizes]) * classes
        tables = [cells[starts[a] : starts[a + 1]].reshape(-1, classes) for a in left]
        chosen = left[choose(tables, each)]
        rest = tuple(attribute for attribute in left if attribute != chosen)
        for code in range(sizes[chosen]):
            below = rows[task.codes[rows, chosen] == code]
            if math.isinf(each) and not len(below):  # plain ID3: an empty child says what its parent says
                found[asked[task.codes[asked, chosen] == code]] = counts.argmax()
            else:
                build(below, asked[task.codes[asked, chosen] == code], rest, levels - 1)

    build(train, test, tuple(range(len(sizes))), depth)
    return found[test]


def largest(criterion: str, max_rows: int) -> Choose:
    """The best attribute, not private."""
    return lambda tables, _: int(CRITERIA[criterion].scores(tables, max_rows).argmax())


def printed_student(generator: np.random.Generator) -> Choose:
    """The thesis's smooth noisy max on the max operator, Student-t noise: S = e^(−kε), N = 2S/α. **Not private**.

    α = 2√ν/(ν+1) as printed, without the factor ε − (ν+1)β; the lead k of the best attribute over the second.
    """
    alpha = 2 * math.sqrt(DEGREES) / (DEGREES + 1)

    def choose(tables: list[Table], epsilon: float) -> int:
        scores = MaxOperator().scores(tables, 0)
        utilities = (np.arange(len(tables)) == scores.argmax()).astype(np.float64)
        lead = np.diff(np.sort(scores)[-2:])[0] if len(tables) > 1 else 0.0
        scale = 2 * math.exp(-lead * epsilon) / alpha
        return int((utilities + scale * generator.standard_t(DEGREES, size=len(tables))).argmax())

    return choose
