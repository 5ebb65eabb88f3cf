"""Algebra: what the calculus needs of numbers, so that one formula serves arrays and SQL alike."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

# A number, an array with one entry per row, or an SQL expression; they add, multiply_factors and compare by operators.
Term = Any
# e^(−60) is below every step that a result is rounded to. A smooth bound may always be raised to a constant, and with
# this floor no product of exponentials leaves the range of doubles, where some databases raise.
FLOOR = 60.0
# Factors of a product are 0 or at least so large: ten of them stay within the range of doubles.
_LEAST_FACTOR = 1e-30
# Adding and subtracting it rounds to multiples of 2⁻⁹⁹, which are 0 or above 10⁻³⁰.
_ROUNDER = 2.0**-47
# Constant factors of bounds are raised to this: such a constant keeps a bound smooth.
_LEAST_CONSTANT = 1e-100


class Algebra(Protocol):
    """Functions of terms. Conditions come from comparing terms."""

    def where(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """``then`` where the condition holds; both may be computed on every row, so both must be harmless."""

    def absolute(self, term: Term) -> Term:
        """|t|."""

    def minimum(self, first: Term, second: Term) -> Term:
        """The smaller."""

    def maximum(self, first: Term, second: Term) -> Term:
        """The larger."""

    def exp(self, term: Term) -> Term:
        """e^t of what is between −300 and 300."""

    def fall(self, term: Term) -> Term:
        """e^(−t) of what is between 0 and 60."""

    def ln(self, term: Term) -> Term:
        """ln t of what is > 0."""

    def power(self, term: Term, exponent: float) -> Term:
        """t^s of what is ≥ 0, and > 0 for s < 0."""


class Arrays:
    """Rows in memory: numbers and numpy arrays."""

    def where(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """By numpy."""
        return np.where(condition, then, otherwise)

    def absolute(self, term: Term) -> Term:
        """By numpy."""
        return np.abs(term)

    def minimum(self, first: Term, second: Term) -> Term:
        """By numpy."""
        return np.minimum(first, second)

    def maximum(self, first: Term, second: Term) -> Term:
        """By numpy."""
        return np.maximum(first, second)

    def exp(self, term: Term) -> Term:
        """By numpy."""
        return np.exp(term)

    def fall(self, term: Term) -> Term:
        """By numpy."""
        return np.exp(-term)

    def ln(self, term: Term) -> Term:
        """By numpy."""
        return np.log(term)

    def power(self, term: Term, exponent: float) -> Term:
        """By numpy."""
        return np.power(term, exponent)


def decay(algebra: Algebra, term: Term) -> Term:
    """e^(−t) for t ≥ 0, at least e^(−60); harmless for every t."""
    return algebra.fall(algebra.minimum(algebra.maximum(term, 0.0), FLOOR))


def lift(algebra: Algebra, bound: Term) -> Term:
    """A bound that is multiplied, at least 10⁻³⁰: the larger of a smooth bound and a constant is smooth."""
    return algebra.maximum(bound, _LEAST_FACTOR)


def clean(term: Term) -> Term:
    """A value that is multiplied, without digits below 10⁻³⁰: off by that, or by one rounding."""
    return (term + _ROUNDER) - _ROUNDER


def lift_constant(number: float) -> float:
    """A constant factor of a bound."""
    return max(number, _LEAST_CONSTANT)


def largest_of(algebra: Algebra, terms: list[Term]) -> Term:
    """The largest of several."""
    found = terms[0]
    for term in terms[1:]:
        found = algebra.maximum(found, term)
    return found
