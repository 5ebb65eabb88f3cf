"""How many units stand in the way of a limit: the least number, parts allowed, to drop so that nobody left exceeds it.

D(τ) = min Σ_u d_u over d ≥ 0 such that, when of every result j only max(0, 1 − Σ_{u ∈ O_j} d_u) stays, no unit has part
in more than τ. One unit more can be dropped whole, and what suffices with it suffices without it: D moves within
[0, 1], for any number of owners. With one owner each it is near the number of units above τ.

That holds for whatever weights results have by themselves, so they are cut at 2²⁰·τ first: solvers have some fifteen
digits, and a sum of money between two owners is easily 10⁹ steps where 1 is the limit. It takes less than a millionth
of D away, since a result whose weight is beyond has to go all but wholly anyway.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import EngineError
from sordino.units.shared_results import SharedResults, Whole, merge_equal, sum_by_unit

MOST_CORE_RESULTS = 500_000
PRECISION = 1024
LARGEST_RATIO = 1 << 20  # of a result's weight and τ
_STEPS = 1 << 40  # all bounds are whole multiples of 1/_STEPS
_FINE = 1 << 60  # the same where millions of them are added
_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
Floats = NDArray[np.float64]


def bound_dropped(results: SharedResults, tau: int) -> Fraction:
    """D(tau) of what is cut at `LARGEST_RATIO` times tau, or a lower bound less than a 1024th below it.

    **Guarantee**: D moves within [0, 1] when a unit comes.
    **Requires**: weights whose sums stay within 64 bits (`SharedResults.cut`).
    **Numerics**: HiGHS proposes drops and prices in floating point; drops are raised until they suffice and prices cut
    until they are allowed, both in integers, which bounds D from both sides. `EngineError` where the two are further
    apart, or the core is too large: the caller books it as a failure of the database.

    Only units with more than τ/(m − 1), m owners to a result, are ever dropped, so results are merged by those: the
    price β_u of τ is at most 1/τ, since what it buys is at most 1, and 0 for units within τ; so the prices of the
    results of a unit within τ/(m − 1) add up to at most 1 whatever they are.
    """
    owners, weights, units = _find_core(results.cut(LARGEST_RATIO * tau), tau)
    if not len(weights):
        return Fraction(0)
    if not (owners[:, 1:] < units).any():
        # Everybody is alone: all but τ of a unit's total goes.
        totals = sum_by_unit(owners, weights, units + 1)[:-1].tolist()
        return Fraction(sum(max(0, _FINE - tau * _FINE // total - 1) for total in totals), _FINE)
    if len(weights) > MOST_CORE_RESULTS:
        raise EngineError("too many results are shared by units above the limits")
    drops, prices, worth = _solve(owners, weights, units, tau)
    low = _lower_bound(owners, weights, units, tau, prices, worth)
    if (_upper_bound(owners, weights, units, tau, drops) - low) * PRECISION > 1:
        raise EngineError("the linear programme of dropped units was not solved precisely enough")
    return low


def _find_core(results: SharedResults, tau: int) -> tuple[Whole, Whole, int]:
    """Results by those owners who may be dropped, numbered anew; ``units`` stands for nobody."""
    nobody = len(results.limited)
    totals = sum_by_unit(results.owners, results.weights, nobody + 1)
    totals[nobody] = 0
    if totals.max(initial=0) <= tau:
        return results.owners[:0], results.weights[:0], 0
    droppable = totals * max(1, results.owners.shape[1] - 1) > tau
    units = int(droppable.sum())
    numbers = np.where(droppable, np.cumsum(droppable) - 1, units)
    owners = np.sort(numbers[results.owners], axis=1)
    touched = owners[:, 0] < units
    return *merge_equal(owners[touched], results.weights[touched]), units


def _solve(owners: Whole, weights: Whole, units: int, tau: int) -> tuple[Floats, Floats, Floats]:
    """Drops, prices β·τ of the limits, and prices of the results."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    size = len(weights)
    places, named = np.nonzero(owners < units)[0], owners[owners < units]
    covers = csr_array((np.ones(len(places)), (places, named)), shape=(size, units))
    loads = csr_array((weights[places] / tau, (named, places)), shape=(units, size))
    rows = vstack([hstack([-covers, -eye_array(size)]), hstack([csr_array((units, units)), loads])]).tocsr()
    limits = np.concatenate([-np.ones(size), np.ones(units)])
    price = np.concatenate([np.ones(units), np.zeros(size)])
    found = linprog(price, rows, limits, bounds=(0, None), method="highs-ipm", options=_OPTIONS)
    if found.x is None:
        raise EngineError("the linear programme of dropped units could not be solved", str(found.message))
    return found.x[:units], -found.ineqlin.marginals[size:], -found.ineqlin.marginals[:size]


def _lower_bound(
    owners: Whole, weights: Whole, units: int, tau: int, prices: Floats, worth: Floats
) -> Fraction:
    """Σ α − τ Σ β for prices cut until Σ_{j ∋ u} α_j ≤ 1 and α_j ≤ w_j Σ_{u ∈ O_j} β_u.

    Prices β·τ are rounded up: a weight far above τ needs one that is far below a step, and 0 would make its α 0.
    """
    beta = np.append(_in_steps(prices, up=True), 0)
    most = weights.astype(object) * beta[owners].sum(axis=1) // tau
    alpha = np.minimum(_in_steps(worth).astype(object), most)
    sums = _sum_exactly(owners, alpha, units)
    for unit in np.flatnonzero(sums > _STEPS):
        mine = (owners == unit).any(axis=1)
        alpha[mine] = alpha[mine] * _STEPS // sums[unit]
    return Fraction(max(0, int(alpha.sum()) - int(beta.sum())), _STEPS)


def _upper_bound(owners: Whole, weights: Whole, units: int, tau: int, drops: Floats) -> Fraction:
    """Drops that suffice: where a unit still has a load L > τ, the part 1 − τ/L of what is left of it goes too.

    Its load falls at least as fast as what is left of it, being convex and 0 when nothing is; others' loads only fall.
    """
    dropped = np.append(_in_steps(drops), 0)
    stays = np.maximum(0, _STEPS - dropped[owners].sum(axis=1))
    loads = _sum_exactly(owners, weights.astype(object) * stays, units)
    total = int(dropped.sum())
    for unit in np.flatnonzero(loads > tau * _STEPS):
        load = loads[unit]
        total += -((int(dropped[unit]) - _STEPS) * (load - tau * _STEPS) // load)
    return Fraction(total, _STEPS)


def _in_steps(values: Floats, *, up: bool = False) -> Whole:
    steps = np.clip(np.nan_to_num(values), 0.0, 1.0) * _STEPS
    whole: Whole = (np.ceil(steps) if up else np.floor(steps)).astype(np.int64)
    return whole


def _sum_exactly(owners: Whole, amounts: NDArray[Any], units: int) -> NDArray[Any]:
    sums = np.zeros(units + 1, dtype=object)
    for column in owners.T:
        np.add.at(sums, column, amounts)
    return sums[:-1]
