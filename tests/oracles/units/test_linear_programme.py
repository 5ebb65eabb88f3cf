"""The simplex method: by hand, and against every vertex."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from tests.oracles.units.linear_programme import maximise


def solve(matrix, right):
    """The solution of a square system by Gauss and Jordan; None if it is singular."""
    rows = [[Fraction(a) for a in row] + [Fraction(b)] for row, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def best_vertex(objective, constraints, limits):
    n = len(objective)
    planes = [(tuple(row), b) for row, b in zip(constraints, limits, strict=True)]
    planes += [(tuple(-int(i == k) for k in range(n)), 0) for i in range(n)]
    values = []
    for chosen in itertools.combinations(planes, n):
        x = solve([row for row, _ in chosen], [b for _, b in chosen])
        if x and all(sum(a * v for a, v in zip(row, x, strict=True)) <= b for row, b in planes):
            values.append(sum(c * v for c, v in zip(objective, x, strict=True)))
    return max(values)


def test_a_programme_solved_by_hand():
    """x + y <= 4, x + 3y <= 6: 3x + 5y is largest at (3, 1)."""
    assert maximise([3, 5], [[1, 1], [1, 3]], [4, 6]) == (14, [3, 1])


def test_the_triangle_has_a_half_integral_optimum():
    """Three edges, one unit of capacity per vertex: a half on each edge."""
    assert maximise([1, 1, 1], [[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1])[0] == Fraction(3, 2)


def test_every_vertex_agrees_with_the_simplex():
    draw = random.Random(5)
    for _ in range(60):
        n, m = draw.randint(1, 3), draw.randint(1, 3)
        constraints = [[draw.randint(-1, 3) for _ in range(n)] for _ in range(m)]
        constraints += [[int(i == k) for k in range(n)] for i in range(n)]
        limits = [draw.randint(0, 4) for _ in range(m)] + [3] * n
        objective = [draw.randint(-1, 3) for _ in range(n)]
        assert maximise(objective, constraints, limits)[0] == best_vertex(objective, constraints, limits)


def test_an_unbounded_programme_and_a_negative_limit_are_refused():
    with pytest.raises(ValueError, match="unbounded"):
        maximise([1], [[-1]], [1])
    with pytest.raises(ValueError, match=">= 0"):
        maximise([1], [[1]], [-1])
