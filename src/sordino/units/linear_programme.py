"""The truncated total of results with three and more owners: a linear programme, with bounds that are proved.

HiGHS works in floating point, so nothing of its answer is believed. Its solution is cut down until it is allowed in
whole steps, which gives a lower bound; its prices, whatever they are, give an upper bound by weak duality:
Σ_u capacity_u y_u + Σ_j w_j max(0, 1 − Σ_{u ∈ O_j} y_u) for any y ≥ 0. Both are summed in integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy  # its parts load when they are first used

from sordino.core import EngineError
from sordino.units.shared_results import OpenResults, Whole

_STEPS = 1 << 30  # prices and shares are whole multiples of 1/_STEPS
_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


def bound_total(open_results: OpenResults) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of the most that can be taken within everybody's capacity."""
    owners, weights = open_results.owners, open_results.weights
    if not len(weights):
        return Fraction(0), Fraction(0)
    from scipy.optimize import (
        linprog,  # takes half a second to load, and most questions have one owner or two
    )

    nobody = len(open_results.capacities) - 1
    units, places = np.unique(np.append(owners, nobody), return_inverse=True)
    owners = places[:-1].reshape(owners.shape).astype(np.int64)
    capacities = open_results.capacities[units][:-1]
    last = len(units) - 1
    named = owners < last
    rows, columns = owners[named], np.nonzero(named)[0]
    # In shares of a result, so that all variables lie within [0, 1]; rows in shares of a capacity.
    entries = weights[columns] / np.maximum(1, capacities[rows])
    matrix = scipy.sparse.csr_array((entries, (rows, columns)), shape=(last, len(weights)))
    limits = (capacities > 0).astype(np.float64)
    found = linprog(-weights / weights.max(), matrix, limits, bounds=(0, 1), method="highs", options=_OPTIONS)
    if found.x is None:
        raise EngineError("the linear programme of shared results could not be solved", str(found.message))
    prices = -found.ineqlin.marginals * weights.max() / np.maximum(1, capacities)
    return _lower_bound(owners, weights, capacities, found.x), _upper_bound(
        owners, weights, capacities, prices
    )


def _lower_bound(owners: Whole, weights: Whole, capacities: Whole, shares: np.ndarray) -> Fraction:
    """What the shares take, after every share of a unit beyond its capacity is cut down to it."""
    steps = np.floor(np.clip(shares, 0.0, 1.0) * _STEPS).astype(np.int64)
    amounts = steps.astype(object) * weights
    allowed = capacities.astype(object) * _STEPS
    loads = np.zeros(len(allowed) + 1, dtype=object)
    for column in owners.T:
        np.add.at(loads, column, amounts)
    for place in np.flatnonzero(loads[:-1] > allowed):
        load, most = loads[place], allowed[place]
        for result in np.flatnonzero((owners == place).any(axis=1)):
            amounts[result] = amounts[result] * most // load
    return Fraction(int(amounts.sum()), _STEPS)


def _upper_bound(owners: Whole, weights: Whole, capacities: Whole, prices: np.ndarray) -> Fraction:
    """Weak duality: right for whatever prices."""
    whole = np.rint(np.clip(np.nan_to_num(prices), 0.0, 1.0) * _STEPS).astype(np.int64)
    paid = np.append(whole, 0)[owners].sum(axis=1)
    missing = np.maximum(0, _STEPS - paid)
    total = int((whole.astype(object) * capacities).sum()) + int((missing.astype(object) * weights).sum())
    return Fraction(total, _STEPS)
