"""Values near a rank, from the definition: weights per unit, utilities by counting, laws by all orders of points."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from tests.oracles.selection_laws import permute_and_flip_law

Held = Sequence[tuple[int, Fraction]]  # points with the weight of what lies there


def quantile_utilities(held: Held, q: Fraction, points: int) -> list[Fraction]:
    """min(qn − L, M − qn) with L below the point, M up to it and n in all."""
    whole = sum((weight for _, weight in held), Fraction(0))
    found = []
    for point in range(points):
        below = sum((weight for at, weight in held if at < point), Fraction(0))
        upto = sum((weight for at, weight in held if at <= point), Fraction(0))
        found.append(min(q * whole - below, upto - q * whole))
    return found


def extreme_utilities(held: Held, rank: int, points: int, *, largest: bool) -> list[Fraction]:
    """min(A − k, k − 1 − B) with A at or beyond the point and B beyond it."""
    found = []
    for point in range(points):
        beyond = sum((weight for at, weight in held if (at > point if largest else at < point)), Fraction(0))
        here = sum((weight for at, weight in held if at == point), Fraction(0))
        found.append(min(beyond + here - rank, rank - 1 - beyond))
    return found


def quantile_law(held: Held, q: Fraction, points: int, *, epsilon: float, most: int = 1) -> np.ndarray:
    """Permute-and-flip, for units that weigh at most ``most``: one moves the utility by max(q, 1 − q) times that."""
    utilities = quantile_utilities(held, q, points)
    return permute_and_flip_law(utilities, epsilon=epsilon, sensitivity=max(q, 1 - q) * most)


def extreme_law(
    held: Held, rank: int, points: int, *, largest: bool, epsilon: float, most: int = 1
) -> np.ndarray:
    """The same for a rank from an end."""
    utilities = extreme_utilities(held, rank, points, largest=largest)
    return permute_and_flip_law(utilities, epsilon=epsilon, sensitivity=most)


def weigh_rows(
    rows_of: Mapping[Hashable, Iterable[tuple[Hashable, int]]], most: int
) -> dict[Hashable, list[tuple[int, Fraction]]]:
    """By group, the points of all rows; the rows of one unit, in all groups, weigh at most ``most`` together."""
    found: dict[Hashable, list[tuple[int, Fraction]]] = {}
    for rows in map(list, rows_of.values()):
        for group, point in rows:
            found.setdefault(group, []).append((point, min(Fraction(1), Fraction(most, len(rows)))))
    return found


def weigh_extremes(
    rows_of: Mapping[Hashable, Iterable[tuple[Hashable, int]]], most: int, *, largest: bool
) -> dict[Hashable, list[tuple[int, Fraction]]]:
    """By group, the greatest or least point of every unit; those of one unit weigh at most ``most`` together."""
    extremes = {}
    for unit, rows in rows_of.items():
        values: dict[Hashable, list[int]] = {}
        for group, point in rows:
            values.setdefault(group, []).append(point)
        extremes[unit] = [(group, max(held) if largest else min(held)) for group, held in values.items()]
    return weigh_rows(extremes, most)
