"""Split criteria of decision trees: tables of counts, their utilities and every sensitivity, by walking universes.

A node sees, for one attribute, the table of counts τ[j][c] (public value j, public class c). One row added or removed
moves one cell by one. A universe of tables is cut at a number of rows: its sensitivities are those of a node that can
never hold more. `reaching` gives the uncut ones, by cutting so far away that no walk gets there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from tests.oracles.universe import Universe, contingency_tables, from_moves

Table = tuple[tuple[int, ...], ...]
Rows = tuple[int, ...]


# -- utilities of one attribute ------------------------------------------------------------------------------------


def information_gain(table: Sequence[Sequence[int]]) -> float:
    """Minus the rows times the entropy, in bits, of the class given the value."""
    terms = [n * math.log2(n / sum(counts)) for counts in table for n in counts if n]
    return math.fsum(terms)


def max_operator(table: Sequence[Sequence[int]]) -> int:
    """How many rows are classified rightly by the majority class of their value."""
    return sum(max(counts) for counts in table)


def gini(table: Sequence[Sequence[int]]) -> Fraction:
    """Minus the rows times the Gini impurity of the class given the value; a value without rows adds nothing."""
    purity = sum(Fraction(sum(n * n for n in counts), sum(counts)) for counts in table if sum(counts))
    return purity - sum(map(sum, table))


UTILITIES: dict[str, Callable[[Sequence[Sequence[int]]], float | int | Fraction]] = {
    "information_gain": information_gain,
    "max_operator": max_operator,
    "gini": gini,
}


# -- sensitivities by walking --------------------------------------------------------------------------------------


def walk_sensitivity(universe: Universe, utility: np.ndarray, farthest: int) -> np.ndarray:
    """LS(x, t, r) for t = 0..farthest as [database, t, candidate], without the matrix of all distances.

    What y within t + 1 changes of x can do is what some y within t changes of x, or of a neighbour of x, can do.
    """
    utility = np.asarray(utility)
    utility = utility[:, None] if utility.ndim == 1 else utility
    left = np.repeat(np.arange(len(universe)), [len(row) for row in universe.adjacent])
    right = np.fromiter(itertools.chain.from_iterable(universe.adjacent), dtype=np.int64, count=len(left))
    current = np.zeros_like(utility)
    np.maximum.at(current, left, np.abs(utility[left] - utility[right]))
    columns = [current]
    for _ in range(farthest):
        further = current.copy()
        np.maximum.at(further, left, current[right])
        current = further
        columns.append(current)
    return np.stack(columns, axis=1)


def table_sensitivity(
    shape: tuple[int, int], most_rows: int, name: str, farthest: int
) -> tuple[Universe, np.ndarray, np.ndarray]:
    """All tables of at most `most_rows` rows, u and LS[table, t]: nobody's table ever holds more rows."""
    universe = contingency_tables(shape, most_rows)
    utility = np.array([float(UTILITIES[name](table)) for table in universe.databases])
    return universe, utility, walk_sensitivity(universe, utility, farthest)[:, :, 0]


def reaching(
    shape: tuple[int, int], most_rows: int, name: str, farthest: int
) -> tuple[list[Table], np.ndarray]:
    """Tables of at most `most_rows` rows and LS[table, t] where walks may add as many rows as they like."""
    universe, _, local = table_sensitivity(shape, most_rows + farthest + 1, name, farthest)
    kept = [i for i, table in enumerate(universe.databases) if sum(map(sum, table)) <= most_rows]
    return [universe.databases[i] for i in kept], local[kept]


def ball_sensitivity(
    table: Table, utility: Callable[[Table], float], t: int, most_rows: int | None = None
) -> float:
    """LS(x, t) of one table straight from the definition: every y in the ball, every neighbour z of each y."""

    def neighbours(y: Table) -> Iterator[Table]:
        for j, c in itertools.product(range(len(y)), range(len(y[0]))):
            for by in (1, -1):
                counts = (*y[j][:c], y[j][c] + by, *y[j][c + 1 :])
                z = (*y[:j], counts, *y[j + 1 :])
                if counts[c] >= 0 and (most_rows is None or sum(map(sum, z)) <= most_rows):
                    yield z

    ball = {table}
    for _ in range(t):
        ball |= {z for y in ball for z in neighbours(y)}
    return float(max((abs(utility(y) - utility(z)) for y in ball for z in neighbours(y)), default=0))


# -- several attributes of the same rows ---------------------------------------------------------------------------


def row_types(values: Sequence[int], classes: int) -> list[tuple[int, ...]]:
    """Every possible row: a value of each attribute, and the class."""
    return list(itertools.product(*map(range, values), range(classes)))


def joint_rows(
    values: Sequence[int], classes: int, most_rows: int, *, replace: bool = False, fewest: int = 0
) -> Universe:
    """Multisets of rows as sorted tuples of positions in `row_types`.

    Add/remove between `fewest` and `most_rows` rows, or replace with exactly `most_rows`.
    """
    kinds = range(len(row_types(values, classes)))
    sizes = [most_rows] if replace else range(fewest, most_rows + 1)
    everything = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(kinds, size) for size in sizes
    )

    def moves(x: Rows) -> Iterator[Rows]:
        shorter = {(*x[:i], *x[i + 1 :]) for i in range(len(x))}
        if replace:
            yield from (tuple(sorted((*y, kind))) for y in shorter for kind in kinds)
        else:
            yield from shorter
            yield from (tuple(sorted((*x, kind))) for kind in kinds)

    return from_moves(everything, moves)


def attribute_tables(rows: Rows, values: Sequence[int], classes: int) -> list[np.ndarray]:
    """The table of counts of every attribute."""
    kinds = row_types(values, classes)
    tables = [np.zeros((size, classes), dtype=np.int64) for size in values]
    for row in rows:
        *cells, label = kinds[row]
        for table, value in zip(tables, cells, strict=True):
            table[value, label] += 1
    return tables


def attribute_scores(rows: Rows, values: Sequence[int], classes: int, name: str) -> list[float]:
    """The utility of every attribute."""
    return [float(UTILITIES[name](table.tolist())) for table in attribute_tables(rows, values, classes)]
