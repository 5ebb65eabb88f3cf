"""How a question is answered where whole users are protected, and what it costs: settled before any row is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from sqlglot import exp

from sordino.core import Distance, Guarantee, ParameterError, UnsupportedError
from sordino.core.distance import WITH_ALL_ROWS
from sordino.core.loss import round_as_written
from sordino.engines import Snapshot, Table
from sordino.sql.aggregates import DistinctCount, Measure, RankedValue, RowCount
from sordino.sql.aggregates.sum import BoundedSum
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.answering.plan import AnswerOptions, check_points, list_confidences, refuse_rho
from sordino.sql.policy import MOST_ROWS, Policy, match_name
from sordino.sql.question import Statement
from sordino.sql.reading.lookups import check_lookups
from sordino.sql.units.budget import UnitBudget
from sordino.sql.units.contributions import LARGEST_SIZE
from sordino.sql.units.distinct import DistinctPart
from sordino.sql.units.grouped_rows import find_all_owners
from sordino.sql.units.owners import Owners, is_same_column
from sordino.sql.units.part import Cells, UnitPart
from sordino.sql.units.rank_weights import LARGEST_LIMIT
from sordino.sql.units.ranked import RankedPart, UnitRank
from sordino.sql.units.row_owners import find_row_owners, lie_apart
from sordino.sql.units.shared import SharedPart
from sordino.sql.units.truncated import TruncatedPart
from sordino.sql.units.unit_noise import KnownLimit, SearchedLimit, UnitNoise
from sordino.sql.units.unknown_keys import count_holders, is_writable, with_groups
from sordino.units import KeyRelease, LaplacePerLimit, LimitNoise, Truncation

# Of ε, where groups are not public: what showing them takes.
KEYS_SHARE = Fraction(1, 3)
# How many numbers are taken to be released before it is known which groups are shown.
UNKNOWN_GROUPS = 100
# More groups than are shown where that is not public; if there are more, their number is used.
MANY_GROUPS = 10**6
# Of rows with several owners: limits times their number stay within 64 bits.
MOST_SHARED = 2**38
# A median is off by as many ranks as if Laplace noise were added to so many numbers, so that small limits are better;
# and quantiles near an end, where few rows are beyond, suffer more: benchmarks/sql_quantiles.py.
MEDIAN_NUMBERS = 100
EXTREME_SHARE = Fraction(1, 100)
Group = tuple[Any, ...]


class ShownNoise(Protocol):
    """What a reader may know of the noise of one measure."""

    def radius(self, cell: DrawnSteps, /) -> float | None:
        """The 95 % radius in steps."""

    def note(self, cell: DrawnSteps, owner: str, text: str) -> str | None:
        """What else a reader should know."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was released: the statement with the groups that are shown, and all their numbers."""

    statement: Statement
    cells: Cells


