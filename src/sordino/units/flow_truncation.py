"""FlowTruncation: totals of results with several owners, none of whom has more than τ, with τ chosen privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import whole
from sordino.display.progress import show_progress
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.units.concave_search import STEPS, gain_spread, list_doubling_limits, list_gains
from sordino.units.dropped_units import LARGEST_RATIO, bound_dropped
from sordino.units.flows import load_solver
from sordino.units.limit_choice import LimitChoice
from sordino.units.limit_noise import GaussianPerLimit, LaplacePerLimit, LimitNoise
from sordino.units.shared_results import LARGEST_SUM, SharedResults, Whole, gather_results
from sordino.units.truncated_total import bound_within, round_total, solver_slack
from sordino.units.truncation import Truncation, positive_budget, root_below

# Chosen by the exact expected error on public families of shared results: benchmarks/unit_flows.py.
_SHARE = Fraction(2, 5)
_SHARE_OF_GROUPS = Fraction(3, 10)
_RHO_SHARE = Fraction(1, 5)
_SLOPE = 2
# Answers are cut where they cost this many nats more than the largest limit: limits that far off are never drawn, and
# need not be told apart.
_MOST_NATS = 24
MOST_RESULTS = 5_000_000
MOST_OWNERS = 8


@dataclass(frozen=True, slots=True)
class FlowMeasures:
    """What the data say at every limit: f, and the answers that the limit is chosen by. Private."""

    totals: tuple[Fraction, ...]
    answers: tuple[int, ...]

    def __repr__(self) -> str:
        return "FlowMeasures(<secret>)"


@dataclass(frozen=True, slots=True)
class FlowTruncation:
    """f(τ) + noise of scale τ, where f shares out results so that no owner takes part in more than τ. A public plan.

    1. `measure` computes f for every limit of ``grid``, and what stands in the way of it.
    2. `choose` draws the index of a limit from the latter: how many units would have to go so that none is above it
       (`dropped_units.py`), or, for distinct values, what larger limits would bring (`concave_search.py`).
    3. `release` adds noise for that limit.

    **Guarantee**: ε- (or ρ-) DP for one unit added or removed with all results that it owns, alone or with others.
    One unit moves all answers of the choice within one interval of ``spread`` steps: units to drop within [0, 1], and
    by less than a step more where a solver is imprecise; gains see `gain_spread`. It moves f(τ) by at most τ and the
    `solver_slack`.
    Groups share out their own results each, so a unit moves every group's f(τ) by at most τ, their vector by ``groups``
    times that in ℓ₁ and √groups times in ℓ₂, and the sums of their answers by ``groups`` times as much as one. They
    have one limit, chosen by the mean of their answers. Where a unit has results in one group only, ``apart``, it moves
    one group's f(τ) and the sum of the answers as in one group, so both are taken as they are.
    ``signed``: results that weigh more than nothing are shared out by themselves, those that weigh less as well, and
    what is released is the difference. A unit moves both f(τ) the same way, so their difference by at most τ and twice
    the slack; it moves the sum of their answers by twice as much as one, and the mean is taken.
    **Requires**: weights in whole public steps, ≥ 0 unless ``signed``; every result names all its owners, so that a
    unit takes exactly those results with it that name it, and changes no other's weight.
    **Source**: f is that of R2T (Dong et al. 2022); one release instead of a race of many. Distinct values: Knop and
    Steinke 2023, with τ in place of one value per unit.
    **Numerics**: flows are whole numbers; programmes are bounded from both sides in integers (`truncated_total.py`).
    """

    grid: tuple[int, ...]
    columns: int
    distinct: bool
    groups: int
    truncation: Truncation
    apart: bool = False
    signed: bool = False

    @classmethod
    def of(
        cls,
        *,
        epsilon: Fraction,
        most: int,
        owners: int,
        distinct: bool = False,
        groups: int = 1,
        apart: bool = False,
        signed: bool = False,
    ) -> FlowTruncation:
        """For a pure ε. ``most``: a public bound on one unit's total; ``owners``: how many a result has.

        ``distinct``: the number of distinct values is asked for, not the weight of the results. ``groups``: how many
        public groups get a number each; ``apart``: no unit has results in two of them. ``signed``: weights may be < 0.
        """
        budget = positive_budget("epsilon", epsilon)
        share = budget * (_SHARE if groups == 1 else _SHARE_OF_GROUPS)
        noise = LaplacePerLimit(budget - share)
        return cls._planned(most, owners, distinct, groups, apart, signed, share, noise)

    @classmethod
    def of_rho(
        cls,
        *,
        rho: Fraction,
        most: int,
        owners: int,
        distinct: bool = False,
        groups: int = 1,
        apart: bool = False,
        signed: bool = False,
    ) -> FlowTruncation:
        """For a ρ of zCDP: the choice has a range of ε, so it costs ε²/8, and the noise is Gaussian."""
        budget = positive_budget("rho", rho)
        share = root_below(8 * budget * _RHO_SHARE)
        noise = GaussianPerLimit(budget - share**2 / 8)
        return cls._planned(most, owners, distinct, groups, apart, signed, share, noise, bounded_range=True)

    @classmethod
    def _planned(
        cls,
        most: int,
        owners: int,
        distinct: bool,
        groups: int,
        apart: bool,
        signed: bool,
        share: Fraction,
        noise: LimitNoise,
        *,
        bounded_range: bool = False,
    ) -> FlowTruncation:
        columns, groups = whole("owners", owners, least=1) + distinct, whole("groups", groups, least=1)
        if owners > MOST_OWNERS:
            raise UnsupportedError(
                f"a joined row has {owners} owners here, and {MOST_OWNERS} are the most: join fewer private tables, or "
                "join them by the key of one owner"
            )
        if columns > 1:
            load_solver()
        grid = list_doubling_limits(most)
        if grid[-1] * MOST_RESULTS >= LARGEST_SUM:
            raise ParameterError(
                f"most = {most} is too large for results with several owners: at most "
                f"{LARGEST_SUM // MOST_RESULTS} steps per unit are supported; use a coarser step"
            )
        choice = LimitChoice.of(
            grid,
            epsilon=share,
            slope=_SLOPE * math.isqrt(groups),
            spread=gain_spread(exact=columns <= 2) if distinct else STEPS + 2,
            bounded_range=bounded_range,
        )
        each = [limit + (1 + signed) * solver_slack(limit, columns) for limit in grid]
        # bounded range goes with Gaussian noise, which is for ℓ₂
        joint = 1 if apart else groups
        norms = [math.isqrt(joint * s * s - 1) + 1 if bounded_range else joint * s for s in each]
        return cls(grid, columns, distinct, groups, Truncation(tuple(norms), choice, noise), apart, signed)

    @property
    def joint(self) -> int:
        """How many parts, of groups and of signs, one unit may have results in."""
        return (1 if self.apart else self.groups) * (1 + self.signed)

    @property
    def most_results(self) -> int:
        """More grouped results than these are not shared out: the statement need not fetch more than one beyond."""
        return MOST_RESULTS

    def gather(
        self, owners: Sequence[ArrayLike], weights: ArrayLike | None = None, values: ArrayLike | None = None
    ) -> SharedResults:
        """The results of a question, checked against the plan; see `gather_results`.

        `EngineError` for too many of them, after the fact: how many there are is private, so the caller books it as
        a failure of the database. Where public bounds on tables exceed `most_results`, refuse before.
        """
        if len(owners) + (values is not None) != self.columns:
            raise ParameterError(f"the plan is for {self.columns} columns of owners and values")
        return gather_results(owners, weights, values=values, most_results=self.most_results)

    def measure(self, results: SharedResults) -> FlowMeasures:
        """f for every limit of the grid, or a lower bound close to it, and the answers of the choice."""
        totals: list[Fraction] = []
        answers: list[int] = []
        results = results.cut(self.grid[-1])
        everything, work = results.most, 2 * len(self.grid)
        with show_progress("shared results") as step:
            for limit in self.grid:
                # What nobody's limit cuts does not grow any more.
                done = bool(totals) and totals[-1] >= everything
                totals.append(totals[-1] if done else bound_within(results, limit))
                step(len(totals), work)
            if self.distinct:
                units = [limit * self.joint for limit in self.grid]
                return FlowMeasures(tuple(totals), tuple(list_gains(units, totals)))
            gains = list_gains(self.grid, totals)
            for limit, gain in zip(self.grid, gains, strict=True):
                done = bool(answers) and answers[-1] == 0
                answers.append(0 if done else self._count_dropped(results, limit, gain))
                step(len(totals) + len(answers), work)
        return FlowMeasures(tuple(totals), tuple(answers))

    def _count_dropped(self, results: SharedResults, limit: int, gain: int) -> int:
        """Units to drop in steps of 1/STEPS, cut at a public number.

        The gain is a lower bound: with (f(t) − f(τ))/t more than a unit's worth of results is beyond τ for each unit of
        it. Formally D ≥ min_d Σd + (what exceeds τ in all)/t ≥ (f(t) − f(τ))/t, by duality; one is left to rounding,
        and twice the part of D that `bound_dropped` cuts away.
        """
        most = -(-self.truncation.choice.hopeless(_MOST_NATS) // STEPS)
        if gain >= (most + 1 + 2 * -(-most // LARGEST_RATIO)) * STEPS * self.joint:
            return most * STEPS
        return min(most * STEPS, math.floor(bound_dropped(results, limit) * STEPS / self.joint))

    def choose(self, measures: FlowMeasures) -> int:
        """The index of τ in the grid."""
        return self.truncation.choose(measures.answers)

    def release(self, index: int, measures: FlowMeasures) -> int:
        """The total at that limit in whole steps, with noise for it."""
        total = round_total(measures.totals[index])
        return self.truncation.release(self.truncation.grid[index], [total])[0]

    def draw(
        self, owners: Sequence[ArrayLike], weights: ArrayLike | None = None, values: ArrayLike | None = None
    ) -> tuple[int, int]:
        """τ and the released total: both may be published."""
        measures = self.measure(self.gather(owners, weights, values))
        index = self.choose(measures)
        return self.grid[index], self.release(index, measures)

    def draw_groups(
        self,
        owners: Sequence[ArrayLike],
        weights: ArrayLike | None,
        places: ArrayLike,
        values: ArrayLike | None = None,
    ) -> tuple[int, tuple[int, ...]]:
        """τ and a total for every group; ``places`` says in which each result is, from 0 to ``groups`` − 1."""
        parts = self.part_groups(owners, weights, places, values)
        index = self.choose(self.measure(self.join_groups(owners, weights, places, values)))
        limit = self.grid[index]
        return limit, self.truncation.release(self.truncation.grid[index], self.sum_groups(parts, limit))

    def sum_groups(self, parts: Sequence[SharedResults], limit: int) -> list[int]:
        """The total of every group at a limit, in whole steps, from what `part_groups` gives. Private."""
        totals = [round_total(bound_within(part, limit)) for part in parts]
        if self.signed:
            return [more - less for more, less in zip(totals[::2], totals[1::2], strict=True)]
        return totals

    def part_groups(
        self,
        owners: Sequence[ArrayLike],
        weights: ArrayLike | None,
        places: ArrayLike,
        values: ArrayLike | None = None,
    ) -> list[SharedResults]:
        """The results of each group; ``signed``: those that add something, then what the others take away."""
        columns, amounts, held, where = self._as_arrays(owners, weights, places, values)
        return [
            self.gather(
                [column[chosen] for column in columns],
                None if amounts is None else amounts[chosen],
                None if held is None else held[chosen],
            ).cut(self.grid[-1])
            for chosen in (where == part for part in range(self._parts))
        ]

    def join_groups(
        self,
        owners: Sequence[ArrayLike],
        weights: ArrayLike | None,
        places: ArrayLike,
        values: ArrayLike | None = None,
    ) -> SharedResults:
        """All parts side by side, a unit or a value of one part being none of another: their answers add up."""
        columns, amounts, held, where = self._as_arrays(owners, weights, places, values)
        _, codes = np.unique(np.stack(columns), return_inverse=True)
        apart = codes.reshape(len(columns), -1) * self._parts + where
        if held is not None:
            held = np.unique(held, return_inverse=True)[1] * self._parts + where
        return self.gather(list(apart), amounts, held)

    def radius(self, tau: int, confidence: float = 0.95) -> int:
        """How far noise moves the total at most, with that confidence; truncation may take more away."""
        if tau not in self.grid:
            raise ParameterError(f"tau must be one of the grid (1 … {self.grid[-1]}), got {tau!r}")
        return self.truncation.radius(self.truncation.grid[self.grid.index(tau)], confidence)

    def law(self, measures: FlowMeasures, window: tuple[int, int]) -> tuple[list[tuple[int, Any]], StatedLaw]:
        """The joint law of the index and the released total, for proofs; see `Truncation.law`."""
        return self.truncation.law(measures.answers, _round(measures), window)

    def find_likely(self, measures: FlowMeasures) -> int:
        """The index that is drawn most often; confidential like its argument."""
        return int(np.argmax(self.truncation.choice.law(measures.answers).log_probabilities))

    def expected_error(self, measures: FlowMeasures, totals: Sequence[int] | None = None) -> float:
        """E|released − true|, the last total being the truth; confidential like its arguments.

        ``totals``: those of one group at every limit, where there are several or weights have signs.
        """
        return self.truncation.expected_error(
            measures.answers, _round(measures) if totals is None else totals
        )

    @property
    def _parts(self) -> int:
        return self.groups * (1 + self.signed)

    def _as_arrays(
        self,
        owners: Sequence[ArrayLike],
        weights: ArrayLike | None,
        places: ArrayLike,
        values: ArrayLike | None,
    ) -> tuple[list[Whole], Whole | None, Whole | None, Whole]:
        """Owners, weights without signs, values, and the part that each result is in."""
        columns = [np.asarray(column, dtype=np.int64) for column in owners]
        amounts, held = [None if a is None else np.asarray(a, dtype=np.int64) for a in (weights, values)]
        where = np.asarray(places, dtype=np.int64)
        if self.signed and amounts is not None:
            where, amounts = 2 * where + (amounts < 0), np.abs(amounts)
        return columns, amounts, held, where


def _round(measures: FlowMeasures) -> list[int]:
    return [round_total(total) for total in measures.totals]
