"""Report noisy max: the same noise on every score, and only the winner's index leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core import CalibrationError
from sordino.core.parameters import choice
from sordino.mechanisms.selection.exponential import global_scores
from sordino.mechanisms.selection.laplace_max import LaplaceMax
from sordino.mechanisms.selection.mechanism import SAMPLERS, Sampler, ScoreMechanism, ScoreSelection
from sordino.mechanisms.selection.question import Question

_SAMPLER_OF: dict[str, Sampler] = {
    "gumbel": SAMPLERS["exponential"],
    "exponential": SAMPLERS["permute_and_flip"],
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

    name: str = "report_noisy_max"

    def prepare(self, question: Question) -> ScoreSelection:
        """Scores with the noise asked for (exponential by default: never worse than the other two)."""
        noise = choice("noise", question.noise or "exponential", tuple(_SAMPLER_OF))
        plain = ScoreMechanism(
            self.name, f"report noisy max, {noise} noise", global_scores, "exponential", own_sampler=True
        ).prepare(replace(question, noise=None))
        if noise == "laplace" and plain.rate < _SMALLEST_RATE:
            raise CalibrationError(
                f"epsilon = {float(question.epsilon):g} is too small for Laplace noise on this grid"
            )
        sampler = _SAMPLER_OF[noise]
        loss = replace(plain.guarantee.loss, bounded_range=sampler.bounded_range)
        return replace(plain, sampler=sampler, guarantee=replace(plain.guarantee, loss=loss))
