"""The output laws of a universe, held so that all neighbouring pairs can be compared."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.audit.divergence import Floats, hockey_stick, log_ratios, smallest_epsilon
from sordino.audit.lattice_law import LatticeLaw
from sordino.audit.universe import NeighbouringPairs
from sordino.core.errors import ProofError

_CHUNK = 1 << 19  # outcomes of one vectorised comparison: fits the cache of a small machine
_LATTICE_CACHE = 1 << 25  # lattice masses kept in memory (256 MB of doubles)
_LATTICE_WINDOW = (
    1 << 24
)  # lattice points of one window; more would be a step too small to prove anything with

Progress = Callable[[int, int], None]


class LogLaw:
    """A law given as natural logarithms of its probabilities, so that tiny ones stay exact."""

    __slots__ = ("log_probabilities",)

    def __init__(self, log_probabilities: ArrayLike) -> None:
        self.log_probabilities = np.asarray(log_probabilities, dtype=np.float64)

    def __repr__(self) -> str:
        return f"LogLaw({self.log_probabilities.tolist()!r})"


@dataclass(frozen=True, slots=True)
class Event:
    """A worst outcome, or worst set of outcomes, of one pair with both of its probabilities."""

    outcome: Any
    left: float
    right: float


class Comparison(Protocol):
    """What a proof asks of the laws; answers are (value, index of the ordered pair)."""

    def worst_epsilon(self, delta: float, progress: Progress | None = None) -> tuple[float, int]:
        """The largest, over pairs, of the least ε that meets ``delta``."""

    def worst_delta(self, epsilon: float) -> tuple[float, int]:
        """The largest δ(ε) over pairs."""

    def event(self, pair: int, delta: float) -> Event:
        """The outcomes that decide the least ε of one pair."""


@dataclass(frozen=True, slots=True)
class MatrixComparison:
    """Laws over finitely many common outcomes: one row of log-probabilities per database."""

    pairs: NeighbouringPairs
    log_law: Floats
    outcomes: Sequence[Any]

    def _chunks(self) -> Iterator[tuple[int, Floats, Floats]]:
        size = max(1, _CHUNK // self.log_law.shape[1])
        for start in range(0, len(self.pairs), size):
            chosen = slice(start, start + size)
            yield start, self.log_law[self.pairs.left[chosen]], self.log_law[self.pairs.right[chosen]]

    def worst_epsilon(self, delta: float, progress: Progress | None = None) -> tuple[float, int]:
        """See `Comparison`."""
        worst, at = -1.0, 0
        for start, left, right in self._chunks():
            needed, _ = smallest_epsilon(left, right, delta)
            best = int(needed.argmax())
            if needed[best] > worst:
                worst, at = float(needed[best]), start + best
            if progress is not None:
                progress(start + len(left), len(self.pairs))
        return worst, at

    def worst_delta(self, epsilon: float) -> tuple[float, int]:
        """See `Comparison`."""
        worst, at = -1.0, 0
        for start, left, right in self._chunks():
            spent = hockey_stick(left, right, epsilon)
            best = int(spent.argmax())
            if spent[best] > worst:
                worst, at = float(spent[best]), start + best
        return worst, at

    def event(self, pair: int, delta: float) -> Event:
        """See `Comparison`."""
        left = self.log_law[self.pairs.left[pair]]
        right = self.log_law[self.pairs.right[pair]]
        chosen = _worst_outcomes(left, right, delta)
        named = tuple(self.outcomes[k] for k in chosen)
        return Event(named if delta else named[0], _mass(left[chosen]), _mass(right[chosen]))


@dataclass(frozen=True, slots=True)
class LatticeComparison:
    """Laws on a lattice: exact inside the union of a pair's windows, bounded by analysis outside.

    Each law is tabulated once, over the union of its own window and its neighbours'; a pair is compared on the
    overlap of its two tables, which holds the windows of both.
    """

    pairs: NeighbouringPairs
    laws: tuple[LatticeLaw, ...]
    tolerance: float
    _windows: NDArray[np.int64] = field(init=False, repr=False)
    _tables: OrderedDict[int, Floats] = field(init=False, repr=False, default_factory=OrderedDict)

    def __post_init__(self) -> None:
        steps = {law.step for law in self.laws}
        if len(steps) > 1:
            raise ProofError(
                f"lattice laws have {len(steps)} different steps ({', '.join(map(str, sorted(steps)[:3]))}, …): "
                "two grids tell databases apart by themselves; one public step is accepted"
            )
        own = np.array([law.window() for law in self.laws], dtype=np.int64)
        if np.any(own[:, 0] > own[:, 1]):
            raise ProofError("a lattice law's window must have first <= last")
        joint = own.copy()
        np.minimum.at(joint[:, 0], self.pairs.left, own[self.pairs.right, 0])
        np.maximum.at(joint[:, 1], self.pairs.left, own[self.pairs.right, 1])
        if (widest := int((joint[:, 1] - joint[:, 0]).max())) >= _LATTICE_WINDOW:
            raise ProofError(
                f"a lattice window has {widest + 1} points; at most {_LATTICE_WINDOW} are accepted: "
                "prove the mechanism with a larger step"
            )
        object.__setattr__(self, "_windows", joint)
        for index in range(len(self.laws)):
            self._check_mass(index)

    def _check_mass(self, index: int) -> None:
        first, last = map(int, self._windows[index])
        inside = float(np.exp(self._table(index)).sum())
        outside = float(self.laws[index].tail_mass(first, last))
        if not outside >= 0:
            raise ProofError(
                f"the tail mass of {self.pairs.databases[index]!r} is {outside!r}; >= 0 is accepted"
            )
        if inside > 1 + self.tolerance or inside + outside < 1 - self.tolerance:
            raise ProofError(
                f"the law of {self.pairs.databases[index]!r} has mass {inside:.12g} inside its window and at most "
                f"{outside:.3g} outside; a total of 1 is accepted (tolerance {self.tolerance:g})"
            )

    def _table(self, index: int) -> Floats:
        table = self._tables.get(index)
        if table is None:
            first, last = map(int, self._windows[index])
            table = np.asarray(self.laws[index].log_masses(first, last), dtype=np.float64)
            if table.shape != (last - first + 1,):
                raise ProofError(
                    f"log_masses({first}, {last}) has shape {table.shape}; ({last - first + 1},) is accepted"
                )
            if np.isnan(table).any():
                raise ProofError(f"the lattice law of {self.pairs.databases[index]!r} has NaN masses")
            self._tables[index] = table
            while len(self._tables) > 2 and sum(map(len, self._tables.values())) > _LATTICE_CACHE:
                self._tables.popitem(last=False)
        else:
            self._tables.move_to_end(index)
        return table

    def _overlap(self, pair: int) -> tuple[int, int, Floats, Floats]:
        i, j = int(self.pairs.left[pair]), int(self.pairs.right[pair])
        first = int(max(self._windows[i, 0], self._windows[j, 0]))
        last = int(min(self._windows[i, 1], self._windows[j, 1]))
        parts = [self._table(k)[first - self._windows[k, 0] : last + 1 - self._windows[k, 0]] for k in (i, j)]
        return first, last, parts[0], parts[1]

    def _tail(self, pair: int, first: int, last: int) -> tuple[float, float]:
        law, other = self.laws[self.pairs.left[pair]], self.laws[self.pairs.right[pair]]
        mass, loss = float(law.tail_mass(first, last)), float(law.tail_loss(other, first, last))
        if math.isnan(loss) or math.isnan(mass):
            raise ProofError("tail_mass and tail_loss must be numbers, got NaN")
        return mass, loss

    def _needed(self, pair: int, delta: float) -> tuple[float, bool]:
        """The least ε of one pair (an upper bound if the tail decides) and whether the tail decides."""
        first, last, left, right = self._overlap(pair)
        mass, loss = self._tail(pair, first, last)
        inside = float(smallest_epsilon(left[None], right[None], delta)[0][0])
        if mass == 0 or loss <= inside:
            return inside, False
        if delta > mass:  # pay for the tail with a part of delta, if that is cheaper than its loss
            paid = float(smallest_epsilon(left[None], right[None], delta - mass)[0][0])
            if paid <= loss:
                return paid, False
        return loss, True

    def worst_epsilon(self, delta: float, progress: Progress | None = None) -> tuple[float, int]:
        """See `Comparison`."""
        worst, at = -1.0, 0
        for pair in range(len(self.pairs)):
            needed, _ = self._needed(pair, delta)
            if needed > worst:
                worst, at = needed, pair
            if progress is not None:
                progress(pair + 1, len(self.pairs))
        return worst, at

    def worst_delta(self, epsilon: float) -> tuple[float, int]:
        """See `Comparison`."""
        worst, at = -1.0, 0
        for pair in range(len(self.pairs)):
            first, last, left, right = self._overlap(pair)
            spent = float(hockey_stick(left[None], right[None], epsilon)[0])
            mass, loss = self._tail(pair, first, last)
            spent += mass if loss > epsilon else 0.0
            if spent > worst:
                worst, at = spent, pair
        return min(worst, 1.0), at

    def event(self, pair: int, delta: float) -> Event:
        """See `Comparison`."""
        first, last, left, right = self._overlap(pair)
        step = self.laws[0].step
        if self._needed(pair, delta)[1]:
            other = self.laws[self.pairs.right[pair]]
            text = f"outside [{first * step}, {last * step}] (analytic bound)"
            return Event(text, self._tail(pair, first, last)[0], float(other.tail_mass(first, last)))
        chosen = _worst_outcomes(left, right, delta)
        p, q = _mass(left[chosen]), _mass(right[chosen])
        if not delta:
            return Event((first + int(chosen[0])) * step, p, q)
        runs = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
        return Event(tuple(((first + int(r[0])) * step, (first + int(r[-1])) * step) for r in runs), p, q)


def _worst_outcomes(left: Floats, right: Floats, delta: float) -> NDArray[np.intp]:
    """The deciding event; for a pure loss, the likeliest of the outcomes that have it."""
    _, cut = smallest_epsilon(left[None], right[None], delta)
    ratios = log_ratios(left, right)
    if delta:
        event: NDArray[np.intp] = np.flatnonzero(ratios >= cut[0])
        return event
    tied = np.flatnonzero(ratios >= cut[0] - 1e-12)
    return tied[[int(left[tied].argmax())]]


def _mass(log_probabilities: Floats) -> float:
    return float(np.exp(log_probabilities).sum())


def compare(pairs: NeighbouringPairs, laws: Sequence[Any], tolerance: float) -> Comparison:
    """Bring the laws of all databases to one form, refusing laws that are none or not of one kind."""
    kinds = [_kind(law) for law in laws]
    if len(set(kinds)) > 1:
        at = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise ProofError(
            f"laws of different kinds: {kinds[0]} for {pairs.databases[0]!r}, {kinds[at]} for "
            f"{pairs.databases[at]!r}; one kind for all databases is accepted"
        )
    if kinds[0] == "lattice law":
        return LatticeComparison(pairs, tuple(laws), tolerance)
    if kinds[0] == "mapping":
        outcomes = list(dict.fromkeys(outcome for law in laws for outcome in law))
        rows = [
            _floats([law.get(outcome, 0.0) for outcome in outcomes], pairs, i) for i, law in enumerate(laws)
        ]
        return MatrixComparison(pairs, _logarithms(np.stack(rows), pairs, tolerance), outcomes)
    given_logs = kinds[0] == "LogLaw"
    rows = [_floats(law.log_probabilities if given_logs else law, pairs, i) for i, law in enumerate(laws)]
    for index, row in enumerate(rows):
        if row.ndim != 1 or row.shape != rows[0].shape or not row.size:
            raise ProofError(
                f"the law of {pairs.databases[index]!r} has shape {row.shape}, that of {pairs.databases[0]!r} "
                f"{rows[0].shape}; 1-D arrays over the same outcomes are accepted"
            )
    table = np.stack(rows)
    log_law = _checked_logs(table, pairs, tolerance) if given_logs else _logarithms(table, pairs, tolerance)
    return MatrixComparison(pairs, log_law, range(table.shape[1]))


def _kind(law: Any) -> str:
    if isinstance(law, LogLaw):
        return "LogLaw"
    if isinstance(law, Mapping):
        return "mapping"
    return "lattice law" if isinstance(law, LatticeLaw) else "array"


def _floats(values: Any, pairs: NeighbouringPairs, index: int) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProofError(
            f"the law of {pairs.databases[index]!r} is a {type(values).__name__} and no array of numbers; an array "
            "of probabilities, a mapping outcome -> probability, a LogLaw or a LatticeLaw is accepted"
        ) from None


def _logarithms(table: Floats, pairs: NeighbouringPairs, tolerance: float) -> Floats:
    _refuse_rows(~(table >= 0), "a negative or NaN probability", pairs)
    _check_masses(table.sum(axis=1), pairs, tolerance)
    with np.errstate(divide="ignore"):
        return np.log(table)


def _checked_logs(table: Floats, pairs: NeighbouringPairs, tolerance: float) -> Floats:
    _refuse_rows(~(table < np.inf), "an infinite or NaN log-probability", pairs)
    with np.errstate(over="ignore"):
        _check_masses(np.exp(table).sum(axis=1), pairs, tolerance)
    return table


def _refuse_rows(wrong: NDArray[np.bool_], what: str, pairs: NeighbouringPairs) -> None:
    if wrong.any():
        row = int(np.nonzero(wrong)[0][0])
        raise ProofError(f"the law of {pairs.databases[row]!r} has {what}")


def _check_masses(masses: Floats, pairs: NeighbouringPairs, tolerance: float) -> None:
    wrong = ~(np.abs(masses - 1) <= tolerance)
    if wrong.any():
        at = int(wrong.argmax())
        raise ProofError(
            f"the law of {pairs.databases[at]!r} has mass {masses[at]:.12g}; 1 is accepted (tolerance {tolerance:g})"
        )
