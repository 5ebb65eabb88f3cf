"""Weights of a distribution: numbers of at least 0 that sum to 1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError
from sordino.workflow.rows import read_matrix, read_vector

_ROUNDING = Fraction(1, 10**12)


def read_weights(name: str, weights: Sequence[Any]) -> list[Fraction]:
    """Exact weights with the sum 1; what rounding left of the sum is divided out."""
    found = read_vector(name, weights)
    for place, weight in enumerate(found):
        if weight < 0:
            raise ParameterError(f"{name}[{place}] must be >= 0, got {float(weight):g}")
    total = sum(found, Fraction(0))
    if abs(total - 1) > _ROUNDING:
        raise ParameterError(f"the weights {name} must sum to 1, got {float(total):.15g}")
    return [weight / total for weight in found]


def read_costs(name: str, costs: Any, rows: int, columns: int) -> list[list[Fraction]]:
    """A matrix of finite numbers of at least 0, of one row per weight of p and one column per weight of q."""
    found = read_matrix(name, costs)
    if len(found) != rows or any(len(row) != columns for row in found):
        raise ParameterError(
            f"{name} must be a matrix of {rows} rows and {columns} columns, one for each weight"
        )
    for one, row in enumerate(found):
        for other, value in enumerate(row):
            if value < 0:
                raise ParameterError(f"{name}[{one}][{other}] must be >= 0, got {float(value):g}")
    return found
