"""The front of several distances at once: the vertices of what couplings can reach, none better in all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow.transport import solve_transport
from sordino.workflow.weights import read_costs, read_weights

_CLOSE = 1e-9
_MOST = 2000

Vector = NDArray[np.float64]


def emd_front(p: Sequence[Any], q: Sequence[Any], distances: Sequence[Any]) -> list[tuple[float, ...]]:
    """The vertices of the set of (Σψd₁, Σψd₂, …) over couplings ψ, as far as nothing is smaller in all parts.

    What is above some mix of them is the earth mover's distance of a vector-valued metric (Prop. 3.41). Found by linear
    programmes with weights normal to the front known so far, until none finds anything below it: exact up to 10⁻⁹.

    >>> from sordino.workflow import emd_front
    >>> there, across = [[0, 1], [1, 0]], [[1, 0], [0, 1]]
    >>> emd_front([0.5, 0.5], [0.5, 0.5], [there, across])
    [(0.0, 1.0), (1.0, 0.0)]
    """
    first, second = read_weights("p", p), read_weights("q", q)
    costs = [
        np.array(read_costs(f"distances[{number}]", one, len(first), len(second)), dtype=float)
        for number, one in enumerate(distances)
    ]
    if not costs:
        raise ParameterError("distances must have at least one matrix")

    def lowest(weights: Vector) -> Vector:
        mixed = sum(weight * cost for weight, cost in zip(weights, costs, strict=True))
        _, coupling = solve_transport(first, second, mixed)
        return np.array([float((coupling * cost).sum()) for cost in costs])

    count = len(costs)
    found: list[Vector] = []
    for place, cost in enumerate(costs):  # the minimum of each part, and there the best of the others
        least, _ = solve_transport(first, second, cost)
        rest = sum(other for number, other in enumerate(costs) if number != place)
        if count > 1:
            _, coupling = solve_transport(first, second, rest, (cost, least))
            _insert(found, np.array([float((coupling * one).sum()) for one in costs]))
        else:
            found.append(np.array([least]))
    tried: set[tuple[float, ...]] = set()
    changed = True
    while changed and count > 1:
        changed = False
        for weights in _normals(found, count):
            key = tuple(np.round(weights, 9))
            if key in tried:
                continue
            tried.add(key)
            point = lowest(weights)
            if weights @ point < min(weights @ one for one in found) - _CLOSE and _insert(found, point):
                changed = True
        if len(found) > _MOST:
            raise UnsupportedError(f"the front has more than {_MOST} vertices")
    vertices = [point for point in found if not _is_mix(point, [one for one in found if one is not point])]
    return sorted(tuple(float(round(value, 12)) + 0.0 for value in point) for point in vertices)


def _insert(found: list[Vector], point: Vector) -> bool:
    if any(np.abs(one - point).max() < _CLOSE for one in found):
        return False
    found.append(point)
    return True


def _normals(found: list[Vector], count: int) -> list[Vector]:
    """Weights that are normal to pieces of the front known so far."""
    if count == 2:
        ordered = sorted(found, key=lambda point: (point[0], -point[1]))
        pieces = [np.array([a[1] - b[1], b[0] - a[0]]) for a, b in itertools.pairwise(ordered)]
        return [piece / piece.sum() for piece in pieces if piece.min() >= 0 and piece.sum() > _CLOSE]
    from scipy.spatial import ConvexHull, QhullError

    # what lies above a point is part of the set: far points above each stand for the rays
    far = 10 * (1 + max(float(np.abs(point).max()) for point in found))
    points = np.array([*found, *(point + far * axis for point in found for axis in np.eye(count))])
    try:
        hull = ConvexHull(points)
    except QhullError:
        return []
    normals = [-row[:-1] for row in hull.equations]
    return [
        np.maximum(normal, 0) / np.maximum(normal, 0).sum() for normal in normals if normal.min() > -_CLOSE
    ]


def _is_mix(point: Vector, others: list[Vector]) -> bool:
    """Whether some mix of the others is at most the point everywhere."""
    from scipy.optimize import linprog

    if not others:
        return False
    solved = linprog(
        np.zeros(len(others)),
        A_ub=np.array(others).T,
        b_ub=point + _CLOSE,
        A_eq=np.ones((1, len(others))),
        b_eq=[1.0],
    )
    return bool(solved.status == 0)
