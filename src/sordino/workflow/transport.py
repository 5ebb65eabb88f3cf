"""Transport of distributions: the least mean cost (earth mover's distance) and the least largest one (bottleneck)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import ParameterError
from sordino.core.loss import round_up
from sordino.core.parameters import as_written
from sordino.workflow.weights import read_costs, read_weights


def emd(p: Sequence[Any], q: Sequence[Any], d: Any) -> float:
    """The earth mover's distance: the least Σ ψ(x, y) d(x, y) over couplings ψ of p and q.

    ``d``: distances of each point of p to each of q. **Source**: NAPLES report, Prop. 3.40. **Numerics**: a linear
    programme in floats, good to 10⁻⁹.

    >>> from sordino.workflow import emd
    >>> distances = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    >>> round(emd([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], distances), 9)
    1.1
    """
    first, second = read_weights("p", p), read_weights("q", q)
    return solve_transport(first, second, np.array(read_costs("d", d, len(first), len(second)), dtype=float))[
        0
    ]


def emd_1d(points: Sequence[Any], p: Sequence[Any], q: Sequence[Any]) -> float:
    """The same for points on a line, ∫|F₁ − F₂|: exact, rounded up."""
    places = [as_written(f"points[{place}]", point) for place, point in enumerate(points)]
    first, second = read_weights("p", p), read_weights("q", q)
    if not len(places) == len(first) == len(second):
        raise ParameterError(
            f"points, p and q must be equally many, got {len(places)}, {len(first)}, {len(second)}"
        )
    order = sorted(range(len(places)), key=lambda place: places[place])
    total = ahead = Fraction(0)
    for number, place in enumerate(order[:-1]):
        ahead += first[place] - second[place]
        total += abs(ahead) * (places[order[number + 1]] - places[place])
    return round_up(total)


def bottleneck(p: Sequence[Any], q: Sequence[Any], cost: Any) -> float:
    """The least t for which a coupling uses only pairs of cost at most t; W_∞ where costs are distances.

    **Numerics**: exact: costs are sorted, and for each that is tried a flow is found in fractions.
    """
    first, second = read_weights("p", p), read_weights("q", q)
    costs = read_costs("cost", cost, len(first), len(second))
    levels = sorted({value for row in costs for value in row})
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if _can_couple(first, second, [[value <= levels[middle] for value in row] for row in costs]):
            high = middle
        else:
            low = middle + 1
    return round_up(levels[low])


def lifted_epsilon(
    p: Sequence[Any], q: Sequence[Any], epsilon_of_distance: Any, distances: Any | None = None
) -> float:
    """The ε of a mechanism that is run on a point drawn from p, against one drawn from q.

    ``epsilon_of_distance``: the ε of the mechanism for each point of p against each of q, or a function of their
    ``distances``.

    **Guarantee**: min over couplings of the max over their support of ε(d(x, x')): for the best coupling each pair that
    it uses has at most this loss, and mixing laws does not lose more. **Source**: NAPLES report, Prop. 3.46, as
    bottleneck transport.
    """
    if callable(epsilon_of_distance):
        if distances is None:
            raise ParameterError("with a function of distances, give the distances too")
        of: Callable[[Any], Any] = epsilon_of_distance
        epsilon_of_distance = [[of(value) for value in row] for row in distances]
    return bottleneck(p, q, epsilon_of_distance)


def solve_transport(
    first: Sequence[Fraction],
    second: Sequence[Fraction],
    costs: Any,
    limit: tuple[Any, float] | None = None,
) -> tuple[float, Any]:
    """The least mean cost and a coupling that has it, as a matrix. ``limit``: other costs, and how much of them."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, hstack, kron, vstack

    rows, columns = len(first), len(second)
    parts = [kron(eye_array(rows), np.ones((1, columns))), hstack([eye_array(columns)] * rows)]
    right = np.array([float(weight) for weight in (*first, *second)])
    # one equation follows from the others, and rounding may contradict it
    solved = linprog(
        np.asarray(costs).ravel(),
        A_ub=None if limit is None else np.asarray(limit[0]).reshape(1, -1),
        b_ub=None if limit is None else [limit[1]],
        A_eq=vstack(parts).tocsr()[:-1],
        b_eq=right[:-1],
        method="highs",
    )
    if solved.x is None:
        raise ParameterError(
            "the linear programme of the transport was not solved: are the costs of one size?"
        )
    return float(solved.fun), solved.x.reshape(rows, columns)


def _can_couple(first: list[Fraction], second: list[Fraction], allowed: list[list[bool]]) -> bool:
    """Whether all of p can flow to q along allowed pairs: a maximal flow by shortest augmenting paths."""
    left, room = list(first), list(second)
    flow: dict[tuple[int, int], Fraction] = {}
    while any(left):
        # breadth first from rows that have something left; over a pair forwards, back over one that carries flow
        start = [row for row, rest in enumerate(left) if rest]
        came_row: dict[int, int | None] = dict.fromkeys(start)
        came_column: dict[int, int] = {}
        waiting, end = deque(start), None
        while waiting and end is None:
            row = waiting.popleft()
            for column, fits in enumerate(allowed[row]):
                if not fits or column in came_column:
                    continue
                came_column[column] = row
                if room[column]:
                    end = column
                    break
                for other in range(len(first)):
                    if other not in came_row and flow.get((other, column)):
                        came_row[other] = column
                        waiting.append(other)
        if end is None:
            return False
        path, column = list[tuple[int, int, int]](), end
        amount = room[end]
        while True:
            row = came_column[column]
            path.append((row, column, 1))
            back = came_row[row]
            if back is None:
                amount = min(amount, left[row])
                break
            path.append((row, back, -1))
            amount = min(amount, flow[row, back])
            column = back
        for row, column, sign in path:
            flow[row, column] = flow.get((row, column), Fraction(0)) + sign * amount
        left[path[-1][0]] -= amount
        room[end] -= amount
    return True
