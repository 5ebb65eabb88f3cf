"""Statistical attacks: a lower bound on ε of a mechanism that can only be run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from sordino.audit.outcome import outcome_key, outcome_kind
from sordino.core import parameters
from sordino.core.errors import ParameterError, ProofError

_BINS = 64
_ATOMS = 4096
_NOT_FINITE = 4096  # above every exponent of a double

Labels = NDArray[np.int64]
Sample = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Distinguisher:
    """An event over outcomes: a view of them as labels, and the labels that belong to the event.

    >>> import random
    >>> import sordino as sd
    >>> bounded = lambda count: count + random.choice([-1, 0, 1])  # no ε at all
    >>> found = sd.audit.attack(bounded, 5, 6, runs=2000, epsilon=1.0)
    >>> found.event(4) or found.event(7)
    True
    """

    text: str
    _view: Callable[[Sample], Labels] = field(repr=False)
    _labels: NDArray[np.int64] = field(repr=False, compare=False)

    def __call__(self, outcome: Any) -> bool:
        """Whether one outcome is in the event."""
        return bool(self.count([outcome]))

    def count(self, outcomes: Sample) -> int:
        """How many of the outcomes are in the event."""
        return int(np.isin(self._view(outcomes), self._labels).sum())


@dataclass(frozen=True, slots=True)
class Attack:
    """A lower bound on ε found by running a mechanism on two neighbouring databases.

    The probability, over the runs, that the bound exceeds the true ε at this δ is at most 1 − ``confidence``.
    ``holds`` says whether the claim survived (None when nothing was claimed); surviving is no proof.

    >>> import random
    >>> import sordino as sd
    >>> bounded = lambda count: count + random.choice([-1, 0, 1])  # no ε at all
    >>> found = sd.audit.attack(bounded, 5, 6, runs=2000, epsilon=1.0)
    >>> found.runs, found.favours in ("x", "y")
    (2000, True)
    """

    epsilon_lower_bound: float
    event: Distinguisher
    favours: str
    counts: tuple[int, int]
    runs: int
    confidence: float
    delta: float
    claimed: float | None

    @property
    def holds(self) -> bool | None:
        """False if the data refutes the claimed ε at this δ."""
        return None if self.claimed is None else self.epsilon_lower_bound <= self.claimed

    def __str__(self) -> str:
        verdict = {None: "no claim", True: "not refuted", False: "REFUTED"}[self.holds]
        claim = "" if self.claimed is None else f", ε = {self.claimed:.6g} claimed"
        return (
            f"{verdict}: ε ≥ {self.epsilon_lower_bound:.6g} at δ = {self.delta:.3g}{claim} "
            f"(confidence 1 − {1 - self.confidence:.2g}, {self.runs:,} runs per database)\n"
            f"event {self.event.text}: {self.counts[0]:,} against {self.counts[1]:,} times, favouring {self.favours}"
        )


def attack(
    mechanism: Callable[..., Any],
    x: Any,
    y: Any,
    *,
    runs: int,
    epsilon: float | None = None,
    delta: float = 0.0,
    confidence: float = 1 - 1e-6,
    event: Callable[[Any], bool] | None = None,
    outcomes: Collection[Any] | None = None,
    vectorised: bool = False,
) -> Attack:
    """Bound ε from below by samples of ``mechanism(x)`` and ``mechanism(y)``, ``runs`` of each.

    Half of the runs choose the most telling event in either direction (sets of outcomes ordered by likelihood
    ratio; the types they are made of; for numbers also intervals and the lowest set bit of the float, which shows
    rounding); the other half judges it. Outcomes are told apart by type and bits (`sordino.audit.outcome`): 0.0 is
    not -0.0, and 1 not True. ``event`` fixes the event, ``outcomes`` the labels to look at; what equals one of them
    and is told apart from it is a label of its own. ``vectorised`` mechanisms are called as ``mechanism(x, size)``.
    ``epsilon`` is the claim to test.

    Guarantee: the bound exceeds the true ε with probability at most 1 − ``confidence``: Clopper-Pearson bounds
    on fresh runs, divided over two directions and two binomials each.
    Requires: independent runs.

    >>> import random
    >>> import sordino as sd
    >>> bounded = lambda count: count + random.choice([-1, 0, 1])  # no ε at all
    >>> found = sd.audit.attack(bounded, 5, 6, runs=2000, epsilon=1.0)
    >>> found.holds, found.epsilon_lower_bound > 1
    (False, True)
    """
    runs = parameters.whole("runs", runs, least=8)
    delta = parameters.probability("delta", delta, zero=True)
    confidence = parameters.probability("confidence", confidence)
    claimed = None if epsilon is None else parameters.non_negative("epsilon", epsilon)
    if event is not None and outcomes is not None:
        raise ParameterError("give either event or outcomes, not both")
    risk = (1 - confidence) / 4
    samples = [_draw(mechanism, database, runs, vectorised) for database in (x, y)]
    if event is not None:
        fixed = Distinguisher(_name(event), _predicate_view(event), np.array([1]))
        chosen, start = [fixed, fixed], 0
    else:
        start = runs // 2
        seen = [sample[:start] for sample in samples]
        chosen = [_choose(seen[k], seen[1 - k], outcomes, delta, risk) for k in (0, 1)]
    fresh = runs - start
    results = []
    for k, favours in ((0, "x"), (1, "y")):
        counts = [chosen[k].count(sample[start:]) for sample in samples]
        lower = float(_epsilon(np.array([counts[k]]), np.array([counts[1 - k]]), fresh, delta, risk)[0])
        results.append((lower, chosen[k], favours, (counts[0], counts[1])))
    lower, best, favours, tally = max(results, key=lambda result: result[0])
    return Attack(lower, best, favours, tally, runs, confidence, delta, claimed)


def _draw(mechanism: Callable[..., Any], database: Any, runs: int, vectorised: bool) -> Sample:
    sample: Sample = mechanism(database, runs) if vectorised else [mechanism(database) for _ in range(runs)]
    if len(sample) != runs:
        raise ParameterError(f"mechanism(x, {runs}) must give {runs} outcomes, got {len(sample)}")
    try:
        outcome_key(sample[0])
    except ProofError as error:
        raise ParameterError(str(error)) from None
    return sample


def _epsilon(hits: Labels, other: Labels, runs: int, delta: float, risk: float) -> NDArray[np.float64]:
    """Lower bounds on ε ≥ ln((P − δ)/Q) from counts out of ``runs``, each binomial bound wrong with ``risk``."""
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, betaincinv(hits, runs - hits + 1, risk), 0.0)
        high = np.where(other < runs, betainccinv(other + 1, runs - other, risk), 1.0)
    bounds: NDArray[np.float64] = np.log(np.maximum(low - delta, high) / high)  # at least 0
    return bounds


def _choose(
    left: Sample, right: Sample, outcomes: Collection[Any] | None, delta: float, risk: float
) -> Distinguisher:
    """The event with the best bound: ordered on one quarter of the runs, scored on the next."""
    half = len(left) // 2
    best: tuple[float, Distinguisher] | None = None
    for text, view in _views(left[:half], right[:half], outcomes):
        labels = [view(part) for part in (left[:half], right[:half], left[half:], right[half:])]
        names, places = np.unique(np.concatenate(labels), return_inverse=True)
        ends = np.cumsum([len(part) for part in labels])[:-1]
        order_left, order_right, score_left, score_right = (
            np.bincount(part, minlength=len(names)) for part in np.split(places, ends)
        )
        order = np.argsort(-(order_left + 0.5) / (order_right + 0.5), kind="stable")
        bounds = _epsilon(
            np.cumsum(score_left[order]), np.cumsum(score_right[order]), len(left) - half, delta, risk
        )
        at = int(bounds.argmax())
        if best is None or bounds[at] > best[0]:
            kept = names[order[: at + 1]]
            best = (
                float(bounds[at]),
                Distinguisher(f"{text} ({len(kept)} of {len(names)} labels)", view, kept),
            )
    if best is None:  # pragma: no cover - _views gives at least one view
        raise ParameterError("there are no outcomes to tell apart")
    return best[1]


def _views(
    left: Sample, right: Sample, outcomes: Collection[Any] | None
) -> Iterator[tuple[str, Callable[[Sample], Labels]]]:
    keys = [*_keys(left), *_keys(right)]
    sample = [*left, *right]
    if outcomes is not None:
        distinct = dict(zip(keys, sample, strict=True))
        given = {outcome_key(outcome) for outcome in outcomes}
        given |= {key for key, value in distinct.items() if _is_among(value, outcomes)}
        yield "set of the given outcomes", _label_view(_keys, given)
        return
    repeated = [key for key, count in Counter(keys).most_common(_ATOMS) if count > 1]
    yield "set of outcomes", _label_view(_keys, repeated)
    kinds = [key for key, _ in Counter([*_kinds(left), *_kinds(right)]).most_common(_ATOMS)]
    if len(kinds) > 1:
        yield "types of outcomes", _label_view(_kinds, kinds)
    if all(isinstance(value, float | int | np.floating | np.integer) for value in sample):
        edges = np.unique(np.quantile(np.nan_to_num(_numbers(sample)), np.linspace(0, 1, _BINS + 1)))
        yield "union of intervals", lambda values: np.searchsorted(edges, _numbers(values))
        yield "lowest set bit", _lowest_bits


def _keys(values: Sample) -> list[Hashable]:
    """`outcome_key` of every outcome; of an array of numbers, all of one type, at once."""
    if not _is_plain(values):
        return [outcome_key(value) for value in values]
    size, raw = values.dtype.itemsize, values.tobytes()
    head = (values.dtype.type, values.dtype.str, ())
    return [(*head, raw[at : at + size]) for at in range(0, len(raw), size)]


def _kinds(values: Sample) -> list[Hashable]:
    """`outcome_kind` of every outcome; of an array of numbers, only the special ones one by one."""
    if not _is_plain(values) or not values.size:
        return [outcome_kind(value) for value in values]
    kinds: list[Hashable] = [outcome_kind(values.dtype.type(1))] * len(values)
    for at in np.flatnonzero((values == 0) | ~np.isfinite(values)).tolist():
        kinds[at] = outcome_kind(values[at])
    return kinds


def _is_plain(values: Sample) -> TypeGuard[NDArray[Any]]:
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.char in "?bBhHiIlLqQefd"


def _is_among(value: Any, outcomes: Collection[Any]) -> bool:
    """Whether a value equals one of the given outcomes, as Python compares."""
    try:
        return value in outcomes
    except (TypeError, ValueError):  # not hashable, or an array that has no one truth
        return False


def _label_view(
    keys_of: Callable[[Sample], list[Hashable]], labels: Collection[Hashable]
) -> Callable[[Sample], Labels]:
    place = {label: index for index, label in enumerate(labels)}
    return lambda values: np.fromiter(
        (place.get(key, -1) for key in keys_of(values)), dtype=np.int64, count=len(values)
    )


def _numbers(values: Sample) -> NDArray[np.float64]:
    """Outcomes as floats: integers beyond all floats as infinities, what is no number at all as NaN."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        return np.array([_number(value) for value in values])


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def _predicate_view(event: Callable[[Any], bool]) -> Callable[[Sample], Labels]:
    return lambda values: np.fromiter((bool(event(v)) for v in values), dtype=np.int64, count=len(values))


def _lowest_bits(values: Sample) -> Labels:
    """The exponent of the lowest set bit of each float: sums show the coarser grid of their larger part."""
    numbers = _numbers(values)
    finite = np.isfinite(numbers) & (numbers != 0)
    fraction, exponent = np.frexp(np.where(finite, np.abs(numbers), 1.0))
    whole = np.ldexp(fraction, 53).astype(np.int64)
    lowest: Labels = exponent.astype(np.int64) - 53 + np.log2(whole & -whole).astype(np.int64)
    special = numbers[~finite]  # zeros, infinities and NaN, each with its sign
    lowest[~finite] = _NOT_FINITE + 2 * (np.isinf(special) + 2 * np.isnan(special)) + np.signbit(special)
    return lowest


def _name(event: Callable[[Any], bool]) -> str:
    return getattr(event, "__name__", "as given").replace("<lambda>", "as given")
