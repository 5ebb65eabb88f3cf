"""Aggregates over rows that are always or maybe there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sordino.sensitivity.interval import Interval

_ZERO = Interval(0.0, 0.0)


def bound_count(sure: Sequence[Interval], possible: Sequence[Interval]) -> Interval:
    """All sure rows, and any of the others."""
    return Interval(float(len(sure)), float(len(sure) + len(possible)))


def bound_sum(sure: Sequence[Interval], possible: Sequence[Interval]) -> Interval:
    """The sure rows, and of the others what lowers or raises the sum."""
    total = _ZERO
    for one in sure:
        total = total + one
    for one in possible:
        total = total + Interval(min(one.low, 0.0), max(one.high, 0.0))
    return total


def bound_least(sure: Sequence[Interval], possible: Sequence[Interval]) -> Interval | None:
    """At most the upper end of every sure row: the report takes the lower ends, and [0, 10] alone would give 0."""
    rows = [*sure, *possible]
    if not rows:
        return None
    high = min((one.high for one in sure), default=max(one.high for one in rows))
    return Interval(min(one.low for one in rows), high)


def bound_largest(sure: Sequence[Interval], possible: Sequence[Interval]) -> Interval | None:
    """At least the lower end of every sure row."""
    found = bound_least([-one for one in sure], [-one for one in possible])
    return None if found is None else -found


def bound_mean(sure: Sequence[Interval], possible: Sequence[Interval]) -> Interval | None:
    """Between the least and the largest of all rows."""
    rows = [*sure, *possible]
    if not rows:
        return None
    return Interval(min(one.low for one in rows), max(one.high for one in rows))


Bound = Callable[[Sequence[Interval], Sequence[Interval]], Interval | None]
AGGREGATE_BOUNDS: dict[str, Bound] = {
    "COUNT": bound_count,
    "SUM": bound_sum,
    "MIN": bound_least,
    "MAX": bound_largest,
    "AVG": bound_mean,
}


def bound_unknown_rows(name: str, one: Interval | None, rows: Interval, *, sure: bool) -> Interval | None:
    """The same where all that is known of the rows is how many there are and what each of them can be."""
    counted = rows if sure else Interval(0.0, rows.high)
    if name == "COUNT":
        return counted
    if one is None or rows.high == 0:
        return None if name != "SUM" else _ZERO
    if name != "SUM":
        return one
    return counted * one if math.isfinite(rows.high) else _unbounded(one, counted)


def _unbounded(one: Interval, counted: Interval) -> Interval:
    least = Interval(counted.low, counted.low) * one
    return Interval(-math.inf if one.low < 0 else least.low, math.inf if one.high > 0 else least.high)
