"""Report noisy max: the same noise on every score, and only the winner's index leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sordino.core import CalibrationError
from sordino.mechanisms.selection.exponential import Exponential, global_scores
from sordino.mechanisms.selection.laplace_max import LaplaceMax
from sordino.mechanisms.selection.mechanism import Mechanism, Sampler, ScoreSelection, score_selection
from sordino.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.traits import MechanismTraits

# the noises, the default first: it is never worse than the other two
_SAMPLER_OF: Mapping[str, Sampler] = {
    "exponential": PermuteAndFlip(),
    "gumbel": Exponential(),
    "laplace": LaplaceMax(),
}
_SMALLEST_RATE = Fraction(1, 10**300)


@dataclass(frozen=True, slots=True)
class ReportNoisyMax:
    """argmax of score + noise/rate.

    **Guarantee**: ε-DP with rate ε/(2Δ), or ε/Δ if every score moves the same way under one change.
    Gumbel noise gives the law of the exponential mechanism, one-sided exponential noise that of permute-and-flip;
    both are drawn as those are. Laplace noise is drawn by a race of lazily refined noises.
    **Source**: Dwork and Roth 2014 (Laplace); Ding et al. 2021 (exponential).
    """

    traits: ClassVar[MechanismTraits] = MechanismTraits(
        "report_noisy_max",
        "report noisy max",
        reads="bound",
        monotone=True,
        options={"noise": tuple(_SAMPLER_OF)},
        variants=({"noise": "laplace"},),
    )

    def prepare(self, question: SelectionQuestion) -> ScoreSelection:
        """Scores with the noise asked for."""
        noise = question.noise or next(iter(_SAMPLER_OF))
        sampler, theorem = _SAMPLER_OF[noise], f"{self.traits.title}, {noise} noise"
        selection = score_selection(question, global_scores(question), sampler, theorem)
        if noise == "laplace" and selection.rate < _SMALLEST_RATE:
            raise CalibrationError(
                f"epsilon = {float(question.epsilon):g} is too small for Laplace noise on this grid"
            )
        return selection


MECHANISM: Mechanism = ReportNoisyMax()
