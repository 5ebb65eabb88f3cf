"""Values chosen by their rank where users are protected: owners weigh no more than a limit in all ranks together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sordino.engines import Snapshot
from sordino.mechanisms.selection.rank_choice import RankChoice
from sordino.sql.aggregates import DistinctCount, Measure, RankedValue, RowCount
from sordino.sql.answering.cell_noise import CONFIDENCE, DrawnSteps
from sordino.sql.answering.rank_noise import THEOREM, find_radii, make_choice, say_rank
from sordino.sql.question import Statement
from sordino.sql.units.contributions import Sizes, count_sizes
from sordino.sql.units.owners import Owners
from sordino.sql.units.part import Cells, Facts, Group
from sordino.sql.units.rank_weights import sum_weights
from sordino.sql.units.unit_noise import UnitNoise
from sordino.units import WEIGHT_STEPS


@dataclass(frozen=True, slots=True)
class UnitRank:
    """One value by its rank, at ``epsilon`` in all groups together.

    **Guarantee**: ε for one owner with all rows: in all groups together it weighs at most the limit, and a choice costs
    in proportion to what an owner weighs in its group (`RankChoice`).
    """

    measure: RankedValue
    epsilon: Fraction
    limit: UnitNoise
    groups: int = 1

    def choice(self, limit: int, groups: int = 1) -> RankChoice:
        """The law in each of so many groups where nobody weighs more than ``limit`` in all of them."""
        groups = max(groups, self.groups)
        return make_choice(self.measure, self.epsilon, limit=limit, one=WEIGHT_STEPS, groups=groups)

    def radius(self, cell: DrawnSteps) -> float | None:
        """How far the value is follows the rows; how far its rank is, `note` says."""
        return None

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """How far the rank may be off, and the limit."""
        limit = cell.scale or 1
        choice = self.choice(limit)
        within = math.ceil(choice.radius(self.measure.lattice.points, CONFIDENCE) / WEIGHT_STEPS)
        counted = f"{owner}s" if self.measure.is_extreme else "rows"
        said = say_rank(self.measure, choice.rank // WEIGHT_STEPS, within, counted)
        if len(self.limit.grid) == 1:
            return said
        held = "values, one per group," if self.measure.is_extreme else "rows"
        return f"{said}; the {held} of no {owner} weigh more than {limit} together"


@dataclass(frozen=True, slots=True)
class RankedPart:
    """Quantiles of one value, or one extreme of it: a limit for all of them, then one choice per quantile and group.

    **Guarantee**: the choice of the limit and those of the values compose.
    """

    places: tuple[int, ...]
    ranks: tuple[UnitRank, ...]
    limit: UnitNoise

    @property
    def theorem(self) -> str:
        """Limit and ranks."""
        if len(self.limit.grid) == 1:
            return THEOREM
        return f"owners weighed at a privately chosen limit, then {THEOREM}"

    def draw(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> Cells:
        """The limit, then every cell: two statements, or one where the limit is known."""
        limit = self.limit.grid[self.limit.choose(self.read_sizes(snapshot, statement, owners).above)]
        weights = sum_weights(snapshot, statement, owners, self.measure, limit)
        lattice, cells = self.measure.lattice, {}
        for group, held in weights.items():
            spread = held.spread(lattice.points)
            for place, rank in zip(self.places, self.ranks, strict=True):
                drawn = rank.choice(limit, len(weights)).draw(spread)
                cells[group, place] = DrawnSteps(lattice.first + drawn, limit)
        return cells

    def find_facts(
        self, snapshot: Snapshot, statement: Statement, owners: Owners, confidences: Sequence[float]
    ) -> dict[tuple[Group, int], Facts]:
        """The limit that is chosen most often, and how far draws lie from what is aimed at there."""
        above = self.read_sizes(snapshot, statement, owners).above
        index = self.limit.find_likely(above)
        limit = self.limit.grid[index]
        facts: dict[tuple[Group, int], Facts] = {}
        weights = sum_weights(snapshot, statement, owners, self.measure, limit)
        for group, held in weights.items():
            spread = held.spread(self.measure.lattice.points)
            for place, rank in zip(self.places, self.ranks, strict=True):
                law = np.exp(rank.choice(limit, len(weights)).law(spread).log_probabilities)
                errors = find_radii(law, held.find_place(rank.measure.q), tuple(confidences))
                facts[group, place] = Facts(
                    limit, errors.mean, errors.radii, above[index] if above else None, errors.mean
                )
        return facts

    @property
    def measure(self) -> RankedValue:
        """One of them: all have the same weights."""
        return self.ranks[0].measure

    def read_sizes(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> Sizes:
        """How many owners have more rows, or values in more groups, than each limit. Private."""
        if len(self.limit.grid) == 1:
            return Sizes((), ())
        (owner,) = owners.owners
        counted: Measure = DistinctCount(owner.key) if self.measure.is_extreme else RowCount()
        asked = replace(
            statement, join=statement.join.restricted(*self.measure.conditions()), measures=(counted,)
        )
        (sizes,) = count_sizes(snapshot, asked, owners, [self.limit.grid])
        return sizes
