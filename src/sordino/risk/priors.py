"""Priors: what an attacker takes for likely about a column before anything is released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv, ndtr

from sordino.core import ParameterError
from sordino.core.parameters import number, whole

Floats = NDArray[np.float64]

_SUM_TOLERANCE = 1e-6
_BITS = 40  # of a normal law all but 2^-40 lies in its range


class NumberPrior(Protocol):
    """A law of a number between two public bounds."""

    @property
    def low(self) -> float:
        """The least value."""

    @property
    def high(self) -> float:
        """The largest value."""

    def weight(self, low: Any, high: Any) -> Floats:
        """P(low ≤ X ≤ high), entry by entry; 0 where low > high."""


@dataclass(frozen=True, slots=True)
class RangePrior:
    """Pieces of even density: weight w_j on (edge_{j-1}, edge_j]; with one piece, uniform.

    >>> from sordino.risk import RangePrior
    >>> RangePrior.of([0, 10, 50, 100], [0.2, 0.5, 0.3]).weight(5, 20).item()
    0.225
    """

    edges: tuple[float, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, edges: Sequence[float], weights: Sequence[float] = (1.0,)) -> RangePrior:
        """Checked: increasing edges, and weights of the pieces between them that sum to 1.

        Pieces at either end that weigh nothing are no part of the range.
        """
        places = [number("edge", edge) for edge in edges]
        if len(places) < 2 or any(a >= b for a, b in pairwise(places)):
            raise ParameterError(f"the edges of a prior must increase, got {places}")
        if len(weights) != len(places) - 1:
            raise ParameterError(f"{len(places) - 1} pieces need as many weights, got {len(weights)}")
        checked = _checked_weights(weights)
        first = next(place for place, weight in enumerate(checked) if weight)
        last = len(checked) - next(place for place, weight in enumerate(reversed(checked)) if weight)
        return cls(tuple(places[first : last + 1]), checked[first:last])

    @property
    def low(self) -> float:
        """The first edge."""
        return self.edges[0]

    @property
    def high(self) -> float:
        """The last edge."""
        return self.edges[-1]

    def weight(self, low: Any, high: Any) -> Floats:
        """See `NumberPrior`."""
        below = np.concatenate([[0.0], np.cumsum(self.weights)])
        below /= below[-1]
        first, last = (np.interp(place, self.edges, below) for place in (low, high))
        return np.asarray(np.maximum(last - first, 0.0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class NormalPrior:
    """N(mean, variance) within mean ± ``reach``, outside which no value is reckoned with.

    >>> from sordino.risk import NormalPrior
    >>> round(NormalPrior.of(10, 4).weight(10, 12).item(), 6)
    0.341345
    """

    mean: float
    variance: float
    reach: float

    @classmethod
    def of(cls, mean: float, variance: float, *, bits: int = _BITS) -> NormalPrior:
        """All but 2^-bits of the law is reckoned with."""
        mean, variance = number("mean", mean), number("variance", variance)
        if variance <= 0:
            raise ParameterError(f"variance must be > 0, got {variance!r}")
        bits = whole("bits", bits, least=1)
        if bits > 50:
            raise ParameterError(f"bits must be at most 50, got {bits}")
        return cls(mean, variance, float(erfinv(1 - 2.0**-bits)) * math.sqrt(2 * variance))

    @property
    def low(self) -> float:
        """mean - reach."""
        return self.mean - self.reach

    @property
    def high(self) -> float:
        """mean + reach."""
        return self.mean + self.reach

    def weight(self, low: Any, high: Any) -> Floats:
        """See `NumberPrior`."""
        deviation = math.sqrt(self.variance)
        first, last = (
            (np.clip(np.asarray(place, dtype=np.float64), self.low, self.high) - self.mean) / deviation
            for place in (low, high)
        )
        inside = math.erf(self.reach / math.sqrt(2 * self.variance))
        # from the nearer tail: far from the mean both are close to 1
        mass = np.where(first > 0, ndtr(-first) - ndtr(-last), ndtr(last) - ndtr(first))
        return np.asarray(np.maximum(mass / inside, 0.0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class SetPrior:
    """Listed values with their weights.

    >>> from sordino.risk import SetPrior
    >>> SetPrior.of(["yes", "no"], [0.2, 0.8]).weights
    (0.2, 0.8)
    """

    values: tuple[Any, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[Any], weights: Sequence[float] | None = None) -> SetPrior:
        """Checked; without weights all values are equally likely."""
        listed = tuple(values)
        if len(listed) < 2 or len(set(listed)) != len(listed):
            raise ParameterError("a set must list two or more different values: one value alone is certain")
        if weights is None:
            return cls(listed, (1 / len(listed),) * len(listed))
        if len(weights) != len(listed):
            raise ParameterError(f"{len(listed)} values need as many weights, got {len(weights)}")
        checked = _checked_weights(weights)
        if max(checked) == 1:
            raise ParameterError(
                f"the prior makes {listed[checked.index(1.0)]!r} certain: there is nothing to guess"
            )
        return cls(listed, checked)


@dataclass(frozen=True, slots=True)
class UnknownPrior:
    """Of the attacker's prior only the range of a number is known; a category has ``low`` = ``high``."""

    low: float = 0.0
    high: float = 0.0

    @classmethod
    def of_range(cls, low: float, high: float) -> UnknownPrior:
        """Some number between two public bounds."""
        low, high = number("low", low), number("high", high)
        if low >= high:
            raise ParameterError(f"the range must have low < high, got {low:g} and {high:g}")
        return cls(low, high)


Prior = RangePrior | NormalPrior | SetPrior | UnknownPrior


class Declared(Protocol):
    """What is known of a column, in the words of a constraint file: ``rangeUnif 0 100``."""

    @property
    def kind(self) -> str:
        """Which words."""

    @property
    def items(self) -> tuple[Any, ...]:
        """What stands behind them."""

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the items, or of the pieces between them."""


def make_prior(declared: Declared) -> Prior:
    """The prior that a constraint of a column stands for.

    >>> import sordino as sd
    >>> from sordino.sql.constraint_files.constraint import Constraint
    >>> sd.risk.make_prior(Constraint("rangeUnif", (0, 100)))
    RangePrior(edges=(0.0, 100.0), weights=(1.0,))
    """
    kind, items = declared.kind, declared.items
    if kind == "rangeUnif":
        return RangePrior.of(items)
    if kind == "rangePrior":
        return RangePrior.of(items, declared.weights)
    if kind == "normal":
        return NormalPrior.of(*items)
    if kind in ("setUnif", "setPrior"):
        return SetPrior.of(items, declared.weights or None)
    if kind == "totalUnif":
        return SetPrior.of(range(whole("total", int(items[0]), least=2)))
    if kind == "range":
        return UnknownPrior.of_range(*items)
    if kind in ("set", "total"):
        return UnknownPrior()
    raise ParameterError(f"{kind} says that the value is public: there is nothing to guess")


def _checked_weights(weights: Sequence[float]) -> tuple[float, ...]:
    numbers = [number("weight", weight) for weight in weights]
    total = math.fsum(numbers)
    if min(numbers) < 0 or abs(total - 1) > _SUM_TOLERANCE:
        raise ParameterError(f"the weights of a prior must be >= 0 and sum to 1, got a sum of {total:.9g}")
    return tuple(weight / total for weight in numbers)
