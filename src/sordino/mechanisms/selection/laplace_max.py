"""The law and the draw of report-noisy-max with Laplace noise."""

from __future__ import annotations

from fractions import Fraction

from sordino.mechanisms.selection.exponential import log_weights
from sordino.mechanisms.selection.noisy_max_law import noisy_max_law
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.sampling.race import draw_winner
from sordino.sampling.shapes import Laplace


class LaplaceMax:
    """argmax of score + Laplace/rate, as a sampler like the exponential law and permute-and-flip."""

    name = "laplace"
    theorem = "report noisy max, Laplace noise"
    bounded_range = False

    @staticmethod
    def stated_law(scores: GridScores, rate: Fraction) -> StatedLaw:
        """ln P(r) for every candidate, with its error."""
        return noisy_max_law(Laplace(), log_weights(scores.values, rate))

    @staticmethod
    def draw(scores: GridScores, rate: Fraction) -> int:
        """One candidate."""
        return draw_winner(Laplace(), scores.values, 1 / rate)
