"""Small matrices of fractions: ranks and solutions without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = list[Fraction]


def rank(columns: Sequence[Sequence[Fraction]]) -> int:
    """The number of independent vectors among some."""
    rows = [list(column) for column in columns]
    found = 0
    for place in range(len(rows[0]) if rows else 0):
        pivot = next((number for number in range(found, len(rows)) if rows[number][place]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for number in range(found + 1, len(rows)):
            share = rows[number][place] / rows[found][place]
            if share:
                rows[number] = [a - share * b for a, b in zip(rows[number], rows[found], strict=True)]
        found += 1
    return found


def reduce_to(matrix: Sequence[Sequence[Fraction]], pivots: Sequence[int]) -> list[Row] | None:
    """The same equations with an identity at the columns ``pivots``; None where these are not independent."""
    rows = [list(row) for row in matrix]
    for number, place in enumerate(pivots):
        pivot = next((other for other in range(number, len(rows)) if rows[other][place]), None)
        if pivot is None:
            return None
        rows[number], rows[pivot] = rows[pivot], rows[number]
        scale = rows[number][place]
        rows[number] = [value / scale for value in rows[number]]
        for other in range(len(rows)):
            share = rows[other][place]
            if other != number and share:
                rows[other] = [a - share * b for a, b in zip(rows[other], rows[number], strict=True)]
    return rows
