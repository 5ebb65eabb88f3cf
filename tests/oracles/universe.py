"""Finite universes: every database of a kind, and which of them are neighbours.

An oracle that walks a whole universe needs no theorem. Universes cut off at a size (`most_rows`, `max_n`) are
universes of their own: their sensitivities are those of the cut, not of the unbounded kind.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

UNREACHED = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Universe:
    """All databases, in a fixed order, and for each the positions of its neighbours (itself excluded)."""

    databases: tuple[Hashable, ...]
    adjacent: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.databases)

    @cached_property
    def position(self) -> dict[Hashable, int]:
        return {database: i for i, database in enumerate(self.databases)}

    @cached_property
    def distance(self) -> np.ndarray:
        return _breadth_first(self.adjacent)

    @property
    def diameter(self) -> int:
        return int(self.distance.max())

    def neighbours(self, database: Hashable) -> list[Hashable]:
        return [self.databases[i] for i in self.adjacent[self.position[database]]]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every ordered pair of neighbours, as positions."""
        return ((i, j) for i, row in enumerate(self.adjacent) for j in row)

    def table(self, score: Callable[[Hashable], object]) -> np.ndarray:
        """The values of a function of the database, one row per database."""
        return np.array([score(database) for database in self.databases])


def distances(universe: Universe) -> np.ndarray:
    """Number of single changes between every two databases, by breadth-first search."""
    return universe.distance


def _breadth_first(adjacent: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """From every database at once: what is reached after `step` changes is next to what was reached before."""
    size = len(adjacent)
    rows = np.repeat(np.arange(size), [len(row) for row in adjacent])
    columns = np.fromiter(itertools.chain.from_iterable(adjacent), dtype=np.int64, count=len(rows))
    links = sparse.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(size, size))
    result = np.full((size, size), UNREACHED, dtype=np.int64)
    np.fill_diagonal(result, 0)
    for step in itertools.count(1):
        frontier = result == step - 1
        if not frontier.any():
            break
        touched = (links @ frontier.astype(np.float32)) > 0
        result[touched & (result == UNREACHED)] = step
    if (result == UNREACHED).any():
        raise ValueError("the universe is not connected")
    return result


def from_moves(databases: Iterable[Hashable], moves: Callable[[Hashable], Iterable[Hashable]]) -> Universe:
    """A universe from its databases and all single changes; changes that leave it are dropped."""
    everything = tuple(databases)
    position = {database: i for i, database in enumerate(everything)}
    adjacent = []
    for i, database in enumerate(everything):
        reached = {position[other] for other in moves(database) if other in position}
        adjacent.append(tuple(sorted(reached - {i})))
    for i, row in enumerate(adjacent):
        if any(i not in adjacent[j] for j in row):
            raise ValueError("the neighbour relation is not symmetric")
    return Universe(everything, tuple(adjacent))


def _replace_one(values: tuple, options: Iterable) -> Iterator[tuple]:
    for option in options:
        for i in range(len(values)):
            yield (*values[:i], option, *values[i + 1 :])


def labelled_values(n: int, top: int) -> Universe:
    """All of {0..top}^n, position = individual; one value replaced."""
    return from_moves(itertools.product(range(top + 1), repeat=n), lambda x: _replace_one(x, range(top + 1)))


def multisets_replace(n: int, top: int) -> Universe:
    """Sorted n-tuples over {0..top}; one value replaced."""
    return from_moves(
        itertools.combinations_with_replacement(range(top + 1), n),
        lambda x: (tuple(sorted(y)) for y in _replace_one(x, range(top + 1))),
    )


def multisets_add_remove(max_n: int, top: int, *, fewest: int = 1) -> Universe:
    """Sorted tuples of fewest..max_n values over {0..top}; one value added or removed."""

    def moves(x: tuple) -> Iterator[tuple]:
        yield from (tuple(sorted((*x, v))) for v in range(top + 1))
        yield from ((*x[:i], *x[i + 1 :]) for i in range(len(x)))

    sizes = (itertools.combinations_with_replacement(range(top + 1), n) for n in range(fewest, max_n + 1))
    return from_moves(itertools.chain.from_iterable(sizes), moves)


def _bump(counts: tuple[int, ...], cell: int, by: int) -> tuple[int, ...]:
    return (*counts[:cell], counts[cell] + by, *counts[cell + 1 :])


def histograms(cells: int, most_rows: int) -> Universe:
    """Count vectors of at most `most_rows` rows, the empty one included; one row added or removed."""
    counts = (c for c in itertools.product(range(most_rows + 1), repeat=cells) if sum(c) <= most_rows)
    return from_moves(counts, lambda c: (_bump(c, i, by) for i in range(cells) for by in (1, -1)))


def histograms_replace(cells: int, rows: int) -> Universe:
    """Count vectors of exactly `rows` rows; one row moved to another cell."""
    counts = (c for c in itertools.product(range(rows + 1), repeat=cells) if sum(c) == rows)
    moves = list(itertools.permutations(range(cells), 2))
    return from_moves(counts, lambda c: (_bump(_bump(c, i, -1), j, 1) for i, j in moves))


def contingency_tables(shape: tuple[int, int], most_rows: int, *, replace: bool = False) -> Universe:
    """Two-way tables as tuples of rows; add/remove up to `most_rows`, or replace with exactly `most_rows`."""
    rows, columns = shape
    flat = (histograms_replace if replace else histograms)(rows * columns, most_rows)
    starts = range(0, rows * columns, columns)
    folded = tuple(tuple(c[i : i + columns] for i in starts) for c in flat.databases)
    return Universe(folded, flat.adjacent)


def graphs(nodes: int) -> Universe:
    """All simple graphs on {0..nodes-1} as frozensets of edges (i, j), i < j; one edge flipped."""
    edges = list(itertools.combinations(range(nodes), 2))
    subsets = itertools.chain.from_iterable(itertools.combinations(edges, m) for m in range(len(edges) + 1))
    return from_moves(map(frozenset, subsets), lambda g: (g ^ {edge} for edge in edges))


def random_metric_space(rng: np.random.Generator, size: int) -> Universe:
    """A random connected graph whose nodes 0..size-1 play the databases: a random tree and a few more edges."""
    links = {(int(rng.integers(i)), i) for i in range(1, size)}
    for _ in range(int(rng.integers(size))):
        i, j = sorted(int(v) for v in rng.integers(size, size=2))
        if i != j:
            links.add((i, j))
    near: list[set[int]] = [set() for _ in range(size)]
    for i, j in links:
        near[i].add(j)
        near[j].add(i)
    return from_moves(range(size), lambda i: near[i])
