"""What is public about an answer before it is paid for, where owners are clipped to a limit that is still to be chosen.

The noise is as wide as the limit, so the least limit of the grid says what it is at least. How many owners it takes to
outweigh it is public whatever the limit will be: nobody counts for more than the limit, and the noise of 95 % of draws
stays within so many limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sqlglot import exp

from sordino.core.distance import WITH_ALL_ROWS
from sordino.sql.answering.cell_noise import DrawnSteps
from sordino.sql.answering.forecast import Forecast, NumberForecast, count_most_rows
from sordino.sql.units.distinct import DistinctPart
from sordino.sql.units.owners import is_same_column
from sordino.sql.units.plan import ShownNoise, UnitPlan
from sordino.sql.units.ranked import UnitRank
from sordino.sql.units.shared import SharedPart
from sordino.sql.units.unit_noise import KnownLimit, SearchedLimit


def forecast_units(plan: UnitPlan) -> Forecast:
    """From the plan alone, which follows no private rows."""
    statement, owner = plan.statement, plan.guarantee.distance.unit.removesuffix(WITH_ALL_ROWS)
    rows, alone = count_most_rows(statement), _is_one_owner(plan)
    numbers = []
    for measure, noise in zip(statement.measures, plan.noises, strict=True):
        if isinstance(noise, UnitRank):
            numbers.append(NumberForecast(measure.text, note=_say_rank(noise, owner, measure.text)))
            continue
        grid, radius_at = _find_radius(noise)
        step, least = float(measure.step), radius_at(grid[0])
        largest = max(abs(measure.low), abs(measure.high))
        known = len(grid) == 1
        bound = 1 if alone and (isinstance(noise, KnownLimit) or plan.planner.once) else rows
        numbers.append(
            NumberForecast(
                measure.text,
                least * step if known else None,
                None,
                None if bound is None else float(bound * largest),
                None if known else _say_noise(least * step, grid[0] * step, owner),
                least_error=least * step,
                least_units=min(math.ceil(radius_at(limit) / limit) for limit in grid),
                unit=owner,
            )
        )
    return Forecast(
        _describe(plan, owner), None if plan.keys is not None else len(statement.groups()), tuple(numbers)
    )


def _is_one_owner(plan: UnitPlan) -> bool:
    """Whether the question is about one owner, whose key it names: WHERE customer_id = 7."""
    join, owners = plan.statement.join, plan.owners.owners
    if len(owners) != 1:
        return False
    for condition in join.conditions:
        equal = condition.unnest()
        if isinstance(equal, exp.EQ) and not equal.expression.find(exp.Column):
            named = equal.this.unnest()
            if named == owners[0].key or is_same_column(
                named, owners[0].key, join.occurrences, join.conditions
            ):
                return True
    return False


def _find_radius(noise: ShownNoise) -> tuple[tuple[int, ...], Callable[[int], float]]:
    """The limits, and the 95 % radius of the noise at each, in steps."""
    if isinstance(noise, SharedPart | DistinctPart):
        flow, confidence = noise.flow, noise.confidence
        return flow.grid, lambda limit: float(flow.radius(limit, confidence))
    if isinstance(noise, KnownLimit | SearchedLimit):
        return noise.grid, lambda limit: noise.radius_at(limit, noise.confidence)
    raise TypeError(f"{type(noise).__name__} has no radius")


def _say_noise(least: float, limit: float, owner: str) -> str:
    return (
        f"±{least:g} with 95 % if no {owner} counts for more than {limit:g}, the least limit, and as many times "
        "more as the limit that is chosen is larger; it is told with the answer"
    )


def _say_rank(rank: UnitRank, owner: str, text: str) -> str:
    grid = tuple(rank.limit.grid)
    said = rank.note(DrawnSteps(0, grid[0]), owner, text) or ""
    return (
        said
        if len(grid) == 1
        else f"{said}, or further if a larger limit is chosen; it is told with the answer"
    )


def _describe(plan: UnitPlan, owner: str) -> str:
    """How the budget is divided, in words."""
    measures = len(plan.statement.measures)
    told = [
        f"{measures} aggregates share the budget evenly" if measures > 1 else "one aggregate takes all of it"
    ]
    if plan.keys is not None:
        needed = plan.keys.units_needed()
        told = [
            f"a third of epsilon and all of delta show the groups: one of {needed} {owner}s with an even chance, one "
            f"of {plan.keys.certain} always",
            "of the rest " + told[0],
        ]
    return "; ".join(told)
