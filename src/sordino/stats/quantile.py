"""A quantile's value, on a public lattice within public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import (
    Distance,
    ParameterError,
    Release,
    Secret,
    UnsupportedError,
    add_remove_row,
    check_distance,
    replace_row,
)
from sordino.core.parameters import as_written, choice, exact, positive, probability
from sordino.core.parameters import bounds as checked_bounds
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms.names import QuantileMechanismName
from sordino.mechanisms.noise.add_noise import add_noise
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.registry import mechanism_names, prepare
from sordino.mechanisms.selection.single_winner import single_winner
from sordino.sampling.source import is_private
from sordino.sensitivity import Profile
from sordino.stats.column import bounded_column
from sordino.stats.order_statistic import order_statistic_bound
from sordino.stats.ranks import Ranks

Floats = NDArray[np.float64]

AUTO = "auto"
# by the ranks of the points, for any distance; and by the number of replaced records
BY_RANK = mechanism_names(lambda traits: not traits.follows_profile)
BY_CHANGES = mechanism_names(lambda traits: traits.counts_changes)
WINNER, SMOOTH_NOISE = "winner", "smooth_noise"
MECHANISMS = (AUTO, *BY_RANK, *BY_CHANGES, WINNER, SMOOTH_NOISE)
_UNITS = ("row", "record")
_MOST_POINTS = 50_000_000
_SHARE_UNITS = 1 << 26  # q is a whole number of 2^-26
_MOST_SHARES = 1 << 52
_LARGEST_IN_WORDS = 1 << 36  # so many records times the units of q stay within 64 bits


def quantile(
    values: Any,
    q: float,
    *,
    bounds: tuple[float, float],
    step: float,
    epsilon: Any,
    mechanism: QuantileMechanismName = "auto",
    distance: Distance | None = None,
    clip: bool = False,
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
) -> Release:
    """Release a value near the q-quantile, q in (0, 1).

    Records are rounded to the public lattice ``bounds[0]``, ``+ step``, … and the answer is one of its points.
    ``distance``: one record added or removed (the default), or one replaced, where the number of records is public.
    With ``ledger`` and ``account`` (data set, analyst) the release is paid for.

    * ``exponential``, ``permute_and_flip``, ``report_noisy_max``: utility min(qn − L, M − qn) with L records below the
      point and M up to it; its sensitivity is 1 for a replaced record and max(q, 1 − q) for one added or removed.
    The others are built for one record replaced, which is their default and what their guarantee says:

    * ``inverse_sensitivity``: minus the number of records to replace until the point is the k-th value, k = ⌈qn⌉;
      for the k-th value itself, the number of replacements that it survives.
    * ``winner``: the best law for the utility that is 1 at x_(k) and 0 elsewhere (see `SingleWinner`).
    * ``smooth_noise``: x_(k) plus the noise of `add_noise` for its smooth sensitivity, clamped to the bounds; both in
      whole steps of the lattice, so that nothing is rounded before the smooth bound itself.
    * ``auto``: inverse_sensitivity for a replaced record, permute_and_flip otherwise.

    **Guarantee**: ε-DP for ``distance``. A column without records is answered too, by any point of the lattice: that
    there are none is private where records are added or removed.
    **Source**: Smith 2011; Asi and Duchi 2020; Nissim et al. 2007.

    >>> import sordino as sd
    >>> ages = list(range(18, 98)) * 50
    >>> median = sd.quantile(ages, 0.5, bounds=(0, 120), step=1, epsilon=1.0)
    >>> abs(median.value - 57) <= 5, median.mechanism
    (True, 'permute_and_flip')
    """
    release = _released(_checked(values, q, bounds, step, epsilon, mechanism, distance, clip))
    return pay_for(release, ledger, account)


def _released(asked: _Asked) -> Release:
    if asked.mechanism == SMOOTH_NOISE and asked.ranks.records:
        return _smooth_noise(asked, asked.epsilon)
    selection = _selection(asked)
    index = selection.draw()
    value = asked.ranks.value(index)
    known: dict[str, Any] = {"exact": None, "realised_error": None}
    if asked.ranks.records:
        truth = asked.ranks.value(_exact_index(asked))
        known = {"exact": truth, "realised_error": abs(value - truth)}
    return Release(value, selection.guarantee, asked.mechanism, private=is_private(), details=Secret(known))


def quantile_of_counts(
    counts: NDArray[np.int64],
    q: float,
    *,
    low: Fraction,
    step: Fraction,
    epsilon: Any,
    mechanism: str = "auto",
    distance: Distance,
) -> Release:
    """`quantile` where the number of records at every point ``low``, ``+ step``, … is known already."""
    q, mechanism = probability("q", q), _checked_mechanism(mechanism, distance)
    positive("epsilon", epsilon)
    return _released(_Asked(Ranks.of_counts(counts, low, step), q, epsilon, mechanism, distance))


def quantile_law(
    values: Any,
    q: float,
    *,
    bounds: tuple[float, float],
    step: float,
    epsilon: Any,
    mechanism: QuantileMechanismName = "auto",
    distance: Distance | None = None,
    clip: bool = False,
) -> tuple[Floats, Floats]:
    """The lattice points and the probability with which `quantile` releases each.

    >>> import sordino as sd
    >>> points, law = sd.quantile_law([1, 2, 2, 3], 0.5, bounds=(0, 4), step=1, epsilon=1.0)
    >>> points[law.argmax()], round(float(law.sum()), 9)
    (np.float64(2.0), 1.0)
    """
    asked = _checked(values, q, bounds, step, epsilon, mechanism, distance, clip)
    if asked.mechanism == SMOOTH_NOISE:
        raise UnsupportedError("the law of smooth_noise is noise_law(…) clamped to the bounds; ask for that")
    # by halves, exact but for the tiniest numbers: bounds may be further apart than the largest float
    halves = float(asked.ranks.low) / 2 + float(asked.ranks.step) / 2 * np.arange(len(asked.ranks.below))
    points = 2 * halves
    return np.asarray(points, dtype=np.float64), np.exp(_selection(asked).log_law())


@dataclass(frozen=True, slots=True)
class _Asked:
    ranks: Ranks
    q: float
    epsilon: Any
    mechanism: str
    distance: Distance


def _checked(
    values: Any,
    q: float,
    bounds: Any,
    step: Any,
    epsilon: Any,
    mechanism: str,
    distance: Distance | None,
    clip: bool,
) -> _Asked:
    q = probability("q", q)
    positive("epsilon", epsilon)
    where = _default_distance(mechanism) if distance is None else check_distance(distance)
    mechanism = _checked_mechanism(mechanism, where)
    low, high = checked_bounds(bounds)
    points = math.floor(
        (exact("upper bound", high) - exact("lower bound", low)) / exact("step", positive("step", step))
    )
    if points < 1:
        raise ParameterError(f"step must be at most the width of the bounds ({high - low:g}), got {step!r}")
    if points > _MOST_POINTS:
        raise ParameterError(
            f"step {step!r} makes {points} lattice points, at most {_MOST_POINTS} are accepted"
        )
    column = bounded_column(values, bounds=(low, high), clip=clip, may_be_empty=True)
    return _Asked(Ranks.of_column(column, (low, high), float(step), points), q, epsilon, mechanism, where)


def _default_distance(mechanism: str) -> Distance:
    """One record added or removed, unless the mechanism is built for one replaced."""
    return add_remove_row() if mechanism in (AUTO, *BY_RANK) else replace_row()


def _checked_mechanism(mechanism: str, where: Distance) -> str:
    choice("mechanism", mechanism, MECHANISMS)
    if where.change == "flip":
        raise ParameterError(f"a quantile's records are replaced, or added and removed, not: {where}")
    if where.unit not in _UNITS or where.weights:
        raise ParameterError(
            f"a quantile counts changes record by record, so its distance must be of one row or record without "
            f"weights, got: {where}"
        )
    if mechanism == AUTO:
        mechanism = (BY_CHANGES if where.change == "replace" else BY_RANK)[0]
    if where.change != "replace" and mechanism not in BY_RANK:
        raise UnsupportedError(
            f"{mechanism} is built for one record replaced; for one added or removed use {BY_RANK[0]}"
        )
    return mechanism


def _rank(asked: _Asked) -> int:
    """k = ⌈qn⌉ within 1 … n."""
    n = asked.ranks.records
    return max(1, min(n, math.ceil(as_written("q", asked.q) * n)))


def _exact_index(asked: _Asked) -> int:
    return int(np.searchsorted(asked.ranks.upto, _rank(asked)))


def _selection(asked: _Asked) -> Any:
    ranks = asked.ranks
    common: dict[str, Any] = {"epsilon": asked.epsilon, "distance": asked.distance}
    if not ranks.records and asked.distance.change == "replace":  # nothing to replace: every point is as good
        return prepare(BY_RANK[0], pose_question(np.zeros(len(ranks.below)), profile=1.0, **common))[1]
    if asked.mechanism in BY_CHANGES:
        k = _rank(asked)
        changes = np.maximum(0, np.maximum(k - ranks.upto, ranks.below - k + 1))
        index = _exact_index(asked)
        changes[index] = -_margin(asked, index)
        counted = pose_question(-changes.astype(np.float64), profile=1.0, changes=changes, **common)
        return prepare(asked.mechanism, counted)[1]
    if asked.mechanism == WINNER:
        return _winner(asked, common)
    share = round(asked.q * _SHARE_UNITS)
    sensitivity = (
        1.0 if asked.distance.change == "replace" else max(share, _SHARE_UNITS - share) / _SHARE_UNITS
    )
    ranked = pose_question(_utility(ranks, share), profile=sensitivity, **common)
    return prepare(asked.mechanism, ranked)[1]


def _utility(ranks: Ranks, share: int) -> Floats:
    """min(qn − L, M − qn) at every point, for q of ``share`` units.

    **Numerics**: exact in whole units, so that the target moves by exactly q when a record is added; then cut at
    ±2^52 units, which moves no two of them further apart, so that every utility is a float.
    """
    kind = np.int64 if ranks.records < _LARGEST_IN_WORDS else np.object_
    target = share * ranks.records
    below, upto = ranks.below.astype(kind) * _SHARE_UNITS, ranks.upto.astype(kind) * _SHARE_UNITS
    utility = np.minimum(target - below, upto - target)
    cut = np.minimum(np.maximum(utility, -_MOST_SHARES), _MOST_SHARES)
    return np.asarray(cut, dtype=np.float64) / _SHARE_UNITS


def _winner(asked: _Asked, common: dict[str, Any]) -> Any:
    """1 at x_(k), 0 elsewhere."""
    index = _exact_index(asked)
    utility = np.zeros(len(asked.ranks.below))
    utility[index] = 1.0
    profile = Profile.from_table(np.zeros(_margin(asked, index)), bound=1.0, distance=asked.distance)
    return single_winner(pose_question(utility, profile=profile, **common))


def _margin(asked: _Asked, index: int) -> int:
    """The replacements that x_(k) survives: one less than the fewest that move it, min(k − L, M − k + 1)."""
    ranks, k = asked.ranks, _rank(asked)
    ways = []
    if index > 0:
        ways.append(k - int(ranks.below[index]))
    if index < len(ranks.below) - 1:
        ways.append(int(ranks.upto[index]) - k + 1)
    return min(ways) - 1


def _smooth_noise(asked: _Asked, epsilon: Any) -> Release:
    """x_(k), its smooth bound and the noise in whole steps of the lattice, where all differences are exact."""
    ranks = asked.ranks
    last = len(ranks.below) - 1
    ordered = np.repeat(np.arange(last + 1, dtype=np.float64), ranks.upto - ranks.below)
    bound = order_statistic_bound(ordered, _rank(asked), float(last))
    index = _exact_index(asked)
    noisy = add_noise(index, bound, epsilon=epsilon, step=1)
    value, truth = ranks.value(max(0, min(last, int(noisy.value)))), ranks.value(index)
    steps = noisy.details.reveal()
    known = {name: steps[name] * float(ranks.step) for name in ("sensitivity", "noise_scale")}
    known |= {"exact": truth, "beta": steps["beta"], "realised_error": abs(value - truth)}
    guarantee = replace(noisy.guarantee, distance=asked.distance)
    return Release(value, guarantee, SMOOTH_NOISE, private=noisy.private, details=Secret(known))
