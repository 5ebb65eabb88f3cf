"""Truncation: sums over units of which each has at most τ, with τ chosen privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from sordino.core import ParameterError
from sordino.core.parameters import exact, whole
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.units.limit_choice import LimitChoice
from sordino.units.limit_noise import GaussianPerLimit, LaplacePerLimit, LimitNoise

# Chosen by the exact expected error over public families of histograms: benchmarks/unit_tuning.py.
_BASE = Fraction(6, 5)
_FEW_NUMBERS = 10
_SHARE, _SHARE_OF_MANY = Fraction(1, 4), Fraction(3, 20)
_RHO_SHARE, _RHO_SHARE_OF_MANY = Fraction(1, 10), Fraction(1, 20)
_BELOW_NATURAL = 32
_ROOT_BITS = 80  # of a root's rational lower bound


@dataclass(frozen=True, slots=True)
class Truncation:
    """Σ_u clip(c_u, −τ, τ) + noise of scale τ, for a τ that a part of the budget chose. All of it is public.

    1. `choose` takes N(τ) = #{u : |c_u| > τ} for every τ of ``grid`` and draws the index of one of them.
    2. `release` adds noise for that τ to one total, or to every total of a vector (GROUP BY) to which each unit gives
       at most τ: in ℓ₁ for an ε, in ℓ₂ for a ρ. N then counts units whose vector is longer than τ.

    **Guarantee**: ε- (or ρ-) DP for one unit added or removed with all it contributes: one unit moves every N(τ) by
    0 or 1, all the same way, and the totals by at most τ; the choice and the noise compose.
    **Requires**: the N of one set of units, a total in whole public steps, every unit's part clipped to τ as above.
    What a unit contributes beyond ``most`` is clipped, whatever was declared: the guarantee does not depend on it.
    **Source**: the truncation of R2T (Dong et al. 2022), with one release instead of a race of many.
    **Numerics**: fractions throughout; `law` is that of the draws.
    """

    grid: tuple[int, ...]
    choice: LimitChoice
    noise: LimitNoise

    @classmethod
    def of(cls, *, epsilon: Fraction, most: int, numbers: int = 1, natural: int = 1) -> Truncation:
        """For a pure ε. ``most``: a public bound on one unit; ``numbers``: how many are released, such as groups.

        ``natural``: the size that contributions are expected to have, such as the most that one row adds; limits begin
        32 times below it.
        """
        budget, numbers = positive_budget("epsilon", epsilon), whole("numbers", numbers, least=1)
        share = budget * (_SHARE if numbers < _FEW_NUMBERS else _SHARE_OF_MANY)
        grid = list_limits(most, least=_least(natural, most))
        choice = LimitChoice.of(grid, epsilon=share, slope=_slope(numbers), natural=natural)
        return cls(grid, choice, LaplacePerLimit(budget - share))

    @classmethod
    def of_rho(cls, *, rho: Fraction, most: int, numbers: int = 1, natural: int = 1) -> Truncation:
        """For a ρ of zCDP: the choice has a range of ε, so it costs ε²/8, and the noise is Gaussian."""
        budget, numbers = positive_budget("rho", rho), whole("numbers", numbers, least=1)
        part = _RHO_SHARE if numbers < _FEW_NUMBERS else _RHO_SHARE_OF_MANY
        share = root_below(8 * budget * part)
        grid = list_limits(most, least=_least(natural, most))
        choice = LimitChoice.of(
            grid, epsilon=share, slope=_slope(numbers), natural=natural, bounded_range=True
        )
        return cls(grid, choice, GaussianPerLimit(budget - share**2 / 8))

    def choose(self, above: Sequence[int]) -> int:
        """The index of τ, drawn from the number of units above every limit of the grid."""
        return self.choice.draw(above)

    def release(self, limit: int, totals: Sequence[int]) -> tuple[int, ...]:
        """The totals of what was clipped to ``limit``, with noise for it."""
        return self.noise.draw(self._known(limit), totals)

    def radius(self, limit: int, confidence: float = 0.95) -> int:
        """How far noise moves one number at most, with that confidence; clipping may take more away."""
        return self.noise.radius(self._known(limit), confidence)

    def clipped(self, limit: int, confidence: float = 0.95) -> int:
        """At most so many units were clipped, with that confidence, if none has more than the last of the grid."""
        return self.choice.worst_answer(self.grid.index(self._known(limit)), confidence=confidence)

    def law(
        self, above: Sequence[int], totals: Sequence[int], window: tuple[int, int]
    ) -> tuple[list[tuple[int, Any]], StatedLaw]:
        """The joint law of the index and of one released number, for proofs: outcomes, and their logarithms.

        Numbers outside the public ``window`` are one outcome on either side. If the window holds all totals of a
        universe nothing is lost by that: beyond it two Laplace laws have the ratio that they have at its end.
        """
        first, last = window
        chosen = self.choice.law(above)
        outcomes: list[tuple[int, Any]] = []
        logs, errors = [], []
        for index, (limit, total) in enumerate(zip(self.grid, totals, strict=True)):
            law = self.noise.law(limit, int(total))
            inside = law.log_masses(first, last)
            # what lies outside, as the sum of many small masses: no cancellation
            low, high = law.window()
            sides = [
                _log_sum(law.log_masses(min(low, first) - law.reach, first - 1)),
                _log_sum(law.log_masses(last + 1, max(high, last) + law.reach)),
            ]
            numbers = np.array([sides[0], *inside, sides[1]])
            outcomes += [(index, number) for number in ("below", *range(first, last + 1), "above")]
            logs.append(chosen.log_probabilities[index] + numbers)
            errors.append(chosen.error[index] + (4 * law.log_error) * (1 + np.abs(numbers)))
        return outcomes, StatedLaw(np.concatenate(logs), np.concatenate(errors))

    def expected_error(self, above: Sequence[int], totals: Sequence[int]) -> float:
        """E|released − true| for one number, the last of ``totals`` being the truth; as confidential as they are."""
        chances = np.exp(self.choice.law(above).log_probabilities)
        errors = [
            self.noise.mean_error(limit, abs(int(totals[-1]) - int(total)))
            for limit, total in zip(self.grid, totals, strict=True)
        ]
        return float(chances @ np.array(errors))

    def _known(self, limit: int) -> int:
        if limit not in self.grid:
            raise ParameterError(f"limit must be one of the grid (1 … {self.grid[-1]}), got {limit!r}")
        return limit


def list_limits(most: int, *, least: int = 1, base: Fraction = _BASE) -> tuple[int, ...]:
    """⌈least·1.2^i⌉ without repetition, up to and including ``most``."""
    most = whole("most", most, least=1)
    limits, power = {most}, Fraction(least)
    while power < most:
        limits.add(math.ceil(power))
        power *= base
    return tuple(sorted(limits))


def _least(natural: int, most: int) -> int:
    return min(most, max(1, whole("natural", natural, least=1) // _BELOW_NATURAL))


def _slope(numbers: int) -> int:
    """More numbers share what clipping takes away, and each has its own noise: smaller limits become better."""
    return 3 if numbers < _FEW_NUMBERS else 1 + isqrt(4 * numbers)


def positive_budget(name: str, value: Any) -> Fraction:
    """A budget as an exact fraction, refused unless it is above 0."""
    budget = exact(name, value)
    if budget <= 0:
        raise ParameterError(f"{name} must be > 0, got {value!r}")
    return budget


def root_below(value: Fraction) -> Fraction:
    """The largest multiple of 2^-80 whose square is at most ``value``."""
    return Fraction(isqrt((value.numerator << (2 * _ROOT_BITS)) // value.denominator), 1 << _ROOT_BITS)


def _log_sum(logs: Any) -> float:
    peak = float(np.max(logs))
    return peak + math.log(float(np.exp(logs - peak).sum()))
