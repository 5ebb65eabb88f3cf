"""Statistical attacks: a lower bound on ε of a mechanism that can only be run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from sordino.core import parameters
from sordino.core.errors import ParameterError

_BINS = 64
_ATOMS = 4096

Labels = NDArray[np.int64]
Sample = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Distinguisher:
    """An event over outcomes: a view of them as labels, and the labels that belong to the event."""

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
    ratio; for numbers also intervals and the lowest set bit of the float, which shows rounding); the other half
    judges it. ``event`` fixes the event, ``outcomes`` the labels to look at. ``vectorised`` mechanisms are called
    as ``mechanism(x, size)``. ``epsilon`` is the claim to test.

    Guarantee: the bound exceeds the true ε with probability at most 1 − ``confidence``: Clopper-Pearson bounds
    on fresh runs, divided over two directions and two binomials each.
    Requires: independent runs.
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
        hash(sample[0])
    except TypeError:
        raise ParameterError(
            f"an outcome must be a number or hashable, got {type(sample[0]).__name__}; wrap the mechanism so that "
            "it returns, for example, a tuple"
        ) from None
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
    for text, view in _views([*left[:half], *right[:half]], outcomes):
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
    sample: Sequence[Any], outcomes: Collection[Any] | None
) -> Iterator[tuple[str, Callable[[Sample], Labels]]]:
    if outcomes is not None:
        yield "set of the given outcomes", _atom_view(outcomes)
        return
    repeated = [outcome for outcome, count in Counter(sample).most_common(_ATOMS) if count > 1]
    yield "set of outcomes", _atom_view(repeated)
    if all(isinstance(value, float | int | np.floating | np.integer) for value in sample):
        numbers = np.nan_to_num(np.array(sample, dtype=np.float64))
        edges = np.unique(np.quantile(numbers, np.linspace(0, 1, _BINS + 1)))
        yield (
            "union of intervals",
            lambda values: np.searchsorted(edges, np.asarray(values, dtype=np.float64)),
        )
        yield "lowest set bit", _lowest_bits


def _atom_view(atoms: Collection[Any]) -> Callable[[Sample], Labels]:
    place = {atom: index for index, atom in enumerate(atoms)}
    return lambda values: np.fromiter((place.get(v, -1) for v in values), dtype=np.int64, count=len(values))


def _predicate_view(event: Callable[[Any], bool]) -> Callable[[Sample], Labels]:
    return lambda values: np.fromiter((bool(event(v)) for v in values), dtype=np.int64, count=len(values))


def _lowest_bits(values: Sample) -> Labels:
    """The exponent of the lowest set bit of each float: sums show the coarser grid of their larger part."""
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers) & (numbers != 0)
    fraction, exponent = np.frexp(np.where(finite, np.abs(numbers), 1.0))
    whole = np.ldexp(fraction, 53).astype(np.int64)
    lowest: Labels = exponent.astype(np.int64) - 53 + np.log2(whole & -whole).astype(np.int64)
    lowest[~finite] = 4096
    return lowest


def _name(event: Callable[[Any], bool]) -> str:
    return getattr(event, "__name__", "as given").replace("<lambda>", "as given")
