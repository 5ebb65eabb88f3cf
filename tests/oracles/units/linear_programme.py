"""Linear programmes in fractions: the simplex method with Bland's rule, and a proof of its own answer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def maximise(
    objective: Sequence[Fraction | int],
    constraints: Sequence[Sequence[Fraction | int]],
    limits: Sequence[Fraction | int],
) -> tuple[Fraction, list[Fraction]]:
    """max c·x over x >= 0 with A x <= b, b >= 0: the exact value and a solution.

    The value is trusted because a feasible dual solution of the same value is checked before it is returned.
    """
    if min(limits, default=0) < 0:
        raise ValueError("limits must be >= 0, so that x = 0 is allowed")
    n, m = len(objective), len(constraints)
    table = [
        [Fraction(a) for a in row] + [Fraction(i == k) for k in range(m)] + [Fraction(limit)]
        for i, (row, limit) in enumerate(zip(constraints, limits, strict=True))
    ]
    price = [-Fraction(c) for c in objective] + [Fraction(0)] * (m + 1)
    basis = list(range(n, n + m))
    while (entering := next((k for k in range(n + m) if price[k] < 0), None)) is not None:
        rows = [i for i in range(m) if table[i][entering] > 0]
        if not rows:
            raise ValueError("the programme is unbounded")
        leaving = min(rows, key=lambda i: (table[i][-1] / table[i][entering], basis[i]))
        pivot = table[leaving][entering]
        table[leaving] = [a / pivot for a in table[leaving]]
        for row in (*table[:leaving], *table[leaving + 1 :], price):
            if factor := row[entering]:
                row[:] = [a - factor * b if b else a for a, b in zip(row, table[leaving], strict=True)]
        basis[leaving] = entering
    solution = [Fraction(0)] * (n + m)
    for i, k in enumerate(basis):
        solution[k] = table[i][-1]
    x, dual = solution[:n], price[n : n + m]
    _check_certificate(objective, constraints, limits, x, dual)
    return price[-1], x


def _check_certificate(objective, constraints, limits, x, dual) -> None:
    """Weak duality: feasible x and y >= 0 with A^T y >= c and equal values are both optimal."""
    n, m = len(objective), len(constraints)
    feasible = all(v >= 0 for v in x) and all(
        sum(a * v for a, v in zip(row, x, strict=True)) <= limit
        for row, limit in zip(constraints, limits, strict=True)
    )
    bounding = all(y >= 0 for y in dual) and all(
        sum(constraints[i][k] * dual[i] for i in range(m)) >= objective[k] for k in range(n)
    )
    value = sum(c * v for c, v in zip(objective, x, strict=True))
    if not (feasible and bounding and value == sum(b * y for b, y in zip(limits, dual, strict=True))):
        raise ArithmeticError("the simplex method went wrong")
