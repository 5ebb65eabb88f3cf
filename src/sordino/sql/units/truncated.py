"""Truncated sums: measures of joined rows with one owner each, clipped per owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sordino.engines import Snapshot
from sordino.sql.question import Statement
from sordino.sql.units.contributions import PARTS, count_sizes, sum_clipped
from sordino.sql.units.owners import Owners
from sordino.sql.units.part import Cells, Facts, Group
from sordino.sql.units.unit_noise import UnitNoise


@dataclass(frozen=True, slots=True)
class TruncatedPart:
    """Every owner is clipped to a limit per measure, and noise of its width is added.

    **Guarantee**: that of the noises, which compose. Groups do not share: one owner's numbers of all groups together
    are clipped to the limit, so every group gets noise of its width. ``euclidean``: in ℓ₂, for Gaussian noise.
    """

    places: tuple[int, ...]
    noises: tuple[UnitNoise, ...]
    euclidean: bool = False

    @property
    def theorem(self) -> str:
        """Those of the noises."""
        return "; ".join(sorted({noise.theorem for noise in self.noises}))

    def draw(self, snapshot: Snapshot, statement: Statement, owners: Owners) -> Cells:
        """The limits, then every cell: one statement without groups, two with them."""
        asked = replace(statement, measures=tuple(statement.measures[place] for place in self.places))
        grids = [noise.grid for noise in self.noises]
        sizes = count_sizes(snapshot, asked, owners, grids, euclidean=self.euclidean)
        chosen = [noise.choose(found.above) for noise, found in zip(self.noises, sizes, strict=True)]
        limits = [grid[index] for grid, index in zip(grids, chosen, strict=True)]
        groups = statement.groups()
        if statement.keys:
            parts = PARTS
            sums = sum_clipped(snapshot, asked, owners, limits, euclidean=self.euclidean)
            exact = [[sums[group][i] for group in groups] for i in range(len(limits))]
        else:
            exact, parts = [[found.totals[index]] for found, index in zip(sizes, chosen, strict=True)], 1
        return self._add_noise(groups, limits, exact, parts)

    def find_facts(
        self, snapshot: Snapshot, statement: Statement, owners: Owners, confidences: Sequence[float]
    ) -> dict[tuple[Group, int], Facts]:
        """The limit that is chosen most often, and the noise at it."""
        asked = replace(statement, measures=tuple(statement.measures[place] for place in self.places))
        grids = [noise.grid for noise in self.noises]
        sizes = count_sizes(snapshot, asked, owners, grids, euclidean=self.euclidean)
        facts: dict[tuple[Group, int], Facts] = {}
        for place, noise, found in zip(self.places, self.noises, sizes, strict=True):
            index = noise.find_likely(found.above)
            limit = noise.grid[index]
            known = Facts(
                limit,
                noise.scale_at(limit),
                tuple(noise.radius_at(limit, confidence) for confidence in confidences),
                found.above[index],
                None if statement.keys else noise.expected_error(found.above, found.totals),
            )
            facts |= {(group, place): known for group in statement.groups()}
        return facts

    def _add_noise(
        self, groups: Sequence[Group], limits: Sequence[int], exact: list[list[int]], parts: int
    ) -> Cells:
        cells: Cells = {}
        for place, noise, limit, numbers in zip(self.places, self.noises, limits, exact, strict=True):
            drawn = noise.draw(limit, numbers, parts)
            cells |= {(group, place): cell for group, cell in zip(groups, drawn, strict=True)}
        return cells
