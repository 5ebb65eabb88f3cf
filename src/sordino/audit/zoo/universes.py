"""Small universes that several specimens share: vectors of counts, and how one row changes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Counts = tuple[int, ...]


def list_counts_up_to(total: int, cells: int) -> list[Counts]:
    """All histograms of at most ``total`` rows."""
    return [c for c in product(range(total + 1), repeat=cells) if sum(c) <= total]


def list_counts_of(total: int, cells: int) -> list[Counts]:
    """All histograms of exactly ``total`` rows."""
    return [c for c in product(range(total + 1), repeat=cells) if sum(c) == total]


def add_or_remove(counts: Counts) -> Iterator[Counts]:
    """One row more or one row less in some cell."""
    for cell, count in enumerate(counts):
        yield (*counts[:cell], count + 1, *counts[cell + 1 :])
        if count:
            yield (*counts[:cell], count - 1, *counts[cell + 1 :])


def replace_one(counts: Counts) -> Iterator[Counts]:
    """One row moved from some cell to another."""
    for leaves, count in enumerate(counts):
        if not count:
            continue
        for enters in range(len(counts)):
            if enters != leaves:
                moved = list(counts)
                moved[leaves] -= 1
                moved[enters] += 1
                yield tuple(moved)


def step_along(length: int, place: int) -> Iterator[int]:
    """The neighbours of a place on a path of databases 0, …, length − 1."""
    if place > 0:
        yield place - 1
    if place < length - 1:
        yield place + 1
