"""The seam between a question and what answers it: one entry per mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import Guarantee, Loss, ParameterError
from sordino.core.parameters import choice
from sordino.mechanisms.selection.exponential import Exponential
from sordino.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sordino.mechanisms.selection.question import Question
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.stated_law import StatedLaw


class Selection(Protocol):
    """One question made ready: its law apart from its draw."""

    @property
    def guarantee(self) -> Guarantee:
        """What a draw costs."""

    def stated_law(self) -> StatedLaw:
        """ln P(r) of the draw, for every candidate, with its error."""

    def log_law(self) -> NDArray[np.float64]:
        """ln P(r) of the draw, for every candidate."""

    def draw(self) -> int:
        """One candidate."""


class Sampler(Protocol):
    """A law over scores of known sensitivity."""

    name: str
    theorem: str
    bounded_range: bool

    def stated_law(self, scores: GridScores, rate: Fraction) -> StatedLaw:
        """ln P(r) for every candidate, with its error."""

    def draw(self, scores: GridScores, rate: Fraction) -> int:
        """One candidate."""


SAMPLERS: dict[str, Sampler] = {"exponential": Exponential(), "permute_and_flip": PermuteAndFlip()}


@dataclass(frozen=True, slots=True)
class ScoreSelection:
    """Scores on the grid with the sampler that follows them."""

    scores: GridScores
    sampler: Sampler
    rate: Fraction
    guarantee: Guarantee

    def stated_law(self) -> StatedLaw:
        """ln P(r) of the draw, with its error."""
        return self.sampler.stated_law(self.scores, self.rate)

    def log_law(self) -> NDArray[np.float64]:
        """ln P(r) of the draw."""
        return self.stated_law().log_probabilities

    def draw(self) -> int:
        """One candidate."""
        return self.sampler.draw(self.scores, self.rate)


@dataclass(frozen=True, slots=True)
class ScoreMechanism:
    """A mechanism that turns scores into scores of known sensitivity and hands them to a sampler.

    ``own_sampler`` means the sampler is what the mechanism is; otherwise the caller may choose one.
    ``dampened`` scores do not move the same way, so the monotone rate does not apply to them.
    """

    name: str
    theorem: str
    transform: Callable[[Question], GridScores]
    sampler: str
    own_sampler: bool = False
    dampened: bool = False

    def prepare(self, question: Question) -> ScoreSelection:
        """Check what is particular to this mechanism and compute its scores."""
        if question.noise is not None:
            raise ParameterError(
                f"noise= belongs to report_noisy_max and smooth_noisy_max, not to {self.name}"
            )
        if self.own_sampler and question.sampler not in (None, self.sampler):
            raise ParameterError(
                f"{self.name} has a sampler of its own: leave sampler= out, or choose a dampening"
            )
        if self.dampened and question.monotone:
            raise ParameterError(f"monotone does not apply to {self.name}: its scores are not monotone")
        if question.changes is not None and self.name != "inverse_sensitivity":
            raise ParameterError("changes= belongs to mechanism='inverse_sensitivity'")
        sampler = SAMPLERS[question.sampler or self.sampler]
        scores = self.transform(question)
        theorem = self.theorem if self.own_sampler else f"{self.theorem}, drawn by {sampler.theorem}"
        guarantee = Guarantee(
            Loss(epsilon=float(question.epsilon), bounded_range=sampler.bounded_range),
            question.distance,
            theorem,
        )
        return ScoreSelection(
            scores, sampler, scores.rate(question.epsilon, monotone=question.monotone), guarantee
        )


class Mechanism(Protocol):
    """What the registry holds: a name and a way to make a question ready."""

    @property
    def name(self) -> str:
        """The name that callers use."""

    def prepare(self, question: Question) -> Selection:
        """Check and compute everything but the draw."""


def chosen(name: str, mechanisms: dict[str, Mechanism]) -> Mechanism:
    """The mechanism of that name; a miss names the nearest."""
    return mechanisms[choice("mechanism", name, tuple(mechanisms))]
