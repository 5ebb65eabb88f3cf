"""One winner among candidates with utilities 0 and 1: the best law there is, without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.core import Guarantee, ParameterError, PrivateDataError
from sordino.mechanisms.selection.question import Question
from sordino.sampling.refined_uniform import RefinedUniform, precision
from sordino.sampling.source import random_below


@dataclass(frozen=True, slots=True)
class SingleWinner:
    """Release the winner with probability P_m, another candidate otherwise, all others alike.

    m is the number of changes that are certainly not enough to make another candidate the winner. With d candidates
    P_0 = e^ε/(e^ε + d − 1), and P_m grows as fast as privacy lets it: 1 − P_{m+1} = max(e^(−ε)(1 − P_m), 1 − e^ε P_m).

    **Guarantee**: ε-DP. Neighbours with the same winner have m differing by at most 1, and both P and 1 − P change
    by at most e^ε; neighbours with different winners both have m = 0, where winner : loser is e^ε : 1.
    **Requires**: m moves by at most 1 per change, and is 0 wherever one change can bring another winner.
    **Source**: ours; no law of (winner, m) that treats the losers alike has a larger P_m for any m.
    **Numerics**: the recursion has the closed form of `log_losers`; the draw compares refined bits with balls.
    """

    winner: int
    margin: int
    candidates: int
    epsilon: Fraction
    guarantee: Guarantee

    def log_law(self) -> NDArray[np.float64]:
        """ln P(r) for every candidate."""
        losers = log_losers(float(self.epsilon), self.candidates, self.margin)
        each = losers - math.log(max(1, self.candidates - 1))
        law = np.full(self.candidates, each)
        law[self.winner] = math.log1p(-math.exp(losers)) if self.candidates > 1 else 0.0
        return law

    def draw(self) -> int:
        """One candidate."""
        if self.candidates == 1:
            return self.winner
        uniform = RefinedUniform()
        while True:
            with precision(uniform.bits + 64):
                losers = self._ball()
                if uniform.lower() >= losers:
                    return self.winner
                if uniform.upper() <= losers:
                    loser = random_below(self.candidates - 1)
                    return loser + (loser >= self.winner)
            uniform.refine()

    def _ball(self) -> arb:
        """1 − P_m as a ball."""
        growth = arb(fmpq(self.epsilon.numerator, self.epsilon.denominator)).exp()
        start = growth / (growth + self.candidates - 1)
        turn = turning_point(float(self.epsilon), self.candidates)
        if self.margin <= turn:
            return 1 - growth**self.margin * start
        return (1 - growth**turn * start) / growth ** (self.margin - turn)


def turning_point(epsilon: float, candidates: int) -> int:
    """The first m with P_m = e^(εm) P_0 ≥ 1/(1 + e^ε), from which on 1 − P shrinks by e^(−ε) per step.

    A value off by one through rounding can only occur where both branches of the recursion agree up to rounding.
    """
    log_start = -math.log1p((candidates - 1) * math.exp(-epsilon))
    log_goal = -epsilon - math.log1p(math.exp(-epsilon))
    return max(0, math.ceil((log_goal - log_start) / epsilon))


def log_losers(epsilon: float, candidates: int, margin: int) -> float:
    """ln(1 − P_m)."""
    if candidates == 1:
        return -math.inf
    log_start = -math.log1p((candidates - 1) * math.exp(-epsilon))
    turn = turning_point(epsilon, candidates)
    reached = min(margin, turn)
    # 1 - e^(eps·m) P_0 without cancellation at m = 0
    if reached == 0:
        log_rest = math.log(candidates - 1) - epsilon + log_start
    else:
        log_rest = math.log(-math.expm1(epsilon * reached + log_start))
    return log_rest - epsilon * (margin - reached)


def single_winner(question: Question) -> SingleWinner:
    """The law for 0/1 utilities whose profile says how many changes the winner survives."""
    winner, margin = winner_and_margin(question)
    guarantee = Guarantee(question.distance, "single-winner law", epsilon=float(question.epsilon))
    return SingleWinner(winner, margin, len(question.scores), question.epsilon, guarantee)


def winner_and_margin(question: Question) -> tuple[int, int]:
    """The candidate with utility 1, and the number of steps at which the profile is 0."""
    profile = question.profile
    if profile.group_of is not None or profile.bound != 1:
        raise ParameterError("0/1 utilities need one profile row for all candidates with bound=1")
    winners = np.flatnonzero(question.scores == 1)
    if len(winners) != 1 or not np.isin(question.scores, (0.0, 1.0)).all():
        raise PrivateDataError("0/1 utilities need exactly one candidate with score 1 and all others 0")
    margin = 0
    for start, block in profile.blocks():
        positive = np.flatnonzero(block[0] > 0)
        if len(positive):
            return int(winners[0]), start + int(positive[0])
        margin = start + block.shape[1]
    return int(winners[0]), margin
