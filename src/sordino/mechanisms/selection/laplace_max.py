"""The law and the draw of report-noisy-max with Laplace noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.selection import noisy_max_law
from sordino.mechanisms.selection.exponential import log_weights
from sordino.mechanisms.selection.scores import GridScores
from sordino.sampling.race import race
from sordino.sampling.shapes import Laplace


class LaplaceMax:
    """argmax of score + Laplace/rate, as a sampler like the exponential law and permute-and-flip."""

    name = "laplace"
    theorem = "report noisy max, Laplace noise"
    zcdp_factor = 1 / 2

    @staticmethod
    def log_law(scores: GridScores, rate: Fraction) -> NDArray[np.float64]:
        """ln P(r) for every candidate."""
        return noisy_max_law.log_law(Laplace(), log_weights(scores.values, rate))

    @staticmethod
    def draw(scores: GridScores, rate: Fraction) -> int:
        """One candidate."""
        return race(Laplace(), scores.values, 1 / rate)
