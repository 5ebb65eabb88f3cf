"""RankChoice: a point of a public lattice near a rank, where ranks count rows, units, or rows with weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Loss, ParameterError
from sordino.core.loss import round_as_written
from sordino.core.parameters import exact, probability, whole
from sordino.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.stated_law import StatedLaw

_SHARE_UNITS = 1 << 26  # q is a whole number of 2^-26, as for `sordino.stats.quantile`
_LARGEST_SCORE = 1 << 58
_SENSITIVITY_BITS = 32  # what one unit moves has no more steps than this many bits hold
_LARGEST_SUM = 1 << 35  # such sums of counts, times the units of q, stay within 64 bits
_SAFETY = 10  # extremes are overshot with a chance of about one in so many


@dataclass(frozen=True, slots=True)
class RankChoice:
    """A point of a public lattice near a rank, from how much lies at every point.

    `quantile`: the utility of a point is min(qn − L, M − qn) with L below it, M up to it, n in all. `largest` and
    `smallest`: min(A − k, k − 1 − B) with A at or beyond the point and B beyond it, which is 0 or more at the k-th
    value alone (with weights, more than −1 there and perhaps nearby). The point is drawn by permute-and-flip.

    **Guarantee**: ε-DP for one unit that adds at most ``most`` to all counts together: a row, or a unit's one value
    (its largest, its mean), counts 1; rows may have weights that add up to ``most`` per unit. A unit that adds a moves
    qn − L and M − qn by at most max(q, 1 − q)·a either way, and A and B by at most a, hence the utility, which costs
    ε·a/most. So any number of choices from different counts (groups) cost ε together if a unit adds at most ``most`` to
    all of them together, in whatever parts.
    **Source**: Smith 2011, with ranks in units as in Fang, Dong and Yi 2022; for rows, and for values per unit, the law
    is that of `sordino.stats.quantile` for one record added or removed.
    **Numerics**: utilities are whole numbers, rounded down to a public step if weights are fine and units large, which
    is paid for once per choice, and cut where their differences no longer matter; the draw is exact.
    """

    epsilon: Fraction
    most: int
    share: int | None  # of q, in 2^-26; None for a rank from an end
    rank: int
    from_top: bool
    choices: int = 1
    one: int = 1

    @classmethod
    def quantile(cls, q: Any, *, epsilon: Any, most: int = 1, choices: int = 1) -> RankChoice:
        """Near the q-quantile, 0 < q < 1. ``choices``: how many, such as groups, a unit may take part in."""
        share = round(probability("q", q) * _SHARE_UNITS)
        most, choices = whole("most", most, least=1), whole("choices", choices, least=1)
        return cls(_positive(epsilon), most, share, 0, False, choices)

    @classmethod
    def largest(cls, rank: int, *, epsilon: Any, most: int = 1, choices: int = 1, one: int = 1) -> RankChoice:
        """Near the rank-th largest, counted as the counts are; see `extreme_rank` for the maximum.

        ``one``: what a whole row or value weighs.
        """
        most, choices, one = (
            whole(name, number, least=1)
            for name, number in (("most", most), ("choices", choices), ("one", one))
        )
        return cls(_positive(epsilon), most, None, whole("rank", rank, least=1), True, choices, one)

    @classmethod
    def smallest(
        cls, rank: int, *, epsilon: Any, most: int = 1, choices: int = 1, one: int = 1
    ) -> RankChoice:
        """Near the rank-th smallest."""
        mirrored = cls.largest(rank, epsilon=epsilon, most=most, choices=choices, one=one)
        return replace(mirrored, from_top=False)

    @property
    def loss(self) -> Loss:
        """ε."""
        return Loss(epsilon=round_as_written(self.epsilon))

    def law(self, counts: ArrayLike) -> StatedLaw:
        """ln P(point) for every point, with its error."""
        scores = self._scores(counts)
        return PermuteAndFlip.stated_law(scores, scores.rate(self.epsilon, monotone=False))

    def draw(self, counts: ArrayLike) -> int:
        """The index of one point."""
        scores = self._scores(counts)
        return PermuteAndFlip.draw(scores, scores.rate(self.epsilon, monotone=False))

    def radius(self, points: int, confidence: float = 0.95) -> float:
        """With that confidence the rank of the point is within so much of the rank that was meant. Public.

        That is, L ≤ qn + r and M ≥ qn − r, or A ≥ k − r and B ≤ k − 1 + r; the latter if all counts add up to k or
        more. Some point has a utility of 0 or more (with weights, of more than −1, which is added). A point whose
        utility is below −r shows heads with a chance of at most p = e^(−rate·r), there are at most ``points`` − 1 of
        them, and the best one comes after each with a chance of ½: so such a point is drawn with a chance of at most
        (points − 1)·p/2.
        """
        worse = whole("points", points, least=1) - 1
        if not worse:
            return 0.0
        grid, sensitivity = self._grid()
        nats = max(0.0, math.log(worse / (2 * (1 - confidence))))
        steps = nats * float(2 * sensitivity / self.epsilon) + (grid > 1)
        return steps * grid + self.one - 1 if self.share is None else steps * grid / _SHARE_UNITS

    def _grid(self) -> tuple[int, int]:
        """The step that utilities are rounded down to, and how many steps one unit moves all of them together."""
        share = 1 if self.share is None else max(self.share, _SHARE_UNITS - self.share)
        moved = share * self.most
        grid = 1 << max(0, moved.bit_length() - _SENSITIVITY_BITS)
        if grid == 1:
            return 1, moved
        # ⌊u/h⌋ moves by less than one step more than u, once per choice
        return grid, -(-moved // grid) + self.choices

    def _scores(self, counts: ArrayLike) -> GridScores:
        held = np.asarray(counts)
        if held.ndim != 1 or not len(held) or held.dtype.kind not in "iuO":
            raise ParameterError("counts must be whole numbers, one per point of the lattice")
        grid, sensitivity = self._grid()
        if self.share is None:
            utility = _distance_to_rank(held, self.rank, self.one, from_top=self.from_top)
        else:
            utility = _distance_to_share(held, self.share)
        utility = utility if grid == 1 else utility // grid
        cut = np.minimum(np.maximum(utility, -_LARGEST_SCORE), _LARGEST_SCORE)
        return GridScores(cut.astype(np.int64), sensitivity)


def extreme_rank(points: int, epsilon: Any) -> int:
    """The rank to ask for where the maximum is meant: so far inside that going beyond all values is unlikely.

    A point beyond them is k below the best utility, and there are at most ``points`` such points: their chance is at
    most points·e^(−εk/2). Public.
    """
    nats = math.log(_SAFETY * whole("points", points, least=1))
    return max(1, math.ceil(2 * nats / float(_positive(epsilon))))


def _distance_to_share(counts: NDArray[Any], share: int) -> NDArray[Any]:
    upto = _summed(counts)
    total = int(upto[-1])
    if total < _LARGEST_SUM:
        upto, counts = upto.astype(np.int64), counts.astype(np.int64)
    target = share * total
    utility: NDArray[Any] = np.minimum(target - (upto - counts) * _SHARE_UNITS, upto * _SHARE_UNITS - target)
    return utility


def _distance_to_rank(counts: NDArray[Any], rank: int, one: int, *, from_top: bool) -> NDArray[Any]:
    ordered = counts[::-1] if from_top else counts
    at_or_beyond = _summed(ordered)
    utility: NDArray[Any] = np.minimum(at_or_beyond - rank, rank - one - (at_or_beyond - ordered))
    return utility[::-1] if from_top else utility


def _summed(counts: NDArray[Any]) -> NDArray[Any]:
    """Cumulative sums in whole numbers that do not overflow."""
    if not counts.dtype.hasobject and float(counts.sum(dtype=np.float64)) < _LARGEST_SUM:
        return np.cumsum(counts, dtype=np.int64)
    return np.cumsum(counts.astype(np.object_))


def _positive(epsilon: Any) -> Fraction:
    budget = exact("epsilon", epsilon)
    if budget <= 0:
        raise ParameterError(f"epsilon must be > 0, got {epsilon!r}")
    return budget
