"""Distinct values, extremes and ranks where a unit may count for no more than its share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from tests.oracles.units.linear_programme import maximise
from tests.oracles.units.owners import Result, Unit


def distinct_within(results: Sequence[Result], tau: int) -> int:
    """The most distinct values, each by one of its results, with no unit in more than tau of them: all choices."""
    by_value: dict[object, list[frozenset[Unit]]] = {}
    for result in results:
        by_value.setdefault(result.value, []).append(result.owners)
    choices = [set(owners) for owners in by_value.values()]

    def best(i: int, used: Counter[Unit]) -> int:
        if i == len(choices):
            return 0
        values = [best(i + 1, used)]
        for owners in choices[i]:
            if all(used[unit] < tau for unit in owners):
                values.append(1 + best(i + 1, used + Counter(owners)))
        return max(values)

    return best(0, Counter())


def fractional_distinct(results: Sequence[Result], tau: int) -> Fraction:
    """The same as a linear programme: parts of results, at most one per value and tau per unit."""
    values = list({result.value for result in results})
    units = list({unit for result in results for unit in result.owners})
    rows = [[int(result.value == value) for result in results] for value in values]
    rows += [[int(unit in result.owners) for result in results] for unit in units]
    return maximise([1] * len(results), rows, [1] * len(values) + [tau] * len(units))[0]


def unit_maxima(values_of: Mapping[Unit, Iterable[int]]) -> dict[Unit, int]:
    """M_u for every unit with a value."""
    return {unit: max(values) for unit, values in ((u, list(v)) for u, v in values_of.items()) if values}


def units_at_least(values_of: Mapping[Unit, Iterable[int]], bound: int) -> int:
    """How many units have a value of at least the bound."""
    return sum(largest >= bound for largest in unit_maxima(values_of).values())


def weighted_rank(values_of: Mapping[Unit, Sequence[int]], most: int, bound: int) -> Fraction:
    """Rows up to the bound, each of unit u with weight min(1, most/rows_u)."""
    return sum(
        (_row_weight(values, most) * sum(v <= bound for v in values) for values in values_of.values()),
        Fraction(0),
    )


def quantile_score(
    values_of: Mapping[Unit, Sequence[int]], most: int, share: Fraction, bound: int
) -> Fraction:
    """Rank of the bound minus the share of the whole weight: zero where the quantile is."""
    whole = sum((_row_weight(values, most) * len(values) for values in values_of.values()), Fraction(0))
    return weighted_rank(values_of, most, bound) - share * whole


def _row_weight(values: Sequence[int], most: int) -> Fraction:
    return min(Fraction(1), Fraction(most, len(values))) if values else Fraction(0)
