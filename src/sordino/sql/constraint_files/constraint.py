"""Constraint: what is known of a column before anything is released."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from scipy.special import erfcinv

from sordino.core import ParameterError
from sordino.sensitivity.interval import Interval, widen

ConstraintKind = Literal[
    "exact", "total", "totalUnif", "set", "setUnif", "setPrior", "range", "rangeUnif", "rangePrior", "normal"
]
Item = str | float
# How far from its mean a normal value may be: all but 2^(−40) of the mass.
_ETA = 40


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Values that can occur; None for any."""

    values: frozenset[Item] | None

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers."""
        return bool(self.values) and all(not isinstance(value, str) for value in self.values or ())

    def hull(self) -> Interval | None:
        """The smallest interval around numbers."""
        if not self.is_number:
            return None
        numbers = [float(value) for value in self.values or ()]
        return Interval(min(numbers), max(numbers))

    def __str__(self) -> str:
        if self.values is None:
            return "any value"
        return ", ".join(repr(value) for value in sorted(self.values, key=str)) or "no value"


Possible = Interval | ValueSet


@dataclass(frozen=True, slots=True)
class Constraint:
    """One statement of a constraint file.

    ``items``: values of a set, the two ends of a range, the number of a total, mean and variance of a normal.
    ``weights``: of each value of a set, or of each piece of a range whose upper ends are ``items`` but the first.
    """

    kind: ConstraintKind
    items: tuple[Item, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        problem = _PROBLEMS.get(self.kind, _nothing)(self)
        if problem is not None:
            raise ParameterError(f"{self.kind} {problem}")

    @property
    def possible(self) -> Possible:
        """All values that a cell can have; of `exact` any, until a row is given."""
        if self.kind in ("range", "rangeUnif", "rangePrior"):
            return Interval(float(self.items[0]), float(self.items[-1]))
        if self.kind == "normal":
            mean, variance = (float(item) for item in self.items)
            reach = widen(normal_reach(variance), math.inf)
            return Interval(mean, mean) + Interval(-reach, reach)
        return ValueSet(frozenset(self.items) if self.kind.startswith("set") else None)

    def __str__(self) -> str:
        if self.kind == "setPrior":
            pairs = zip(self.items, self.weights, strict=True)
            return f"{self.kind} " + " ".join(f"({_write(item)}, {weight!r})" for item, weight in pairs)
        if self.kind == "rangePrior":
            pairs = zip(self.items[1:], self.weights, strict=True)
            pieces = " ".join(f"({_write(item)}, {weight!r})" for item, weight in pairs)
            return f"{self.kind} {_write(self.items[0])} {pieces}"
        return " ".join([self.kind, *(_write(item) for item in self.items)])


def normal_reach(variance: float, eta: int | None = _ETA) -> float:
    """How far from the mean all but 2^(−η) of a normal law lies; None takes the report's 3√2·σ."""
    xi = 3.0 if eta is None else float(erfcinv(2.0**-eta))
    return xi * math.sqrt(2 * variance)


def _write(item: Item) -> str:
    if isinstance(item, str):
        return "'" + item.replace("'", "''") + "'"
    return repr(int(item)) if item == int(item) and abs(item) < 1e15 else repr(float(item))


# --- what is wrong with the arguments of each kind


def _nothing(constraint: Constraint) -> str | None:
    return None if not constraint.items else "takes no arguments"


def _total(constraint: Constraint) -> str | None:
    good = len(constraint.items) == 1 and not isinstance(constraint.items[0], str)
    if not good or float(constraint.items[0]) < 1 or float(constraint.items[0]) != int(constraint.items[0]):
        return "takes one whole number n >= 1, the number of values"
    return None


def _set(constraint: Constraint) -> str | None:
    items = constraint.items
    if not items:
        return "takes at least one value"
    if len({isinstance(item, str) for item in items}) > 1:
        return "mixes texts and numbers"
    if len(set(items)) < len(items):
        return "names a value twice"
    return _weights(constraint) if constraint.kind == "setPrior" else None


def _range(constraint: Constraint) -> str | None:
    items = constraint.items
    if any(isinstance(item, str) for item in items) or len(items) < 2:
        return "takes numbers: low and high"
    if constraint.kind != "rangePrior" and len(items) != 2:
        return "takes two numbers: low and high"
    numbers = [float(item) for item in items]
    if any(not math.isfinite(item) for item in numbers):
        return "takes finite numbers"
    if any(one > two for one, two in itertools.pairwise(numbers)):
        return "has low > high" if len(items) == 2 else "has upper ends that do not increase"
    return _weights(constraint) if constraint.kind == "rangePrior" else None


def _weights(constraint: Constraint) -> str | None:
    if any(weight < 0 for weight in constraint.weights):
        return "has a weight below 0"
    if abs(math.fsum(constraint.weights) - 1) > 1e-6:
        return f"has weights that add up to {math.fsum(constraint.weights):.6g}, not to 1"
    return None


def _normal(constraint: Constraint) -> str | None:
    if len(constraint.items) != 2 or any(isinstance(item, str) for item in constraint.items):
        return "takes a mean and a variance"
    return "has a variance below 0" if float(constraint.items[1]) < 0 else None


_PROBLEMS: dict[str, Callable[[Constraint], str | None]] = {
    "total": _total,
    "totalUnif": _total,
    "set": _set,
    "setUnif": _set,
    "setPrior": _set,
    "range": _range,
    "rangeUnif": _range,
    "rangePrior": _range,
    "normal": _normal,
}
KINDS: tuple[ConstraintKind, ...] = (
    "exact", "total", "totalUnif", "set", "setUnif", "setPrior", "range", "rangeUnif", "rangePrior", "normal",
)  # fmt: skip
