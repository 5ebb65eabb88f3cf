"""LEFT JOINs that are inner ones: rows without a partner do not pass the conditions, or add to no aggregate."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sordino.sql.aggregates import Measure
from sordino.sql.expressions.absence import is_null_without, is_untrue_without
from sordino.sql.question import Occurrence, OuterJoin


def settle_outer_joins(
    occurrences: list[Occurrence],
    conditions: list[exp.Expr],
    outer: list[OuterJoin],
    measures: Sequence[Measure] = (),
) -> bool:
    """Make every LEFT JOIN an inner one for which that changes nothing, in place; whether there was one.

    **Guarantee**: all aggregates of all groups are the same: either a condition of WHERE is not TRUE for rows without
    a partner, or every measure adds nothing for them (``measures``: COUNT(x) and SUM(x) where x is NULL there).
    """
    found = False
    while True:
        inner = next((join for join in outer if _is_inner(join, conditions, outer, measures)), None)
        if inner is None:
            return found
        outer.remove(inner)
        occurrences.append(inner.occurrence)
        conditions += inner.on
        found = True


def find_absent(join: OuterJoin, outer: Sequence[OuterJoin]) -> frozenset[str]:
    """The aliases without a row where this one has none: itself, and those that can only be joined to it."""
    absent = frozenset({join.occurrence.alias})
    for later in outer:
        if any(is_untrue_without(condition, absent) for condition in later.on):
            absent |= {later.occurrence.alias}
    return absent


def _is_inner(
    join: OuterJoin, conditions: Sequence[exp.Expr], outer: Sequence[OuterJoin], measures: Sequence[Measure]
) -> bool:
    absent = find_absent(join, outer)
    if any(is_untrue_without(condition, absent) for condition in conditions):
        return True
    return bool(measures) and all(
        measure.value is not None and is_null_without(measure.value, absent) for measure in measures
    )
