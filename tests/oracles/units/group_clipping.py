"""A unit's vector of group totals, scaled down to a norm of at most tau and rounded towards zero.

Integers in, integers out: totals are counted in steps of a public lattice. Removing a unit takes its own clipped vector
away from the sum and touches no other, so the norm of that vector is the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from tests.oracles.units.sparse_vector import laplace_mass

Vector = tuple[int, ...]


def clip_absolute(vector: Sequence[int], tau: int) -> Vector:
    """v · min(1, tau / |v|_1), every coordinate rounded towards zero."""
    size = sum(map(abs, vector))
    return tuple(vector) if size <= tau else tuple(math.trunc(Fraction(v * tau, size)) for v in vector)


def clip_euclidean(vector: Sequence[int], tau: int) -> Vector:
    """v · min(1, tau / |v|_2), every coordinate rounded towards zero; no square root is rounded on the way.

    The integer part of a square root is that of the square root of the integer part.
    """
    square = sum(v * v for v in vector)
    if square <= tau * tau:
        return tuple(vector)
    return tuple(int(math.copysign(math.isqrt(v * v * tau * tau // square), v)) for v in vector)


def clipped_totals(vectors: Sequence[Sequence[int]], tau: int, clip=clip_absolute) -> Vector:
    """The sum over units of their clipped vectors, one number per group; no units, no numbers."""
    return tuple(map(sum, zip(*(clip(vector, tau) for vector in vectors), strict=True)))


def released_mass(totals: Sequence[int], outcome: Sequence[int], ratio: Fraction) -> Fraction:
    """P(every group's total with its own discrete Laplace noise is the outcome); ratio = e^(-epsilon/tau)."""
    return math.prod(laplace_mass(o - t, ratio) for t, o in zip(totals, outcome, strict=True))


def group_vectors(rows: Mapping[object, Mapping[object, int]], groups: Sequence[object]) -> list[Vector]:
    """One vector per unit over the public groups; what lies in no public group is dropped."""
    return [tuple(totals.get(group, 0) for group in groups) for totals in rows.values()]
