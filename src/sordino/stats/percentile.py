"""Which record stands at the p-th percentile? The labelled question of local dampening."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError, Release, replace_row
from sordino.core.parameters import as_written
from sordino.core.parameters import bounds as checked_bounds
from sordino.mechanisms.names import MechanismName
from sordino.mechanisms.selection import MECHANISMS, select
from sordino.mechanisms.selection.registry import AUTO, MOST_COMPARED, mechanism_names
from sordino.mechanisms.selection.select import MechanismChoice
from sordino.sensitivity import Profile
from sordino.sensitivity.grid import power_below
from sordino.stats.column import bounded_column

Floats = NDArray[np.float64]

_MOST_CELLS = 1 << 31  # whatever the values, 46 340 records stay below it
_RESOLUTION_BITS = 30
_WIDTHS = (1e-250, 1e300)


def select_record_at_percentile(
    values: Any,
    p: float,
    *,
    bounds: tuple[float, float],
    epsilon: Any,
    mechanism: MechanismChoice = "auto",
    clip: bool = False,
    **options: Any,
) -> Release:
    """Release the position of a record whose value is near the p-th percentile.

    **Guarantee**: ε-DP for one record's value replaced; the number of records and their order are public. The profile
    is that of this distance, so another ``distance`` is refused, and so is ``monotone`` (a replaced record moves
    scores both ways).
    ``mechanism`` and ``options`` (sampler, direction, noise, …) go to `sordino.select`; ``auto`` is inverse_sensitivity
    for up to 1024 records and local_dampening for more. shifted_dampening reads the profile of every distinct value at
    every distance, and refuses data for which that is too much (`PrivateDataError`; never up to 46 340 records).

    >>> import sordino as sd
    >>> pay = [1800, 2400, 2500, 2600, 9000]
    >>> release = sd.select_record_at_percentile(pay, 50, bounds=(0, 10_000), epsilon=1.0)
    >>> release.value in range(5), release.mechanism
    (True, 'inverse_sensitivity')
    """
    if "profile" in options:
        raise ParameterError(
            "profile= is not accepted here: the exact profile is computed from the values and bounds"
        )
    scores, profile = percentile_question(values, p, bounds=bounds, clip=clip)
    if mechanism == AUTO and options.get("noise") is None:
        mechanism = _default_mechanism(len(scores))
    entry = MECHANISMS.get(mechanism)
    if entry is not None and entry.traits.reads == "sum" and profile.rows * len(scores) > _MOST_CELLS:
        raise PrivateDataError(
            f"{mechanism} sums the whole profile of every distinct value, too much for so many values: "
            "use local_dampening, or round the values to a public grid first"
        )
    return select(scores, profile=profile, epsilon=epsilon, mechanism=mechanism, **options)


def _default_mechanism(records: int) -> MechanismName:
    """What counts changes, where that is affordable, else what reads the first steps only.

    The number of records is public, since records are replaced.
    """
    reads = "kept" if records <= MOST_COMPARED else "steps"
    return cast(MechanismName, mechanism_names(lambda traits: traits.reads == reads)[0])


def percentile_question(
    values: Any, p: float, *, bounds: tuple[float, float], clip: bool = False
) -> tuple[Floats, Profile]:
    """The scores u_r = −|x_(k) − x_r| and their exact profile, for `select`, `selection_law` and `compare`.

    >>> import sordino as sd
    >>> scores, profile = sd.percentile_question([1, 2, 4, 8], 50, bounds=(0, 10))
    >>> scores.tolist(), profile
    ([-3.0, -2.0, -0.0, -4.0], Profile(candidates=4, rows=4, steps=None, bound=10))
    """
    low, high = checked_bounds(bounds)
    if not _WIDTHS[0] <= high - low <= _WIDTHS[1]:
        raise ParameterError(
            f"bounds must be between {_WIDTHS[0]:g} and {_WIDTHS[1]:g} apart, got ({low:g}, {high:g})"
        )
    step = math.ldexp(power_below(high - low), -_RESOLUTION_BITS)
    # On a public grid of 2^-30 of the width, every difference below is exact.
    width = math.ceil((high - low) / step) * step
    column = np.floor((bounded_column(values, bounds=(low, high), clip=clip) - low) / step) * step
    k = percentile_rank(p, len(column))
    ordered = np.sort(column)
    return -np.abs(ordered[k - 1] - column), _profile(column, ordered, k, width)


def percentile_rank(p: float, n: int) -> int:
    """k = ⌈p(n + 1)/100⌉ within 1 … n."""
    share = as_written("p", p)
    if not 0 <= share <= 100:
        raise ParameterError(f"p must be between 0 and 100, got {p!r}")
    return max(1, min(n, -(-share * (n + 1) // Fraction(100))))


def _profile(column: Floats, ordered: Floats, k: int, width: float) -> Profile:
    """The exact element local sensitivity LS(x, t, r) of u, one row per distinct value.

    With v = x_r, w the other values in order (0 before the first, ``width`` after the last), A(s) = w_{k−1+s} and
    B(s) = w_{k+s}: x_(k) is v clamped to [A(0), B(0)], and t changes among the others move these ends to A(±t), B(±t).
    The maximum is over what one further change can do, to v or to another value, upwards; and, mirrored, downwards.

    **Source**: LD §5 asks the question; its Algorithm 2 misses the maximum. The formula is proved by enumeration in
    ``tests/exact/test_percentile.py``.
    """
    distinct, group_of = np.unique(column, return_inverse=True)
    ranks = np.searchsorted(ordered, distinct, side="left") + 1
    n = len(column)

    def one_sided(t: int, v: Floats, a: Any, b: Any, inner: bool) -> Floats:
        """Upward moves: a(s) and b(s) give A(s), B(s) in this direction; ``inner`` is k > 1 (mirrored: k < n)."""
        best = np.maximum(a(t) - v, np.minimum(v, a(t) - np.maximum(v - b(t), 0.0)))
        if inner:
            best = np.maximum(best, b(t) - np.maximum(a(0), v))
        if t >= 1:
            best = np.maximum(best, a(t - 1))
            if inner:
                best = np.maximum(best, b(t - 1) - a(0))
        return np.asarray(best)

    def other(index: int) -> Floats:
        """w_index for every distinct value."""
        if index <= 0:
            return np.zeros(len(distinct))
        if index >= n:
            return np.full(len(distinct), width)
        following = ordered[index]
        return np.asarray(np.where(index < ranks, ordered[index - 1], following))

    def a(s: int) -> Floats:
        return np.zeros(len(distinct)) if k == 1 else other(k - 1 + s)

    def b(s: int) -> Floats:
        return np.full(len(distinct), width) if k == n else other(k + s)

    def at(t: int) -> Floats:
        up = one_sided(t, distinct, a, b, k > 1)
        down = one_sided(t, width - distinct, lambda s: width - b(-s), lambda s: width - a(-s), k < n)
        return np.maximum(np.maximum(up, down), 0.0)

    def function(steps: NDArray[np.int64]) -> Floats:
        return np.stack([at(int(t)) for t in steps], axis=1)

    profile = Profile.from_function(function, bound=width, group_of=group_of, distance=replace_row())
    # a single record is always the winner: its profile is 0 and never reaches the bound, so it is not read for long
    return profile.until(2) if n == 1 else profile
