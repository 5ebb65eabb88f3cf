"""What each unit contributes, and what remains when nobody may contribute more than tau.

One owner per result: sums over units. Several: the largest part of the results that leaves every unit at most tau, a
linear programme solved exactly. Results that nobody owns (public tables alone) always remain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from tests.oracles.units.linear_programme import maximise
from tests.oracles.units.owners import Result, Unit

Number = int | Fraction


def contributions(results: Iterable[Result]) -> dict[Unit, Fraction]:
    """c_u: the weight of all results that disappear with u."""
    totals: dict[Unit, Fraction] = defaultdict(Fraction)
    for result in results:
        for unit in result.owners:
            totals[unit] += result.weight
    return dict(totals)


def without(results: Iterable[Result], unit: Unit) -> list[Result]:
    """What is left of the results when the unit goes."""
    return [result for result in results if unit not in result.owners]


def truncated_sum(totals: Iterable[Number], tau: Number) -> Number:
    """f(tau) = sum of min(c_u, tau), for results with one owner each."""
    return sum(min(c, tau) for c in totals)


def units_above(totals: Iterable[Number], tau: Number) -> int:
    """N(tau): how many units contribute more than tau."""
    return sum(c > tau for c in totals)


def truncated_flow(results: Sequence[Result], tau: Number) -> Fraction:
    """f(tau) = max sum x_j with 0 <= x_j <= w_j and at most tau over the results of every unit."""
    everyone = sorted({unit for result in results for unit in result.owners}, key=repr)
    shares = [[int(unit in result.owners) for result in results] for unit in everyone]
    own = [[int(i == j) for j in range(len(results))] for i in range(len(results))]
    limits = [Fraction(tau)] * len(everyone) + [result.weight for result in results]
    return maximise([1] * len(results), shares + own, limits)[0]


def double_cover(results: Iterable[Result]) -> list[Result]:
    """Two owners of one entity made two sides: half of the cover's flow is the flow of the results.

    A result of one unit alone (joined with itself) needs a partner of its own that is never full: without one it
    would appear once in the cover and count for half.
    """
    cover = []
    for result in results:
        if len(result.owners) not in (1, 2):
            raise ValueError("a double cover is for results of one or two owners")
        one, two = (*result.owners, None)[:2]
        for left, right in ((one, two), (two, one)):
            sides = {("left", left), ("right", right)} - {("left", None), ("right", None)}
            cover.append(Result(result.weight, frozenset(sides)))
    return cover


def concave_gap(results: Sequence[Result], tau: Number, base: Number) -> Fraction:
    """g(tau) = (f(base tau) - f(tau)) / (base tau): how much is still lost, in units that are full."""
    top = Fraction(base) * tau
    return (truncated_flow(results, top) - truncated_flow(results, tau)) / top


def dropped_units(results: Sequence[Result], tau: Number) -> Fraction:
    """The least number of units, parts allowed, to take out so that nobody left contributes more than tau.

    Kept shares y_u <= 1, and of result j at least sum of y_u - (owners - 1) stays. One unit more keeps at least as
    much and at most one more, so what is dropped moves by [0, 1] as well: monotone, for any number of owners.
    """
    everyone = sorted({unit for result in results for unit in result.owners}, key=repr)
    units, size = len(everyone), len(results)
    rows, limits = [], []
    for j, result in enumerate(results):
        if result.owners:
            rows.append([int(u in result.owners) for u in everyone] + [-int(i == j) for i in range(size)])
            limits.append(len(result.owners) - 1)
    for u in everyone:
        rows.append([0] * units + [result.weight * (u in result.owners) for result in results])
        limits.append(Fraction(tau))
    rows += [[int(i == k) for i in range(units)] + [0] * size for k in range(units)]
    return units - maximise([1] * units + [0] * size, rows, limits + [1] * units)[0]
