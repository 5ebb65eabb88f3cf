"""Losses where an auditor may fail to look: equal zeros, types, positions without names, tails, lost digits.

None of these is a mechanism that anyone would publish. Each went through an earlier auditor, and keeps it honest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.attack import Attack, attack
from sordino.audit.log_law import LogLaw
from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import DiscreteLaplace
from sordino.audit.zoo.specimen import Specimen
from sordino.sampling.source import random_words

Floats = NDArray[np.float64]

_EPSILON = 1.0


def _between_two(law: Callable[[int], Any], epsilon: float = _EPSILON) -> Proof:
    return prove(law, (0, 1), lambda bit: (1 - bit,), epsilon)


# ---- outcomes that Python calls equal ----------------------------------------------------------------------------


def _zeros(*, positive: bool) -> Proof:
    """A value in {0, 1, 2} times a public factor of 0: the sign of the zero is that of the value's distance to 1."""

    def law(value: int) -> dict[float, float]:
        zero = 0.0 * (value - 1)
        return {zero + 0.0 if positive else zero: 1.0}

    return prove(law, range(3), lambda x: [y for y in (x - 1, x + 1) if 0 <= y <= 2], 0.0)


SIGN_OF_ZERO = Specimen(
    name="sign of zero",
    claim="a value multiplied by 0 says nothing: 0-DP",
    flaw="-1 times 0.0 is -0.0, which Python calls equal to 0.0 and prints otherwise; adding 0.0 makes all zeros one",
    source="found by reading the auditor: outcomes were merged by Python's equality",
    refute=lambda: _zeros(positive=False),
    repaired=lambda: _zeros(positive=True),
)


def _answers(*, one_type: bool) -> Attack:
    """A fair coin as 0 or 1, and for one of the databases as False or True."""

    def coin(value: int) -> Any:
        shown = int(random_words(1, np.uint8)[0] & 1)
        return shown if one_type or value else bool(shown)

    return attack(coin, 0, 1, runs=4000, epsilon=_EPSILON)


TYPE_OF_OUTCOME = Specimen(
    name="type of an outcome",
    claim="a fair coin says nothing, whether it is shown as 1 or as True",
    flaw="1 and True are equal in Python and not in JSON: the type of the answer is the secret bit",
    source="found by reading the auditor: outcomes were merged by Python's equality",
    refute=lambda: _answers(one_type=False),
    repaired=lambda: _answers(one_type=True),
)

# ---- positions that mean something else for another database ------------------------------------------------


def _by_rank(*, public: bool) -> Proof:
    """One of three records in 0 … 2, or one of the values 0 … 2, by an exponential law on what is public of it."""
    top, records = 2, 3

    def law(values: tuple[int, ...]) -> tuple[list[int], Floats]:
        if not public:
            return list(values), np.full(records, 1 / records)  # the same law for every database, by position
        counts = np.array([values.count(candidate) for candidate in range(top + 1)])
        weights = np.exp(_EPSILON / 2 * counts)
        return list(range(top + 1)), weights / weights.sum()

    def replaced(values: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [
            tuple(sorted((*values[:i], value, *values[i + 1 :])))
            for i in range(records)
            for value in range(top + 1)
        ]

    return prove(law, combinations_with_replacement(range(top + 1), records), replaced, _EPSILON)


SORTED_CANDIDATES = Specimen(
    name="candidates sorted by the data",
    claim="releasing the record at a uniform rank is 0-DP: the law over ranks is the same for all databases",
    flaw="the record is released and not its rank, and a record that another database lacks is impossible there",
    source="found by reading the auditor: arrays were compared by position",
    refute=lambda: _by_rank(public=False),
    repaired=lambda: _by_rank(public=True),
)

# ---- tails that are not what they are said to be ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OutsideTheWindow:
    """Releases 1000 + bit with certainty, and says that nothing but its harmless tail lies there."""

    bit: int
    step: Fraction = Fraction(1)

    def window(self) -> tuple[int, int]:
        return 0, 5

    def log_masses(self, first: int, last: int) -> Floats:
        return np.where(np.arange(first, last + 1) == 1000 + self.bit, 0.0, -np.inf)

    def tail_mass(self, first: int, last: int) -> float:
        return 1.0

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        return 0.0


HIDDEN_OUTSIDE_THE_WINDOW = Specimen(
    name="mass outside the window",
    claim="a law without mass in its window, which states a tail of mass 1 and loss 0, is 0-DP",
    flaw="all mass lies on one point outside, another one for each database",
    source="found by reading the auditor: tails were believed unseen",
    refute=lambda: _between_two(_OutsideTheWindow),
    repaired=lambda: _between_two(lambda bit: DiscreteLaplace(1000 + bit, 1 / _EPSILON)),
)


@dataclass(frozen=True, slots=True)
class _Understated(DiscreteLaplace):
    """Discrete Laplace noise that looks at two scales and calls the rest a matter of the shift alone."""

    def window(self) -> tuple[int, int]:
        reach = math.ceil(2 * self.scale)
        return self.centre - reach, self.centre + reach

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        return float(abs(self.centre - other.centre) / min(self.scale, other.scale))


UNDERSTATED_TAIL = Specimen(
    name="understated tail",
    claim="Laplace noise of scales 20 and 24 about one centre loses what it loses within two scales (ε = 1)",
    flaw="two scales differ without bound far out; the law states a loss of 0 there",
    source="found by reading the auditor: tails were believed unseen",
    refute=lambda: _between_two(lambda bit: _Understated(0, 20.0 + 4 * bit)),
    repaired=lambda: _between_two(lambda bit: _Understated(bit, 20.0)),
)

# ---- laws with lost digits -------------------------------------------------------------------------------------------


def _five_digits(spent: float) -> Proof:
    """Randomised response at the rate ``spent``; its law is printed with five digits, and says so."""
    truth = 1 / (1 + math.exp(-spent))

    def law(bit: int) -> LogLaw:
        printed = np.round([truth, 1 - truth], 5)
        return LogLaw(np.log(printed[:: 1 - 2 * bit]), error=1e-5 / printed.min())

    return _between_two(law)


LOST_DIGITS = Specimen(
    name="law with five digits",
    claim="randomised response at ε = 1.00001 is 1-DP: the printed probabilities .73106 and .26894 are",
    flaw="a ratio is known only as well as the probabilities are; the error of the law is larger than the tolerance",
    source="found by comparing floating-point laws with ball arithmetic",
    refute=lambda: _five_digits(1.00001),
    repaired=lambda: _five_digits(0.9999),
)
