"""The exponential law over scores of known sensitivity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.selection.mechanism import ScoreMechanism
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.scores import GridScores, bound_on_grid, grid_step, scores_on_grid
from sordino.mechanisms.selection.stated_law import StatedLaw, rounded_law
from sordino.mechanisms.selection.traits import MechanismTraits
from sordino.sampling.choice import ExponentialChoice


def global_scores(question: SelectionQuestion) -> GridScores:
    """The scores as they are, with the global sensitivity."""
    step = grid_step(question.profile, question.step)
    return GridScores(scores_on_grid(question.scores, step), bound_on_grid(question.profile, step))


class Exponential:
    """Release candidate r with probability proportional to exp(rate·score).

    **Guarantee**: ε-DP with rate ε/(2Δ), or ε/Δ if every score moves the same way under one change; in both cases
    also ε-bounded range, hence ε²/8-zCDP.
    **Requires**: scores of sensitivity Δ.
    **Source**: McSherry and Talwar 2007; bounded range: Durfee and Rogers 2019, Cesar and Rogers 2021.
    **Numerics**: exact integer scores; the draw is exact, the law is in log space, accurate to a few ulps.
    """

    name = "exponential"
    theorem = "exponential mechanism"
    bounded_range = True

    @staticmethod
    def stated_law(scores: GridScores, rate: Fraction) -> StatedLaw:
        """ln P(r) for every candidate, with its error."""
        exponents = log_weights(scores.values, rate)
        return rounded_law(exponents - np.log(np.exp(exponents).sum()))

    @staticmethod
    def draw(scores: GridScores, rate: Fraction) -> int:
        """One candidate."""
        return ExponentialChoice(scores.values, rate).draw()


def log_weights(values: NDArray[np.int64], rate: Fraction) -> NDArray[np.float64]:
    """rate·(score − top): 0 for the best candidate, negative for the others, −∞ where doubles end."""
    with np.errstate(over="ignore"):
        weights: NDArray[np.float64] = (values - values.max()) * float(rate)
    return weights


MECHANISM = ScoreMechanism(
    MechanismTraits(
        "exponential",
        "exponential mechanism",
        reads="bound",
        monotone=True,
        options={"sampler": (Exponential.name,)},
    ),
    global_scores,
    {Exponential.name: Exponential()},
)