@dataclass(frozen=True, slots=True)
class UnitPlan:
    """The measures of a question in parts, each with a share of the budget.

    **Guarantee**: each measure is a release of its own at an even share of ε. Where groups are not public, ``keys``
    shows some of them first, for a part of ε and all of δ; then they are as good as public, and how many there are may
    decide how limits are chosen (adaptive composition: each part's share of ε stays what it was).
    """

    statement: Statement
    options: AnswerOptions
    budget: UnitBudget
    owners: Owners
    parts: tuple[UnitPart, ...]
    noises: tuple[ShownNoise, ...]
    guarantee: Guarantee
    planner: _Planner
    keys: KeyRelease | None = None

    @property
    def mechanism(self) -> str:
        """What was drawn."""
        ranked = [isinstance(part, RankedPart) for part in self.parts]
        if all(ranked):
            return "permute_and_flip"
        return f"truncation and {self.budget.noise_name}" + (" and permute_and_flip" if any(ranked) else "")

    def draw(self, snapshot: Snapshot) -> Drawn:
        """The groups if they are not public, then every part."""
        check_lookups(self.statement, snapshot)
        shown = self if self.keys is None else self.with_groups(self._draw_groups(snapshot, self.keys))
        cells: Cells = {}
        if shown.statement.groups():
            for part in shown.parts:
                cells |= part.draw(snapshot, shown.statement, self.owners)
        return Drawn(shown.statement, cells)

    def with_groups(self, groups: Sequence[Group]) -> UnitPlan:
        """The plan once groups have been shown: limits are chosen for as many numbers as there are."""
        statement = with_groups(self.statement, groups)
        if not groups:
            return replace(self, statement=statement)
        parts, noises = replace(self.planner, groups=len(groups), unknown=False).plan()
        return replace(self, statement=statement, parts=parts, noises=noises)

    def list_notes(self, cells: Mapping[tuple[Group, int], DrawnSteps]) -> tuple[str, ...]:
        """What a reader should know of clipping, measure by measure."""
        owner = self.guarantee.distance.unit.removesuffix(WITH_ALL_ROWS)
        notes = []
        for measure, noise in enumerate(self.noises):
            found = [cell for (_, place), cell in cells.items() if place == measure][:1]
            notes += [noise.note(cell, owner, self.statement.measures[measure].text) for cell in found]
        return tuple(note for note in notes if note is not None)

    def _draw_groups(self, snapshot: Snapshot, keys: KeyRelease) -> list[Group]:
        held = count_holders(snapshot, self.statement, self.owners, keys.keys_per_unit)
        shown = keys.draw([holders for _, holders in held])
        return [
            group for (group, _), is_shown in zip(held, shown, strict=True) if is_shown and is_writable(group)
        ]


def make_unit_plan(
    statement: Statement,
    options: AnswerOptions,
    distance: Distance,
    policy: Policy,
    catalogue: Mapping[str, Table],
) -> UnitPlan:
    """The plan of a statement where users are protected; errors depend on the question and the policy alone."""
    refuse_row_options(options)
    owners = find_all_owners(statement.join, policy, catalogue)
    statement = replace(statement, join=owners.join)
    unknown = [key.name for key in statement.keys if key.unknown]
    groups = UNKNOWN_GROUPS if unknown else _count_groups(statement)
    check_points(statement.measures, groups)
    keys = _release_keys(unknown, options, policy) if unknown else None
    budget = UnitBudget(*options.budget)
    for_numbers = replace(budget, amount=budget.amount * (1 - KEYS_SHARE)) if unknown else budget
    planner = _Planner(
        statement,
        for_numbers.shared_by(len(statement.measures)),
        owners,
        groups,
        unknown=bool(unknown),
        once=len(owners.owners) == 1 and _has_one_row_each(statement, policy, catalogue),
        most_per_unit=policy.most_per_unit,
    )
    parts, noises = planner.plan()
    theorems = planner.describe(parts)
    spent = Fraction(0)
    if keys is not None:
        spent = options.delta
        theorems.append(
            "groups shown by the optimal partition selection, a third of epsilon and all of delta"
        )
    loss = replace(budget.loss, delta=round_as_written(spent))
    guarantee = Guarantee(loss, distance, "; ".join(theorems))
    return UnitPlan(statement, options, budget, owners, parts, noises, guarantee, planner, keys)


def make_row_plan(statement: Statement, options: AnswerOptions, distance: Distance) -> UnitPlan:
    """The plan of a statement where single rows are protected, and owners are rows (`row_owners.py`).

    **Guarantee**: a row of weight G moves what is released as one owner does, or less, and costs Gε at least, so owners
    are paid for at the smallest weight.
    """
    if options.noise is not None or options.analyses is not None or options.error_share:
        raise UnsupportedError(
            "noise, analyses and error_share are for smooth bounds: leave them out with mechanism='truncation', whose "
            "noise is as wide as a public limit"
        )
    if statement.join.outer or statement.counted is not None:
        raise UnsupportedError(
            "LEFT JOIN and rows without repeats are not truncated where rows are protected: a row that leaves may "
            "bring others back; leave mechanism out"
        )
    owners = find_row_owners(statement)
    for measure in statement.measures:
        if not measure.additive or measure.low < 0:
            raise UnsupportedError(
                f"{measure.text} is not truncated where rows are protected: COUNT and SUM of what is not negative are, "
                "such as SUM(GREATEST(x, 0))"
            )
    budget = UnitBudget(*options.budget)
    least = min(Fraction(o.weight or 1) for o in statement.join.occurrences if o.private)
    planner = _Planner(
        statement,
        budget.shared_by(len(statement.measures)).per_weight(least),
        owners,
        _count_groups(statement),
        once=len(statement.join.occurrences) == 1,
        apart=statement.partitions or lie_apart(statement),
    )
    parts, noises = planner.plan()
    theorem = "; ".join([*planner.describe(parts), "each private row of a joined row is an owner of it"])
    return UnitPlan(
        statement, options, budget, owners, parts, noises, Guarantee(budget.loss, distance, theorem), planner
    )


