"""The seam between a question and what answers it: one entry per mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.core import Guarantee, Loss
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.mechanisms.selection.traits import MechanismTraits


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


class Mechanism(Protocol):
    """What the registry holds: what a mechanism is, and a way to make a question ready."""

    @property
    def traits(self) -> MechanismTraits:
        """What it is."""

    def prepare(self, question: SelectionQuestion) -> Selection:
        """Compute everything but the draw; that the question fits the traits is checked before."""


@dataclass(frozen=True, slots=True)
class ScoreMechanism:
    """A mechanism that turns scores into scores of known sensitivity and hands them to a sampler.

    ``samplers`` by their names, the default first; where there is one, it is what the mechanism is.
    """

    traits: MechanismTraits
    transform: Callable[[SelectionQuestion], GridScores]
    samplers: Mapping[str, Sampler]

    def prepare(self, question: SelectionQuestion) -> ScoreSelection:
        """Compute its scores."""
        sampler = self.samplers[question.sampler or next(iter(self.samplers))]
        title = self.traits.title
        theorem = title if len(self.samplers) == 1 else f"{title}, drawn by {sampler.theorem}"
        return score_selection(question, self.transform(question), sampler, theorem)


def score_selection(
    question: SelectionQuestion, scores: GridScores, sampler: Sampler, theorem: str
) -> ScoreSelection:
    """Scores with their sampler at the rate that the question's ε pays for."""
    loss = Loss(epsilon=float(question.epsilon), bounded_range=sampler.bounded_range)
    rate = scores.rate(question.epsilon, monotone=question.monotone)
    return ScoreSelection(scores, sampler, rate, Guarantee(loss, question.distance, theorem))
