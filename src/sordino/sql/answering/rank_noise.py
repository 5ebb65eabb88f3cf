"""The choice of one value by its rank, as the noise of a cell: where rows of one table are protected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.mechanisms.selection import StatedLaw
from sordino.mechanisms.selection.rank_choice import RankChoice, extreme_rank
from sordino.sql.aggregates import RankedValue
from sordino.sql.answering.cell_noise import CONFIDENCE, DrawnSteps, Follows
from sordino.sql.answering.rank_counts import RankCounts

THEOREM = "permute-and-flip over the ranks of a public lattice"


@dataclass(frozen=True, slots=True)
class RankNoise:
    """A point of the measure's lattice near its rank, drawn from how many rows lie at every point.

    **Guarantee**: that of `RankChoice`, for one row of the only private table, which counts one: ε per unit of
    distance, since a row of weight G is worth G units and is chosen for with Gε. The law is that of `sordino.quantile`.
    """

    measure: RankedValue
    choice: RankChoice
    betas: tuple[float, ...] = ()
    uses_delta: bool = False

    @property
    def name(self) -> str:
        """As `sordino.quantile` names it."""
        return "permute_and_flip"

    @property
    def theorem(self) -> str:
        """Ranks."""
        return THEOREM

    def law(self, exact: int, follows: Follows) -> StatedLaw:
        """Of every point of the lattice, the first to the last."""
        return self.choice.law(self._counts(follows))

    def draw(self, exact: int, follows: Follows) -> DrawnSteps:
        """One point."""
        return DrawnSteps(self.measure.lattice.first + self.choice.draw(self._counts(follows)))

    def radius(self, drawn: DrawnSteps) -> float | None:
        """How far the value is follows the rows; how far its rank is, `note` says."""
        return None

    def note(self) -> str:
        """How far the rank may be off: public."""
        rows = math.ceil(self.choice.radius(self.measure.lattice.points, CONFIDENCE))
        return say_rank(self.measure, self.choice.rank, rows, "rows")

    def facts(self, exact: int, follows: Follows, confidences: tuple[float, ...]) -> dict[str, Any]:
        """Radii of the value, from the law; the scale is the mean error, and one row may move the value anywhere."""
        law = np.exp(self.law(exact, follows).log_probabilities)
        found = find_radii(law, exact - self.measure.lattice.first, confidences)
        return {
            "beta": None,
            "smooth_bound": float(self.measure.lattice.points - 1),
            "noise_scale": found.mean,
            "radii": list(found.radii),
        }

    def _counts(self, follows: Follows) -> NDArray[np.int64]:
        if not isinstance(follows, RankCounts):
            raise TypeError("a rank follows the rows at every point")
        return follows.spread(self.measure.lattice.points)


def choose_rank_noise(measure: RankedValue, epsilon: Fraction, weights: Mapping[str, Fraction]) -> RankNoise:
    """For one table, of which a row is worth its weight in units of distance."""
    return RankNoise(measure, make_choice(measure, epsilon * min(weights.values())))


def make_choice(
    measure: RankedValue, epsilon: Fraction, *, limit: int = 1, one: int = 1, groups: int = 1
) -> RankChoice:
    """The law of a rank where a row weighs ``one``, and a unit at most ``limit`` of them in all groups together."""
    most = limit * one
    if not measure.is_extreme:
        return RankChoice.quantile(float(measure.q), epsilon=epsilon, most=most, choices=groups)
    rank = extreme_rank(measure.lattice.points, epsilon) * most
    extreme = RankChoice.largest if measure.q else RankChoice.smallest
    return extreme(rank, epsilon=epsilon, most=most, choices=groups, one=one)


def say_rank(measure: RankedValue, rank: int, radius: int, counted: str) -> str:
    """What a reader may know of the rank that is aimed at, and how near it is."""
    if not measure.is_extreme:
        return f"{measure.text}: its rank is within {radius} {counted} of the one that was asked for (95 %)"
    end = "greatest" if measure.q else "least"
    return (
        f"{measure.text}: not the {end} value, which noise cannot hide, but about the one at place {rank} from there, "
        f"within {radius} {counted} (95 %)"
    )


@dataclass(frozen=True, slots=True)
class Errors:
    """How far draws lie from the value that is meant, in steps: on average, and for each confidence at most."""

    mean: float
    radii: tuple[float, ...]


def find_radii(law: NDArray[np.float64], place: int, confidences: tuple[float, ...]) -> Errors:
    """Of the law of all points. Confidential."""
    distance = np.abs(np.arange(len(law)) - place)
    reached = np.cumsum(np.bincount(distance, weights=law))
    radii = tuple(
        float(min(int(np.searchsorted(reached, confidence - 1e-12)), len(reached) - 1))
        for confidence in confidences
    )
    return Errors(float(law @ distance), radii)
