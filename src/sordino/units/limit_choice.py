"""LimitChoice: which of a public grid of limits, from answers that one unit moves a little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.core import Loss, ParameterError
from sordino.core.loss import round_as_written
from sordino.core.parameters import exact, probability, whole
from sordino.mechanisms.selection.exponential import Exponential
from sordino.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.stated_law import StatedLaw

# Handicaps are multiples of this part of one step of the answers; they are public, so rounding them costs nothing.
_PART = 1 << 16
# Answers are cut here, which moves none of them by more than before, so that all scores are whole numbers below 2^60.
_LARGEST_ANSWER = 1 << 42
_GENTLE = 0.5  # slope below natural limits
_LARGEST_HANDICAP = 1 << 58


@dataclass(frozen=True, slots=True)
class LimitChoice:
    """The index of a limit, with a chance that falls by e^(−rate·answer) and by (limit)^(−slope).

    A good limit is small and has a small answer (the units above it, or what raising it would still gain). Small limits
    are preferred by a public handicap of slope·ln(limit) on the scores: whatever the answers say, limits far too large
    come with a chance that falls faster than they grow, so their part in the expected error stays small.

    **Guarantee**: ε-DP. One unit moves every answer within one interval of ``spread`` steps ([−1, 0] for numbers of
    units, whose spread is 1). Both laws depend on differences of scores alone, so such a change is one of at
    most spread/2 each way, which a rate of ε/spread pays for; handicaps are the same for all databases.
    ``exponential``: ε-bounded range too. ``permute_and_flip`` is chosen for pure ε: never worse in its scores.
    **Requires**: one answer per limit in whole public steps; the spread holds for every pair of neighbours.
    **Source**: McSherry and Talwar 2007 with a public base measure; McKenna and Sheldon 2020. The sparse vector of
    R2T's successors answers the same question; its choice has heavier tails (``docs/decisions/units.md``).
    **Numerics**: scores are integers, the rate is a fraction, the draw is exact (`sordino.sampling.choice`).
    """

    limits: tuple[int, ...]
    epsilon: Fraction
    spread: int
    handicaps: tuple[int, ...]
    bounded_range: bool

    @classmethod
    def of(
        cls,
        limits: Sequence[int],
        *,
        epsilon: Fraction,
        slope: int,
        natural: int = 1,
        spread: int = 1,
        bounded_range: bool = False,
    ) -> LimitChoice:
        """Checked, with the handicaps of a slope; ``spread`` is in steps of the answers.

        ``natural``: a limit of the size that contributions are expected to have, such as the most that one row adds.
        Up to it the slope is ½: a steep one would cost more than a few hundred units can outweigh.
        """
        epsilon, spread = exact("epsilon", epsilon), whole("spread", spread, least=1)
        slope = whole("slope", slope, least=0)
        if epsilon <= 0:
            raise ParameterError(f"epsilon must be > 0, got {epsilon}")
        if not limits or list(limits) != sorted(set(limits)) or limits[0] < 1:
            raise ParameterError("limits must be increasing whole numbers from 1 on")
        per_nat = Fraction(spread * _PART) / epsilon  # handicap of one unit of the exponent
        natural = max(limits[0], whole("natural", natural, least=1))
        nats = [
            min(slope, _GENTLE) * math.log(min(limit, natural) / limits[0])
            + slope * math.log(max(limit, natural) / natural)
            for limit in limits
        ]
        if per_nat * math.ceil(nats[-1] + 1) > _LARGEST_HANDICAP:
            raise ParameterError(f"epsilon = {float(epsilon):.3g} is too small to choose a limit with")
        handicaps = tuple(round(Fraction(size) * per_nat) for size in nats)
        return cls(tuple(limits), epsilon, spread, handicaps, bounded_range)

    @property
    def loss(self) -> Loss:
        """What one choice costs."""
        return Loss(epsilon=round_as_written(self.epsilon), bounded_range=self.bounded_range)

    @property
    def rate(self) -> Fraction:
        """The exponent of one step of the answers."""
        return self.epsilon / self.spread

    def law(self, answers: Sequence[int]) -> StatedLaw:
        """ln P(index), and how far each may be off, for `sordino.audit.prove`."""
        return self._sampler.stated_law(self._scores(answers), self.rate / _PART)

    def draw(self, answers: Sequence[int]) -> int:
        """One index, with exactly that law."""
        return self._sampler.draw(self._scores(answers), self.rate / _PART)

    def worst_answer(self, index: int, *, last: int = 0, confidence: float = 0.95) -> int:
        """The answer at the chosen index is at most this, with that confidence, if the last answer is at most ``last``.

        Either law takes a score t/rate below the best with a chance of at most (number of limits)·e^(−t), and the best
        score is at least that of the last limit. Public: it looks at no answer.
        """
        doubt = 1 - probability("confidence", confidence)
        fall = math.log(len(self.limits) / doubt) / float(self.rate)
        handicap = (self.handicaps[-1] - self.handicaps[index]) / _PART
        return math.ceil((last + fall + handicap) * (1 + 2.0**-40))

    def hopeless(self, nats: int) -> int:
        """An answer that is worse than that of the last limit by so many nats if the latter is 0. Public."""
        return math.ceil(Fraction(self.handicaps[-1], _PART) + nats / self.rate)

    @property
    def _sampler(self) -> type[Exponential] | type[PermuteAndFlip]:
        return Exponential if self.bounded_range else PermuteAndFlip

    def _scores(self, answers: Sequence[int]) -> GridScores:
        if len(answers) != len(self.limits):
            raise ParameterError(f"one answer per limit is needed ({len(self.limits)}), got {len(answers)}")
        cut = np.array([min(max(int(a), -_LARGEST_ANSWER), _LARGEST_ANSWER) for a in answers], dtype=np.int64)
        return GridScores(-(cut * _PART + np.array(self.handicaps, dtype=np.int64)), self.spread * _PART)
