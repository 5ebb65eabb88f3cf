"""The graphs of the papers, and two smaller ones, if they are at hand."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sordino.graphs import Graph

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("graphs")
FILES = {
    "Enron": "email-Enron.txt",
    "GitHub": "musae-github.txt",
    "Facebook": "facebook_combined.txt",
    "GrQc": "ca-GrQc.txt",
}


def folder() -> Path | None:
    """Where all graphs are: under ``SORDINO_DATA``, or in ``../shared/data`` beside the repository."""
    data = Path(os.environ.get("SORDINO_DATA", ROOT.parent / "shared" / "data"))
    there = data / FOLDER
    return there if all((there / file).is_file() for file in FILES.values()) else None


@cache
def graph(name: str) -> Graph:
    """One graph by its name."""
    place = folder()
    if place is None:
        raise SystemExit("the graphs are not there")
    return Graph.read(place / FILES[name])


def power_law(
    nodes: int, edges: int, *, exponent: float = 2.5, largest: int = 343, seed: int = 317080
) -> NDArray[np.int64]:
    """Edges of a random graph with expected degrees that follow a power law (Chung and Lu).

    The ends of every edge are drawn in proportion to the weights (i + i₀)^(−1/(exponent − 1)), with i₀ such that the
    first weight is the largest degree wanted; self-loops and repeated edges are left to the reader to drop.
    """
    generator = np.random.default_rng(seed)
    power = -1 / (exponent - 1)
    low, high = 0.0, float(nodes)
    for _ in range(60):
        middle = (low + high) / 2
        weights = (np.arange(nodes) + 1 + middle) ** power
        if 2 * edges * weights[0] / weights.sum() > largest:
            low = middle
        else:
            high = middle
    weights = (np.arange(nodes) + 1 + high) ** power
    cumulative = np.cumsum(weights)
    ends = np.searchsorted(cumulative, generator.random((edges, 2)) * cumulative[-1])
    names = generator.permutation(nodes)
    return np.asarray(names[np.minimum(ends, nodes - 1)], dtype=np.int64)
