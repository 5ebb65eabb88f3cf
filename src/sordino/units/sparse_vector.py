"""SparseVector: the first of many answers that is small, with noise on one side only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.core import Loss, ParameterError
from sordino.core.loss import round_as_written
from sordino.core.parameters import exact, whole
from sordino.mechanisms.selection.stated_law import StatedLaw, rounded_law
from sordino.sampling.geometric import draw_geometric

_TAIL = 42.0  # e^-42 of a factor is beyond double precision
_MOST_STEPS = 1 << 22


@dataclass(frozen=True, slots=True)
class SparseVector:
    """The first index whose answer, minus noise, is at most a threshold minus noise; the last index if none is.

    Both noises are geometric, e^(−rate) from one whole number to the next. Answers may be computed one by one
    (`draw` takes any iterable): none is read beyond the index where it stops.

    **Guarantee**: ε-DP with ε = threshold_rate·max(fall, rise) + query_rate·(fall + rise), where one unit taken away
    moves every answer by whole steps within [−fall, rise]. For numbers of units, fall 1 and rise 0, that is ε₁ + ε₂.
    *Proof.* After the change, compare with a threshold moved down by ``fall``. No earlier answer is nearer to it than
    before, so passing is at least as likely; the answer where it stops is at most fall + rise steps further above, and
    the tail of its noise falls by e^(−query_rate) a step. The threshold's noise reaches as far down as needed, at
    e^(−threshold_rate) a step. No noise on the other side is asked for: passing is compared by order alone. A unit
    added: the same with the two ends of the range changed over.
    **Requires**: answers in whole public steps.
    **Source**: Dwork et al. 2009; Lyu, Su and Li 2017, Theorem 4 and, for one direction, Theorem 5, with Laplace noise;
    one-sided noise and uneven ranges are ours.
    **Numerics**: the draw is exact. The law sums the threshold's noise in floats up to where all answers have left it
    by e^-42, and the rest in closed form.
    """

    threshold: int
    threshold_rate: Fraction
    query_rate: Fraction
    epsilon: Fraction

    @classmethod
    def of(
        cls,
        *,
        threshold: int,
        threshold_epsilon: Fraction,
        query_epsilon: Fraction,
        fall: int = 1,
        rise: int = 0,
    ) -> SparseVector:
        """The rates that two parts of a budget pay for."""
        first, second = exact("threshold_epsilon", threshold_epsilon), exact("query_epsilon", query_epsilon)
        fall, rise = whole("fall", fall, least=0), whole("rise", rise, least=0)
        if min(first, second) <= 0:
            raise ParameterError("threshold_epsilon and query_epsilon must be > 0")
        if fall + rise == 0:
            raise ParameterError("fall or rise must be at least 1: answers that never move need no noise")
        return cls(int(threshold), first / max(fall, rise), second / (fall + rise), first + second)

    @property
    def loss(self) -> Loss:
        """ε."""
        return Loss(epsilon=round_as_written(self.epsilon))

    def draw(self, answers: Iterable[int]) -> int:
        """The index where it stops."""
        level = self.threshold - int(draw_geometric(self.threshold_rate, 1)[0])
        index = -1
        for index, answer in enumerate(answers):
            if int(answer) - int(draw_geometric(self.query_rate, 1)[0]) <= level:
                return index
        if index < 0:
            raise ParameterError("at least one answer is needed")
        return index

    def law(self, answers: Sequence[int]) -> StatedLaw:
        """ln P(stop at i) for every index, with its error."""
        gaps = np.array([int(a) - self.threshold for a in answers], dtype=np.float64)
        first, second = float(self.threshold_rate), float(self.query_rate)
        steps = max(0, -int(gaps.min())) + math.ceil(_TAIL / second)
        if steps > _MOST_STEPS:
            raise ParameterError("the law is too wide to be summed at these rates")
        stops = np.full(len(gaps), -np.inf)
        for levels in _blocks(steps):
            # answer minus threshold, with the threshold's noise; below 0 it stops for certain
            ahead = np.maximum(gaps + levels[:, None], 0.0)
            stopping = -second * ahead
            stopping[:, -1] = 0.0  # the last index, whatever the answer
            with np.errstate(divide="ignore"):
                passing = np.log(-np.expm1(-second * ahead[:, :-1]))
            reached = np.cumsum(np.pad(passing, ((0, 0), (1, 0))), axis=1)
            terms = math.log(-math.expm1(-first)) - first * levels[:, None] + reached + stopping
            stops = np.logaddexp(stops, np.logaddexp.reduce(terms, axis=0))
        # further down every answer is passed but for e^-42 each; levels and stops fall geometrically
        rest = np.log(-np.expm1(-first)) - first * steps - second * (gaps + steps)
        rest -= math.log(-math.expm1(-(first + second)))
        rest[-1] = -first * steps
        return rounded_law(np.logaddexp(stops, rest), besides=len(gaps) * (math.exp(-_TAIL) + 2.0**-46))


def _blocks(steps: int) -> Iterator[NDArray[np.float64]]:
    """0, …, steps − 1 in parts that fit into memory."""
    size = 1 << 14
    for start in range(0, steps, size):
        yield np.arange(start, min(steps, start + size), dtype=np.float64)
