"""The noise of a number that owners add to: as wide as what one owner may add after clipping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from sordino.core.release_view import NOT_IN_ERROR
from sordino.sql.answering.cell_noise import CONFIDENCE, DrawnSteps
from sordino.units import LimitNoise, Truncation


class UnitNoise(Protocol):
    """Everything public about the noise of one measure. A cell's scale is the limit that owners were clipped to."""

    @property
    def theorem(self) -> str:
        """What the guarantee rests on."""

    @property
    def grid(self) -> Sequence[int]:
        """The limits, in steps, that owners may be clipped to."""

    @property
    def noise(self) -> LimitNoise:
        """What is added for a limit."""

    def scale_at(self, limit: int) -> float:
        """How wide the noise is, in steps."""

    def choose(self, above: Sequence[int]) -> int:
        """The place in the grid of the limit, drawn from the numbers of owners above each."""

    def draw(self, limit: int, exact: Sequence[int], parts: int) -> list[DrawnSteps]:
        """The numbers of all groups, whose exact values are so many parts of a step, so many of which make a step."""

    def radius(self, cell: DrawnSteps) -> float | None:
        """The 95 % radius of the noise, in steps. What clipping takes away is not in it."""

    def radius_at(self, limit: int, confidence: float) -> float:
        """The same for any limit and confidence."""

    def find_likely(self, above: Sequence[int]) -> int:
        """The place of the limit that is chosen most often: confidential."""

    def expected_error(self, above: Sequence[int], totals: Sequence[int]) -> float:
        """E|released - exact| of one number in steps: confidential."""

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """What a reader should know of clipping: ``owner`` is one of those who are clipped, ``text`` the aggregate."""


@dataclass(frozen=True, slots=True)
class KnownLimit:
    """Where it is public how much an owner can add at most, such as by a key: nothing is clipped.

    **Guarantee**: that of ``noise``: one owner more moves one number of all groups by at most ``limit`` steps.
    """

    limit: int
    noise: LimitNoise
    confidence: float = CONFIDENCE

    @property
    def theorem(self) -> str:
        """The key bounds what one owner adds."""
        return f"{self.noise.theorem}; what one owner adds is known before"

    @property
    def grid(self) -> tuple[int, ...]:
        """The one limit."""
        return (self.limit,)

    def scale_at(self, limit: int) -> float:
        """See `UnitNoise`."""
        return self.noise.scale(limit)

    def choose(self, above: Sequence[int]) -> int:
        """Nothing to choose."""
        return 0

    def draw(self, limit: int, exact: Sequence[int], parts: int) -> list[DrawnSteps]:
        """At the whole budget."""
        return _draw(self.noise, limit, exact, parts)

    def radius(self, cell: DrawnSteps) -> float | None:
        """Public before anything is drawn."""
        return self.radius_at(self.limit, self.confidence)

    def radius_at(self, limit: int, confidence: float) -> float:
        """See `UnitNoise`."""
        return float(self.noise.radius(limit, confidence))

    def find_likely(self, above: Sequence[int]) -> int:
        """The one."""
        return 0

    def expected_error(self, above: Sequence[int], totals: Sequence[int]) -> float:
        """That of the noise."""
        return self.noise.mean_error(self.limit, 0)

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """Nothing is clipped."""
        return None


@dataclass(frozen=True, slots=True)
class SearchedLimit:
    """Where the limit follows the owners: a part of the budget chooses it, the rest is for noise of its width.

    **Guarantee**: that of `Truncation`: the choice and the noise compose. ``step`` turns steps into the aggregate's own
    numbers for people.
    """

    truncation: Truncation
    step: Fraction = Fraction(1)
    confidence: float = CONFIDENCE

    @property
    def theorem(self) -> str:
        """Choice and noise."""
        return f"truncation at a privately chosen limit, then the {self.truncation.noise.theorem}"

    @property
    def grid(self) -> tuple[int, ...]:
        """That of the choice."""
        return self.truncation.grid

    @property
    def noise(self) -> LimitNoise:
        """At what the choice left of the budget."""
        return self.truncation.noise

    def scale_at(self, limit: int) -> float:
        """See `UnitNoise`."""
        return self.noise.scale(limit)

    def choose(self, above: Sequence[int]) -> int:
        """One draw."""
        return self.truncation.choose(above)

    def draw(self, limit: int, exact: Sequence[int], parts: int) -> list[DrawnSteps]:
        """At what the choice left of the budget."""
        return _draw(self.truncation.noise, limit, exact, parts)

    def radius(self, cell: DrawnSteps) -> float | None:
        """Public because the limit is released."""
        return None if cell.scale is None else self.radius_at(cell.scale, self.confidence)

    def radius_at(self, limit: int, confidence: float) -> float:
        """See `UnitNoise`."""
        return float(self.truncation.radius(limit, confidence))

    def find_likely(self, above: Sequence[int]) -> int:
        """See `UnitNoise`."""
        return int(np.argmax(self.truncation.choice.law(above).log_probabilities))

    def expected_error(self, above: Sequence[int], totals: Sequence[int]) -> float:
        """See `UnitNoise`."""
        return self.truncation.expected_error(above, totals)

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """The limit, and how many it can have cut off."""
        if cell.scale is None:
            return None
        limit = cell.scale
        most = float(limit * self.step)
        clipped = self.truncation.clipped(limit, CONFIDENCE)
        return (
            f"{text}: no {owner} counts for more than {most:g}; what that cuts off, from at most {clipped} of them "
            f"(95 %), {NOT_IN_ERROR}"
        )


def _draw(noise: LimitNoise, limit: int, exact: Sequence[int], parts: int) -> list[DrawnSteps]:
    """On the lattice of parts; the nearest whole number of steps is post-processing."""
    drawn = noise.draw(limit * parts, exact)
    return [DrawnSteps((2 * number + parts) // (2 * parts), limit) for number in drawn]


__all__ = ["KnownLimit", "SearchedLimit", "UnitNoise"]
