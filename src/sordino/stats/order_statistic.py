"""The smooth sensitivity of an order statistic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, replace_row
from sordino.core.parameters import positive, whole
from sordino.sensitivity import SmoothBound
from sordino.stats.column import bounded_column

Floats = NDArray[np.float64]


def order_statistic_bound(values: Any, k: int, width: float) -> SmoothBound:
    """A smooth bound of x_(k), the k-th smallest value, for values in [0, width], one value replaced.

    LS at distance t is max over s = 0 … t+1 of x_(k+s) − x_(k+s−t−1), values beyond the ends being 0 and ``width``.

    **Source**: Nissim, Raskhodnikova and Smith 2007, Prop. 3.4 (median) and its extension to other ranks.
    **Numerics**: pairs further apart than ln(width/best)/β cannot win; the best right end moves monotonically with
    the left end, so a divide and conquer looks at O(T log T) pairs.

    >>> import sordino as sd
    >>> bound = sd.stats.order_statistic_bound([1, 2, 3, 4, 95], k=3, width=100)
    >>> round(bound.at(2.0), 3)  # confidential: after one change, the next could move it from 3 to 95, and 92/e² counts
    12.451
    """

    k, width = whole("k", k, least=1), positive("width", width)
    ordered = np.sort(bounded_column(values, bounds=(0.0, width)))
    if k > len(ordered):
        raise ParameterError(f"k must be at most the number of values ({len(ordered)}), got {k}")

    def smooth(beta: float) -> float:
        # From a horizon that depends on β alone the factor e^(−βt) is taken with the full width: still β-smooth.
        reach = len(ordered) + 1
        if 745.0 / beta < reach:
            reach = min(reach, math.ceil(745.0 / beta) + 1)
        floor = _some_decayed_gap(ordered, k, width, beta, reach)
        if floor > 0:  # pairs so far apart that even the full width decays below a gap already seen
            enough = (math.log(width) - math.log(floor)) / beta
            reach = min(reach, math.ceil(enough) + 2) if enough < reach else reach
        left = _values(ordered, np.arange(k - reach, k + 1), width)
        right = _values(ordered, np.arange(k, k + reach + 1), width)
        best = _largest_decayed_gap(left, right, beta)
        return max(best, math.exp(-beta * (reach - 1)) * width) * (1 + 2.0**-44)

    return SmoothBound(smooth, replace_row())


def _some_decayed_gap(ordered: Floats, k: int, width: float, beta: float, reach: int) -> float:
    """A first guess from pairs at doubling distances around k."""
    spans = np.minimum(2 ** np.arange(max(1, reach.bit_length())), reach)
    gaps = _values(ordered, k + spans, width) - _values(ordered, k - spans, width)
    return float((gaps * _decay(beta, 2 * spans - 1)).max())


def _decay(beta: float, steps: NDArray[np.int64]) -> Floats:
    """e^(−βt), 0 where that is too small for a float, whatever β is."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-beta * steps))


def _values(ordered: Floats, ranks: NDArray[np.intp], width: float) -> Floats:
    inside = ordered[np.clip(ranks, 1, len(ordered)) - 1]
    return np.where(ranks < 1, 0.0, np.where(ranks > len(ordered), width, inside))


def _largest_decayed_gap(left: Floats, right: Floats, beta: float) -> float:
    """max over i, j of (right[j] − left[−1−i])·e^(−β(i + j − 1)), i + j ≥ 1, by levels of divide and conquer.

    With g(i, j) the gap, the best j for a larger i (a smaller left end, further away) is not larger: raising the gap by
    a constant favours the nearer right end.
    """
    lefts = left[::-1]  # lefts[i] is i ranks below k
    weights = _decay(beta, np.arange(len(right)))
    nearest = np.concatenate([[0.0], weights[:-1]])  # for i = 0, where j = 0 is no pair
    best = 0.0
    pending = [(0, len(lefts) - 1, 0, len(right) - 1)]
    while pending:
        first, last, low, high = pending.pop()
        middle = (first + last) // 2
        shares = weights if middle else nearest
        gaps = (right[low : high + 1] - lefts[middle]) * shares[low : high + 1]
        at = int(gaps.argmax())
        best = max(best, float(gaps[at]) * math.exp(-beta * max(0, middle - 1)))
        if first < middle:
            pending.append((first, middle - 1, low + at, high))
        if middle < last:
            pending.append((middle + 1, last, low, low + at))
    return best
