"""Flows: the exact truncated total of results with one or two owners, by OR-tools' maximum flow in 64-bit integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy  # its parts load when they are first used
from numpy.typing import NDArray

from sordino.core import EngineError, MissingExtraError
from sordino.units.shared_results import OpenResults, Whole

Flags = NDArray[np.bool_]


def load_solver() -> None:
    """Whether flows can be computed at all: asked before anything is paid."""
    try:
        import ortools.graph.python.max_flow  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "results with two owners need OR-tools, which is not installed: pip install 'sordino[flows]'"
        ) from error


def match_pairs(open_results: OpenResults) -> Fraction:
    """The most that can be taken of results with exactly two owners each, within everybody's capacity.

    Owners that fall into two sides, with every result between the sides, make a maximum flow source → one side →
    other side → sink, which is a whole number. Otherwise it is half of the flow in the double cover: every unit stands
    on both sides, and every result runs both ways. Which of the two holds is found for each connected part; both
    compute the same number.
    """
    owners, weights, capacities = open_results.owners, open_results.weights, open_results.capacities
    if not len(weights):
        return Fraction(0)
    pairs = np.sort(owners, axis=1)[:, :2]
    units = len(capacities)
    left, right = np.concatenate([pairs, pairs[:, ::-1]]).T
    twice = np.concatenate([weights, weights])
    cover = scipy.sparse.coo_array(
        (np.ones(len(left), dtype=np.int8), (left, right + units)), shape=(2 * units, 2 * units)
    )
    _, part = scipy.sparse.csgraph.connected_components(cover, directed=False)
    mirror = part[:units], part[units:]
    odd = mirror[0] == mirror[1]
    # Of the two mirror images of a part with two sides one is enough.
    first = mirror[0] < mirror[1]
    whole = _find_flow(left, right, twice, capacities, first[left])
    halves = _find_flow(left, right, twice, capacities, odd[left])
    return whole + Fraction(halves, 2)


def _find_flow(left: Whole, right: Whole, weights: Whole, capacities: Whole, chosen: Flags) -> int:
    """The maximum flow source → left (capacity) → right (weight) → sink (capacity) over the chosen results."""
    if not chosen.any():
        return 0
    from ortools.graph.python.max_flow import SimpleMaxFlow

    lefts, tails = np.unique(left[chosen], return_inverse=True)
    rights, heads = np.unique(right[chosen], return_inverse=True)
    source, sink = len(lefts) + len(rights), len(lefts) + len(rights) + 1
    right_nodes = np.arange(len(rights)) + len(lefts)
    solver = SimpleMaxFlow()
    for start, end, most in (
        (np.full(len(lefts), source), np.arange(len(lefts)), capacities[lefts]),
        (tails, heads + len(lefts), weights[chosen]),
        (right_nodes, np.full(len(rights), sink), capacities[rights]),
    ):
        solver.add_arcs_with_capacity(start.astype(np.int32), end.astype(np.int32), most.astype(np.int64))
    status = solver.solve(source, sink)
    if status != solver.OPTIMAL:
        raise EngineError("the flow of results with two owners could not be computed", str(status))
    return int(solver.optimal_flow())
