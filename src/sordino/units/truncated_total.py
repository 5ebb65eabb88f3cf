"""The truncated total f(tau) of results with any number of owners, as a number whose sensitivity is known."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sordino.core import EngineError
from sordino.units.flows import match_pairs
from sordino.units.linear_programme import bound_total
from sordino.units.shared_results import SharedResults, settle_results

# Programmes are solved to this part of tau.
PRECISION = 1024
# More results that are open between three and more owners are left to nobody's patience.
MOST_IN_PROGRAMME = 200_000


def bound_truncated(results: SharedResults, tau: int) -> tuple[Fraction, Fraction]:
    """f(tau) between two bounds, which are equal where no open result has three or more owners."""
    open_results = settle_results(results, tau)
    nobody = len(open_results.capacities) - 1
    settled = Fraction(open_results.settled)
    if np.count_nonzero(open_results.owners != nobody, axis=1).max(initial=0) > 2:
        if len(open_results.weights) > MOST_IN_PROGRAMME:
            raise EngineError("too many results with three and more owners are open at a limit")
        low, high = bound_total(open_results)
        return settled + low, settled + high
    value = settled + match_pairs(open_results)
    return value, value


def bound_within(results: SharedResults, tau: int) -> Fraction:
    """f(tau), or a lower bound less than a 1024th of tau below it.

    **Guarantee**: one unit more moves f within [0, tau]: a best choice without the unit is allowed with it, and one
    with the unit loses at most tau when the unit's results go.
    **Source**: Dong, Fang, Yi, Tao, Machanavajjhala 2022.
    **Numerics**: a programme that HiGHS solves less precisely, or that is larger than `MOST_IN_PROGRAMME`, raises
    `EngineError`; whether it does depends on rows, so the caller books it as a failure of the database.
    """
    low, high = bound_truncated(results, tau)
    if (high - low) * PRECISION > tau:
        raise EngineError("the linear programme of shared results was not solved precisely enough")
    return low


def round_total(total: Fraction) -> int:
    """A total in whole steps, which one unit moves by at most tau and the `solver_slack`.

    Rounding down commutes with adding the whole number tau, so ⌊f⌋ moves by at most tau. A total in (f − s, f],
    s the slack, becomes an integer in (f − 1 − s, f], whose move is above −1 − s and below tau + 1 + s.
    """
    return math.floor(total)


def solver_slack(tau: int, columns: int) -> int:
    """How many steps of tau's noise a solver's imprecision costs: none for flows, which are exact.

    ``columns`` counts the owners of a result, and the value as one more where distinct values are counted.
    """
    return 0 if columns <= 2 else -(-tau // PRECISION)