def _count_groups(statement: Statement) -> int:
    groups = len(statement.groups())
    if not groups:
        raise ParameterError("GROUP BY has no groups: the domain of its key is empty")
    return groups


def _release_keys(unknown: list[str], options: AnswerOptions, policy: Policy) -> KeyRelease:
    if options.epsilon is None:
        raise UnsupportedError(
            f"the groups of {', '.join(map(repr, unknown))} are not public, and showing them costs an epsilon and a "
            "delta: ask with these in place of rho, or declare a domain of the column in the policy"
        )
    if not options.delta:
        raise ParameterError(
            f"the groups of {', '.join(map(repr, unknown))} are not public: ask with a delta, such as delta=1e-6, for "
            "those that many hold, or declare a domain of the column in the policy"
        )
    return KeyRelease.of(
        epsilon=options.epsilon * KEYS_SHARE,
        delta=options.delta,
        keys_per_unit=policy.keys_per_unit,
        min_units=policy.min_units,
    )


def refuse_row_options(options: AnswerOptions) -> None:
    """Noise, analyses and error bars are chosen where single rows are protected."""
    if options.mechanism == "smooth_bound":
        raise UnsupportedError(
            "mechanism='smooth_bound' is for data sets that protect rows; leave it out here"
        )
    for name, given in (("noise", options.noise), ("analyses", options.analyses)):
        if given is not None:
            raise UnsupportedError(f"{name} is for data sets that protect rows; leave it out here")
    if options.error_share:
        raise UnsupportedError(
            "the radius of the noise is public here and costs nothing: leave error_share out"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Promises:
    """What is public of the owners of a question.

    ``unknown``: the groups are not public. ``once``: every owner has one joined row. ``apart``: every owner is in one
    group. ``most_per_unit``: what the policy says of anyone's total.
    """

    unknown: bool = False
    once: bool = False
    apart: bool = False
    most_per_unit: Fraction | None = None


@dataclass(frozen=True, slots=True)
class _Planner(_Promises):
    """Finds a part for every measure; ``budget`` is what each measure may cost."""

    statement: Statement
    budget: UnitBudget
    owners: Owners
    groups: int

    def plan(self) -> tuple[tuple[UnitPart, ...], tuple[ShownNoise, ...]]:
        """The parts, and what is known of the noise of every measure; clipped sums are one part together."""
        noises: list[ShownNoise] = []
        parts: list[UnitPart] = []
        clipped: dict[int, UnitNoise] = {}
        ranked = self._rank()
        parts += ranked
        shown = {place: rank for part in ranked for place, rank in zip(part.places, part.ranks, strict=True)}
        measures = zip(self.statement.measures, list_confidences(self.statement), strict=True)
        for place, (measure, confidence) in enumerate(measures):
            if place in shown:
                noises.append(shown[place])
            elif isinstance(measure, DistinctCount) and not self._is_alone(measure):
                distinct = self._distinct(place, measure, confidence)
                parts.append(distinct)
                noises.append(distinct)
            elif len(self.owners.owners) == 1:
                clipped[place] = self._choose_noise(measure, confidence)
                noises.append(clipped[place])
            else:
                shared = self._share(place, measure, confidence)
                parts.append(shared)
                noises.append(shared)
        if clipped:
            euclidean = self.budget.concentrated
            parts.insert(0, TruncatedPart(tuple(clipped), tuple(clipped.values()), euclidean))
        return tuple(parts), tuple(noises)

    def describe(self, parts: Sequence[UnitPart]) -> list[str]:
        """What the guarantee of the parts rests on, in words."""
        theorems = sorted({part.theorem for part in parts})
        measures, shared = len(self.statement.measures), (SharedPart, DistinctPart)
        if measures > 1:
            theorems.append(f"{measures} aggregates share the budget evenly")
        if self.groups > 1 and self.apart:
            theorems.append(f"{self.groups} groups each take all of it (they partition the rows)")
        elif self.groups > 1 and any(isinstance(part, shared) for part in parts):
            theorems.append(
                f"{self.groups} groups have one limit, and noise for all of them (an owner may be in several)"
            )
        return theorems

    def _is_alone(self, measure: DistinctCount) -> bool:
        """Whether the values are the owners themselves, and rows have no others: each owner counts for itself."""
        return len(self.owners.owners) == 1 and not self._list_sharers(measure)

    def _list_sharers(self, measure: DistinctCount) -> tuple[int, ...]:
        """The places of the owners that are not what is counted.

        An owner that stands at another place too, of the same entity, has the limit for both together, so it stays.
        """
        join, entities = self.statement.join, [owner.entity for owner in self.owners.owners]
        return tuple(
            place
            for place, owner in enumerate(self.owners.owners)
            if entities.count(owner.entity) > 1
            or not is_same_column(measure.value, owner.key, join.occurrences, join.conditions)
        )

    def _choose_noise(self, measure: Measure, confidence: float) -> UnitNoise:
        counts_owners = isinstance(measure, DistinctCount)
        # an owner is in one group if it has one row, or if there is one group
        if (counts_owners and not self.statement.keys) or (
            self.once and (counts_owners or isinstance(measure, RowCount))
        ):
            return KnownLimit(1, self.budget.make_noise(), confidence)
        most = self._most(measure)
        if counts_owners and not self.unknown:
            most = min(most, self.groups)
        if self.once:
            most = max(1, min(most, measure.reach))
        natural = min(most, max(1, self._find_natural(measure)))
        truncation = self.budget.truncate(
            most=most,
            numbers=self.groups,
            natural=natural,
            nested=self.owners.nested and not self.apart,
        )
        return SearchedLimit(truncation, measure.step, confidence)

    def _find_natural(self, measure: Measure) -> int:
        """The size that an owner's contribution is expected to have: one row's, or that of a sub-select's number."""
        columns = () if measure.value is None else measure.value.find_all(exp.Column)
        grouped = {one.alias: one.grouped for one in self.statement.join.everyone if one.grouped is not None}
        sizes = [
            grouped[column.table].natural.get(column.name) for column in columns if column.table in grouped
        ]
        known = [size for size in sizes if size is not None]
        return min(measure.reach, math.ceil(max(known) / measure.step)) if known else measure.reach

    def _distinct(self, place: int, measure: DistinctCount, confidence: float) -> DistinctPart:
        self._refuse_unknown(f"{measure.text} counts values that several may hold")
        sharers = self._list_sharers(measure)
        flow = self.budget.share_out(
            most=min(self._most(measure), MOST_SHARED),
            owners=len(sharers),
            distinct=True,
            groups=self.groups,
        )
        return DistinctPart(place, measure, flow, sharers, confidence)

    def _share(self, place: int, measure: Measure, confidence: float) -> SharedPart:
        owners = len(self.owners.owners)
        self._refuse_unknown(f"joined rows have {owners} owners here")
        most = min(self._most(measure), MOST_SHARED)
        flow = self.budget.share_out(
            most=most, owners=owners, groups=self.groups, apart=self.apart, signed=measure.low < 0
        )
        return SharedPart(place, flow, measure.step, confidence)

    def _most(self, measure: Measure) -> int:
        """More steps than anyone's total: the policy's word, or many rows of the most that one can add.

        The policy speaks of counts and of sums that are asked for: of a sum that an aggregate is made of, by its count.
        """
        declared = self.most_per_unit
        rows = 1 if self.once else MOST_ROWS if declared is None else max(1, int(declared))
        if declared is None or (isinstance(measure, BoundedSum) and measure.inner):
            most = rows * measure.reach
        else:
            most = int(declared / measure.step)
        return max(1, min(most, LARGEST_SIZE))

    def _rank(self) -> list[RankedPart]:
        """A part for all quantiles of one value, which have one limit, and one for each extreme."""
        together: dict[Any, list[int]] = {}
        for place, measure in enumerate(self.statement.measures):
            if isinstance(measure, RankedValue):
                if len(self.owners.owners) != 1:
                    raise UnsupportedError(
                        f"{measure.text} is refused where joined rows have {len(self.owners.owners)} owners, since one "
                        "of them changes what the rows of the others weigh: ask about rows of one owner each"
                    )
                same = measure.lattice, measure.q if measure.is_extreme else None
                together.setdefault(same, []).append(place)
        return [self._rank_together(places) for places in together.values()]

    def _rank_together(self, places: Sequence[int]) -> RankedPart:
        asked = [measure for i in places if isinstance(measure := self.statement.measures[i], RankedValue)]
        if self.budget.concentrated:
            refuse_rho(asked[0])
        limit = self._limit_ranks(asked, self.budget.amount * len(places))
        each = _left_of(limit.noise) / len(places)
        groups = MANY_GROUPS if self.unknown else self.groups
        ranks = tuple(UnitRank(measure, each, limit, groups) for measure in asked)
        return RankedPart(tuple(places), ranks, limit)

    def _limit_ranks(self, measures: Sequence[RankedValue], epsilon: Fraction) -> UnitNoise:
        """How much an owner weighs at most: one where it has one row, or one value; else chosen privately."""
        extreme = measures[0].is_extreme
        if self.once or (extreme and not self.statement.keys):
            return KnownLimit(1, LaplacePerLimit(epsilon))
        declared = self.most_per_unit
        most = max(1, min(MOST_ROWS if declared is None else int(declared), LARGEST_LIMIT))
        if extreme and not self.unknown:
            most = min(most, self.groups)
        if most == 1:
            return KnownLimit(1, LaplacePerLimit(epsilon))
        share = max(EXTREME_SHARE, min(min(measure.q, 1 - measure.q) for measure in measures))
        numbers = math.ceil(MEDIAN_NUMBERS * self.groups / (4 * share * (1 - share)))
        return SearchedLimit(Truncation.of(epsilon=epsilon, most=most, numbers=numbers))

    def _refuse_unknown(self, why: str) -> None:
        unknown = [key.name for key in self.statement.keys if key.unknown]
        if unknown:
            raise UnsupportedError(
                f"{why}, and the groups of {', '.join(unknown)} are not public: declare a domain of the column in the "
                "policy"
            )


def _left_of(noise: LimitNoise) -> Fraction:
    """What the choice of a limit has left of ε."""
    if not isinstance(noise, LaplacePerLimit):
        raise TypeError("this noise has a rho")
    return noise.epsilon


def _has_one_row_each(statement: Statement, policy: Policy, catalogue: Mapping[str, Table]) -> bool:
    """Whether a key says that the one owner of a row has no other: its entity's own table, or a group for each."""
    (first, *others) = statement.join.everyone
    if first.grouped is not None and not others:
        return bool(first.key)
    if not statement.join.is_one_table:
        return False
    found = statement.join.occurrences[0].table
    table = policy.table_named(found)
    for entity in policy.users:
        if table is not None and entity.table == table.name:
            enforced = catalogue[match_name(found, catalogue) or found].keys
            keys = [*enforced, *([table.key] if table.key_enforced else [])]
            return any(tuple(map(str.casefold, key)) == (entity.column.casefold(),) for key in keys)
    return False
