"""Noise of a number that a solver found: the same for every database that obeys the keys, so it needs no rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sordino.core import Distance, UnsupportedError
from sordino.sensitivity import SmoothBound
from sordino.sql.aggregates import Measure
from sordino.sql.analysis import SOLVER, AnalysisPlan, AskedNumbers, RowLimits, add_limits, find_limits
from sordino.sql.answering.cell_noise import CONFIDENCE, CellNoise, ConstantNoise
from sordino.sql.question import Statement
from sordino.sql.solver.limits import find_count_limits

_BY_SOLVER = "that a solver found"


def plan_without_rows(statement: Statement, limits: Mapping[str, int]) -> tuple[AnalysisPlan, ...]:
    """A plan for every cell that reads nothing: what one row changes is known."""
    plans = [
        AnalysisPlan(statement.question(group, measure), {}, AskedNumbers({}))
        for group in statement.groups()
        for measure in range(len(statement.measures))
    ]
    return add_limits(plans, limits)


def limit_counted(statement: Statement) -> dict[str, int]:
    """What one row of each private table changes in the number of rows without repeats, or a refusal."""
    if statement.counted is None:
        raise TypeError("no rows without repeats are counted")
    found = find_count_limits(statement.counted)
    for table, one in found.items():
        if one.at_most is None:
            more = "more of these rows than the solver finds with the work that a question may cost"
            changed = "any number of these rows" if one.unbounded else more
            raise UnsupportedError(
                f"one row of {table} may change {changed}: declare keys as enforced in the policy, where no database "
                "breaks them, or ask with more conditions"
            )
    return {table: one.at_most or 0 for table, one in found.items()}


def choose_limited_noise(
    statement: Statement,
    readings: Sequence[AnalysisPlan],
    epsilon: Fraction,
    weights: Mapping[str, Fraction],
    confidences: Sequence[float],
) -> tuple[ConstantNoise, ...]:
    """Discrete Laplace noise for every measure; none where the solver has no number for some table.

    **Guarantee**: that of `ConstantNoise`, per unit of distance between databases that obey the declared keys.
    """
    found: list[ConstantNoise] = []
    for asked, reading, confidence in zip(statement.measures, readings, confidences, strict=False):
        limits = find_limits(reading)
        constant = None if limits is None else limits.constant(weights)
        if constant is None:
            return ()
        least = find_least_change(asked, weights)
        found.append(ConstantNoise(max(constant, least), epsilon, confidence, source=_BY_SOLVER))
    return tuple(found)


def is_never_larger(
    limited: Sequence[ConstantNoise],
    smooth: Sequence[CellNoise],
    statement: Statement,
    weights: Mapping[str, Fraction],
) -> bool:
    """Whether constant noise is at most what smooth noise is made for at least: the change of one joined row.

    Then it is never larger, whatever the rows are; the question, the policy and ε decide.
    """
    for constant, followed, asked in zip(limited, smooth, statement.measures, strict=True):
        least = float(find_least_change(asked, weights))
        bound = SmoothBound.of_constant(least, distance=Distance("row", "add_remove"))
        if constant.find_radius(CONFIDENCE) > followed.facts(0, bound, (CONFIDENCE,))["radii"][0]:
            return False
    return True


def find_least_change(measure: Measure, weights: Mapping[str, Fraction]) -> Fraction:
    """What one joined row adds, per unit of distance, to the heaviest table."""
    return Fraction(max(measure.reach, 1)) / max(weights.values())


def is_only_solver(readings: Sequence[AnalysisPlan]) -> bool:
    """Whether nothing but the solver was asked."""
    return all(set(plan.prepared) == {SOLVER} for plan in readings)


def list_row_limits(reading: AnalysisPlan, weights: Mapping[str, Fraction]) -> list[tuple[str, Fraction]]:
    """Per table, in steps per unit of distance; none where the solver was not asked."""
    limits: RowLimits | None = find_limits(reading)
    if limits is None:
        return []
    return [
        (table, Fraction(limit * limits.reach) / weights.get(table, Fraction(1)))
        for table, limit in limits.limits.items()
    ]
