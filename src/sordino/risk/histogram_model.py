"""HistogramModel: what an attacker believes about a count, and what the count says about one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import whole

Floats = NDArray[np.float64]

_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class HistogramModel:
    """A count C of 0 … m people who are in a group, and the guess X: "this person is in the group".

    ``belief``: the law of C that the attacker reckons with; ``reality``: the law that C has, the same unless given;
    ``membership``: f_X(x | C = z), z/m unless given. All of it is assumed; nothing is read from rows.

    >>> from scipy.stats import binom
    >>> from sordino.risk import HistogramModel
    >>> model = HistogramModel.of(10, belief=binom(10, 0.3).pmf(range(11)))
    >>> round(model.prior, 6)
    0.3
    """

    people: int
    belief: Floats
    reality: Floats
    membership: Floats

    @classmethod
    def of(
        cls,
        people: int,
        *,
        belief: Sequence[float] | Any,
        reality: Sequence[float] | Any = None,
        membership: Sequence[float] | Any = None,
    ) -> HistogramModel:
        """Checked: one number for each of the counts 0 … people, in all three."""
        people = whole("people", people, least=1)
        believed = _law("belief", belief, people)
        true = believed if reality is None else _law("reality", reality, people)
        if membership is None:
            given: Floats = np.arange(people + 1) / people
        else:
            given = _numbers("membership", membership, people)
            if given.min() < 0 or given.max() > 1:
                raise ParameterError("membership must hold probabilities, got a number outside [0, 1]")
        model = cls(people, believed, true, given)
        if not 0 < model.prior < 1:
            raise ParameterError(
                f"the guess is certain before anything is released: its prior is {model.prior:g}; give a law of the "
                "count, or memberships, that leave it open"
            )
        return model

    @property
    def values(self) -> Floats:
        """All counts."""
        return np.arange(self.people + 1, dtype=np.float64)

    @property
    def low(self) -> float:
        """The least count."""
        return 0.0

    @property
    def high(self) -> float:
        """The largest count."""
        return float(self.people)

    @property
    def step(self) -> float:
        """Between two counts."""
        return 1.0

    @property
    def prior(self) -> float:
        """f_X(x): how likely the guess is before anything is released, in reality."""
        return float(self.membership @ self.reality)

    def __repr__(self) -> str:
        return f"HistogramModel(people={self.people}, prior={self.prior:.6g})"


def _law(name: str, values: Any, people: int) -> Floats:
    law = _numbers(name, values, people)
    total = float(law.sum())
    if law.min() < 0 or abs(total - 1) > _SUM_TOLERANCE:
        raise ParameterError(f"{name} must hold probabilities that sum to 1, got a sum of {total:.9g}")
    return law / total


def _numbers(name: str, values: Any, people: int) -> Floats:
    numbers: Floats = np.asarray(values, dtype=np.float64)
    if numbers.shape != (people + 1,):
        raise ParameterError(
            f"{name} must hold one number for each of the counts 0 to {people}, got {numbers.size} numbers"
        )
    if not np.isfinite(numbers).all():
        raise ParameterError(f"{name} must hold finite numbers")
    return numbers
