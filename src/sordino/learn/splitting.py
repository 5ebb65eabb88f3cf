"""Which attribute to split by: a criterion and a mechanism make one private selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from sordino.core import UnsupportedError, add_remove_row
from sordino.core.parameters import choice
from sordino.learn.criteria import CRITERIA, Criterion, MaxOperator, Table
from sordino.mechanisms.names import CriterionName, DirectionName
from sordino.mechanisms.selection import MECHANISMS
from sordino.sensitivity import Profile

SELECTIONS = tuple(MECHANISMS)
# From this max_rows·ε on, Gini measures better than the max operator (docs/benchmarks/reproduction-trees.md); with
# less, noise on finer differences than whole rows decides the splits.
_GINI_FROM = 2000
DIRECTIONS: tuple[str, ...] = get_args(DirectionName)


@dataclass(frozen=True, slots=True)
class Splitter:
    """Poses the question "which attribute splits this node best?" to `sordino.select`.

    Criteria are monotone under add/remove, so the mechanisms with global noise run at ε/Δ, twice the paper's rate.
    Those that follow a profile take the element sensitivity instead; those that have a law for one winner take, for the
    max operator, the utility that is 1 for the best attribute, with the rows that it survives as the best.
    """

    criterion: Criterion
    mechanism: str
    max_rows: int
    direction: str = "plus"

    def question(self, tables: Sequence[Table], epsilon: Fraction) -> dict[str, Any]:
        """The arguments of `sordino.select`, one candidate per table."""
        asked: dict[str, Any] = {
            "mechanism": self.mechanism,
            "epsilon": epsilon,
            "distance": add_remove_row(),
        }
        traits = MECHANISMS[self.mechanism].traits
        if traits.winner is not None and isinstance(self.criterion, MaxOperator):
            winner, margin = self.criterion.margin(tables)
            utilities = (np.arange(len(tables)) == winner).astype(np.float64)
            lasting = Profile(1, 1.0, margin, lambda start, stop: np.zeros((1, stop - start)))
            return asked | {"scores": utilities, "profile": lasting, **traits.winner}
        asked["scores"] = self.criterion.scores(tables, self.max_rows)
        if not traits.follows_profile:
            return asked | {"profile": self.criterion.sensitivity(self.max_rows), "monotone": True}
        asked["profile"] = self.criterion.profile(tables, self.max_rows)
        if traits.monotone:
            asked["monotone"] = True
        return asked | ({"direction": self.direction} if "direction" in traits.options else {})


def make_splitter(criterion: Any, mechanism: Any, max_rows: int, direction: Any, epsilon: float) -> Splitter:
    """A splitter from the names of its parts; ``auto`` chooses the criterion by public numbers."""
    choice("selection", mechanism, SELECTIONS)
    measured = CRITERIA[choose_criterion(criterion, max_rows, epsilon)]
    if MECHANISMS[mechanism].traits.counts_changes and isinstance(measured, MaxOperator):
        raise UnsupportedError(
            f"selection={mechanism!r} with the max operator is permute_and_flip at half the rate: choose that"
        )
    made = Splitter(measured, mechanism, max_rows, choice("direction", direction, DIRECTIONS))
    made.question([np.zeros((1, 2), dtype=np.int64)], Fraction(1))  # refuses more rows than it can serve
    return made


def most_rows(criterion: str, mechanism: str) -> int:
    """The largest ``max_rows`` that a criterion and a mechanism serve together."""
    return CRITERIA[criterion].most_rows(profiled=MECHANISMS[mechanism].traits.follows_profile)


def choose_criterion(criterion: Any, max_rows: int, epsilon: float) -> CriterionName:
    """The name of a criterion; ``auto`` is one of two by public numbers."""
    chosen: CriterionName = choice("criterion", criterion, ("auto", *CRITERIA))  # type: ignore[assignment]
    if chosen != "auto":
        return chosen
    return "gini" if max_rows * Fraction(epsilon) >= _GINI_FROM else "max_operator"
