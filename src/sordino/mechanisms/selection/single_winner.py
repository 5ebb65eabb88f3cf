"""One winner among candidates with utilities 0 and 1: the best law there is, without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.core import Guarantee, Loss, ParameterError, PrivateDataError
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.stated_law import StatedLaw, rounded_law
from sordino.sampling.refined_uniform import RefinedUniform, precision
from sordino.sampling.source import random_below

_ENOUGH_BITS = 60


@dataclass(frozen=True, slots=True)
class SingleWinner:
    """Release the winner with probability P_m, another candidate otherwise, all others alike.

    m is the number of changes that are certainly not enough to make another candidate the winner. With d candidates
    P_0 = e^ε/(e^ε + d − 1), and P_m grows as fast as privacy lets it: 1 − P_{m+1} = max(e^(−ε)(1 − P_m), 1 − e^ε P_m).

    **Guarantee**: ε-DP. Neighbours with the same winner have m differing by at most 1, and both P and 1 − P change
    by at most e^ε; neighbours with different winners both have m = 0, where winner : loser is e^ε : 1.
    **Requires**: m moves by at most 1 per change, and is 0 wherever one change can bring another winner.
    **Source**: ours; no law of (winner, m) that treats the losers alike has a larger P_m for any m.
    **Numerics**: the recursion has the closed form of `_losers`, whose turning point balls decide; the draw compares
    refined bits with balls.
    """

    winner: int
    margin: int
    candidates: int
    epsilon: Fraction
    guarantee: Guarantee

    def stated_law(self) -> StatedLaw:
        """ln P(r) for every candidate, with its error."""
        losers, winner = log_losers_and_winner(self.epsilon, self.candidates, self.margin)
        law = np.full(self.candidates, losers - math.log(max(1, self.candidates - 1)))
        law[self.winner] = winner
        return rounded_law(law)

    def log_law(self) -> NDArray[np.float64]:
        """ln P(r) for every candidate."""
        return self.stated_law().log_probabilities

    def draw(self) -> int:
        """One candidate."""
        if self.candidates == 1:
            return self.winner
        uniform = RefinedUniform()
        while True:
            with precision(uniform.bits + 64):
                losers = _losers(self.epsilon, self.candidates, self.margin)
                if uniform.lower() >= losers:
                    return self.winner
                if uniform.upper() <= losers:
                    loser = random_below(self.candidates - 1)
                    return loser + (loser >= self.winner)
            uniform.refine()


def log_losers_and_winner(epsilon: Fraction, candidates: int, margin: int) -> tuple[float, float]:
    """ln(1 − P_m) and ln P_m."""
    if candidates == 1:
        return -math.inf, 0.0
    bits = 128
    while True:
        with precision(bits):
            losers = _losers(epsilon, candidates, margin)
            logs = losers.log(), (-losers).log1p()
            if min(log.rel_accuracy_bits() for log in logs) > _ENOUGH_BITS:
                return float(logs[0].mid()), float(logs[1].mid())
        bits *= 2


def _losers(epsilon: Fraction, candidates: int, margin: int) -> arb:
    """1 − P_m as a ball: 1 − e^(εm) P_0 up to the turning point, and from there on e^(−ε) of it per step."""
    turn = turning_point(epsilon, candidates)
    growth = _growth(epsilon)
    total = growth + (candidates - 1)
    reached = min(margin, turn)
    rest = (candidates - 1) / total if reached == 0 else 1 - growth ** (reached + 1) / total
    return rest / growth ** (margin - reached)


@lru_cache(maxsize=1024)
def turning_point(epsilon: Fraction, candidates: int) -> int:
    """The first m with P_m = e^(εm) P_0 ≥ 1/(1 + e^ε), from which on 1 − P shrinks by e^(−ε) per step.

    The two sides are never equal: that would make e^ε, with ε rational, a root of a polynomial.
    """
    rounded = float(epsilon)
    log_start = -math.log1p((candidates - 1) * math.exp(-rounded))
    log_goal = -rounded - math.log1p(math.exp(-rounded))
    turn = max(0, math.ceil(Fraction(log_goal - log_start) / epsilon))
    # floats put it nearly there, and further off only in units of an ε that is far below their resolution
    low, high = -1, turn
    step = 1
    while not _has_turned(epsilon, candidates, high):
        low, high, step = high, high + step, 2 * step
    step = 1
    while low < (start := high - step) and _has_turned(epsilon, candidates, start):
        high, step = start, 2 * step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        if _has_turned(epsilon, candidates, middle):
            high = middle
        else:
            low = middle
    return high


def _has_turned(epsilon: Fraction, candidates: int, margin: int) -> bool:
    """Whether e^(ε(m+1))·(1 + e^ε) > e^ε + d − 1."""
    bits = 64
    while True:
        with precision(bits):
            growth = _growth(epsilon)
            reached, needed = growth ** (margin + 1) * (1 + growth), growth + (candidates - 1)
            if reached > needed:
                return True
            if reached < needed:
                return False
        bits *= 2


def _growth(epsilon: Fraction) -> arb:
    return arb(fmpq(epsilon.numerator, epsilon.denominator)).exp()


def single_winner(question: SelectionQuestion) -> SingleWinner:
    """The law for 0/1 utilities whose profile says how many changes the winner survives."""
    winner, margin = winner_and_margin(question)
    guarantee = Guarantee(Loss(epsilon=float(question.epsilon)), question.distance, "single-winner law")
    return SingleWinner(winner, margin, len(question.scores), question.epsilon, guarantee)


def winner_and_margin(question: SelectionQuestion) -> tuple[int, int]:
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
