"""Laws on a lattice, compared exactly inside windows and by their own bounds, spot-checked, outside."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sordino.audit.deciding_event import DecidingEvent, find_worst_outcomes, mass
from sordino.audit.divergence import Floats, hockey_stick, smallest_epsilon
from sordino.audit.lattice_law import LatticeLaw
from sordino.audit.lattice_tails import Probes, check_stated, find_contradiction, is_found, probe
from sordino.audit.outcome import outcome_key
from sordino.audit.universe import NeighbouringPairs, Progress
from sordino.core.errors import ProofError

_LATTICE_CACHE = 1 << 25  # lattice masses kept in memory (256 MB of doubles)
_LATTICE_WINDOW = 1 << 24  # points of one window; more would be a step too small to prove anything with
_LARGEST_INDEX = 1 << 58
_COUNTS = 50.0  # 1 + |ln P| of the least mass that counts beside 1
_MARGIN = (
    64  # points read beyond a window on either side, or an eighth of it: only to check what is stated of them
)


@dataclass(frozen=True, slots=True)
class _Tail:
    """What holds of one pair outside its window: mass, largest loss, and why the loss is ∞ if it was not stated so."""

    mass: float
    loss: float
    refuted_at: int | None = None
    unfound: bool = False


@dataclass(frozen=True, slots=True)
class LatticeComparison:
    """Laws on a lattice: exact inside the union of a pair's windows, bounded by analysis outside.

    Each law is tabulated once, over the union of its own window and its neighbours', with a margin; a pair is compared
    on the overlap of its two tables, which holds the windows of both. What the laws state of their tails is believed as
    far as looking there (`sordino.audit.lattice_tails`) does not contradict it: where two laws differ by more than the
    stated loss, or a law's missing mass is not found outside, the loss of the tail counts as infinite. Masses are taken
    at the worse end of the error that a law states in ``log_error``.
    """

    pairs: NeighbouringPairs
    laws: tuple[LatticeLaw, ...]
    tolerance: float
    _windows: NDArray[np.int64] = field(init=False, repr=False)
    _margins: NDArray[np.int64] = field(init=False, repr=False)
    _errors: Floats = field(init=False, repr=False)
    _outside: Floats = field(init=False, repr=False)
    _found: NDArray[np.bool_] = field(init=False, repr=False)
    _probes: Probes | None = field(init=False, repr=False, default=None)
    _tables: OrderedDict[int, Floats] = field(init=False, repr=False, default_factory=OrderedDict)
    _tails: dict[int, _Tail] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        steps = {outcome_key(law.step): law.step for law in self.laws}
        if len(steps) > 1:
            raise ProofError(
                f"lattice laws have {len(steps)} different steps ({', '.join(map(repr, [*steps.values()][:3]))}, …): "
                "two grids tell databases apart by themselves; one public step is accepted"
            )
        joint = _joint_windows(self.pairs, self.laws)
        object.__setattr__(self, "_windows", joint)
        object.__setattr__(self, "_margins", np.maximum(_MARGIN, (joint[:, 1] - joint[:, 0]) // 8))
        object.__setattr__(self, "_errors", np.array([_stated_error(law) for law in self.laws]))
        masses = [self._inside_and_outside(index) for index in range(len(self.laws))]
        object.__setattr__(self, "_outside", np.array([outside for _, outside in masses]))
        if self._outside.any():
            object.__setattr__(self, "_probes", probe(self.laws, joint))
        found = [self._is_found(index, 1 - inside) for index, (inside, _) in enumerate(masses)]
        object.__setattr__(self, "_found", np.array(found))

    @property
    def scope(self) -> str:
        """See `LawComparison`."""
        return f"multiples of {self.laws[0].step}"

    @property
    def unseen(self) -> float:
        """See `LawComparison`."""
        return float(self._outside.max())

    # ---- what is read of one law ----------------------------------------------------------------------------------

    def _inside_and_outside(self, index: int) -> tuple[float, float]:
        """The mass in the window and the bound on that outside, which together must be able to make 1."""
        first, last = map(int, self._windows[index])
        margin = int(self._margins[index])
        inside = float(np.exp(self._table(index)[margin:-margin]).sum())
        outside = float(self.laws[index].tail_mass(first, last))
        database = self.pairs.databases[index]
        if not outside >= 0:
            raise ProofError(f"the tail mass of {database!r} is {outside!r}; >= 0 is accepted")
        spare = self._spare(index)
        if inside > 1 + spare or inside + outside < 1 - spare:
            raise ProofError(
                f"the law of {database!r} has mass {inside:.12g} inside its window and at most {outside:.3g} outside; "
                f"a total of 1 is accepted (tolerance {self.tolerance:g})"
            )
        return inside, outside

    def _spare(self, index: int) -> float:
        """By how much a mass may miss what it should be: the tolerance, and the law's error on what counts in it."""
        return self.tolerance + math.expm1(_COUNTS * float(self._errors[index]))

    def _is_found(self, index: int, missing: float) -> bool:
        """Whether the mass that the window lacks is seen outside; what lies within the tolerance need not be."""
        if self._probes is None or self._outside[index] == 0:
            return True
        first, last = map(int, self._windows[index])
        margin = int(self._margins[index])
        places, logs = self._probes.places, self._probes.logs[index]
        away = (places < first - margin) | (places > last + margin)
        near = self._table(index)
        logs = np.concatenate([near[:margin], near[-margin:], logs[away]])
        spare = self._spare(index)
        check_stated(logs, float(self._outside[index]), spare)
        if missing <= spare:
            return True
        margins = [np.arange(first - margin, first), np.arange(last + 1, last + margin + 1)]
        return is_found(np.concatenate([*margins, places[away]]), logs, (first, last), missing)

    def _table(self, index: int) -> Floats:
        """ln P over the window and a margin on either side."""
        table = self._tables.get(index)
        if table is None:
            margin = int(self._margins[index])
            first, last = int(self._windows[index, 0]) - margin, int(self._windows[index, 1]) + margin
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

    # ---- pairs ------------------------------------------------------------------------------------------------------

    def _ends(self, pair: int) -> tuple[int, int, int, int]:
        i, j = int(self.pairs.left[pair]), int(self.pairs.right[pair])
        first = int(max(self._windows[i, 0], self._windows[j, 0]))
        last = int(min(self._windows[i, 1], self._windows[j, 1]))
        return i, j, first, last

    def _part(self, index: int, first: int, last: int) -> Floats:
        start = int(self._windows[index, 0]) - int(self._margins[index])
        return self._table(index)[first - start : last + 1 - start]

    def _overlap(self, pair: int) -> tuple[int, int, Floats, Floats]:
        i, j, first, last = self._ends(pair)
        left, right = self._part(i, first, last), self._part(j, first, last)
        return first, last, left + self._off(i, left), right - self._off(j, right)

    def _off(self, index: int, logs: Floats) -> Floats:
        """How far each ln P may be off; an impossible outcome is stated exactly."""
        size = np.where(logs > -np.inf, np.abs(logs), 0.0)
        return np.asarray(self._errors[index] * (1 + size))

    def _tail(self, pair: int) -> _Tail:
        tail = self._tails.get(pair)
        if tail is None:
            tail = self._tails[pair] = self._checked_tail(pair)
        return tail

    def _checked_tail(self, pair: int) -> _Tail:
        i, j, first, last = self._ends(pair)
        law, other = self.laws[i], self.laws[j]
        outside, loss = float(law.tail_mass(first, last)), float(law.tail_loss(other, first, last))
        if math.isnan(loss) or math.isnan(outside):
            raise ProofError("tail_mass and tail_loss must be numbers, got NaN")
        if outside == 0 or loss == math.inf:
            return _Tail(outside, loss)
        if not self._found[i]:
            return _Tail(outside, math.inf, unfound=True)
        at = self._contradicted(pair, loss)
        return _Tail(outside, loss) if at is None else _Tail(outside, math.inf, refuted_at=at)

    def _contradicted(self, pair: int, loss: float) -> int | None:
        """An outcome outside the pair's window where the two laws differ by more than is stated."""
        i, j, first, last = self._ends(pair)
        errors = float(self._errors[i] + self._errors[j])
        margin = int(min(self._margins[i], self._margins[j]))
        for low, high in ((first - margin, first - 1), (last + 1, last + margin)):
            at = find_contradiction(
                self._part(i, low, high), self._part(j, low, high), loss, self.tolerance, errors
            )
            if at is not None:
                return low + at
        if self._probes is not None:
            places = self._probes.places
            outside = np.flatnonzero((places < first) | (places > last))
            left, right = self._probes.logs[i][outside], self._probes.logs[j][outside]
            at = find_contradiction(left, right, loss, self.tolerance, errors)
            if at is not None:
                return int(places[outside[at]])
        return None

    def _needed(self, pair: int, delta: float) -> tuple[float, bool]:
        """The least ε of one pair (an upper bound if the tail decides) and whether the tail decides."""
        _, _, left, right = self._overlap(pair)
        tail = self._tail(pair)
        inside = float(smallest_epsilon(left[None], right[None], delta)[0][0])
        if tail.mass == 0 or tail.loss <= inside:
            return inside, False
        if delta > tail.mass:  # pay for the tail with a part of delta, if that is cheaper than its loss
            paid = float(smallest_epsilon(left[None], right[None], delta - tail.mass)[0][0])
            if paid <= tail.loss:
                return paid, False
        return tail.loss, True

    def worst_epsilon(self, delta: float, progress: Progress | None = None) -> tuple[float, int]:
        """See `LawComparison`."""
        worst, at = -1.0, 0
        for pair in range(len(self.pairs)):
            needed, _ = self._needed(pair, delta)
            if needed > worst:
                worst, at = needed, pair
            if progress is not None:
                progress(pair + 1, len(self.pairs))
        return worst, at

    def worst_delta(self, epsilon: float) -> tuple[float, int]:
        """See `LawComparison`."""
        worst, at = -1.0, 0
        for pair in range(len(self.pairs)):
            _, _, left, right = self._overlap(pair)
            spent = float(hockey_stick(left[None], right[None], epsilon)[0])
            tail = self._tail(pair)
            spent += tail.mass if tail.loss > epsilon else 0.0
            if spent > worst:
                worst, at = spent, pair
        return min(worst, 1.0), at

    def event(self, pair: int, delta: float) -> DecidingEvent:
        """See `LawComparison`."""
        first, _, left, right = self._overlap(pair)
        step = self.laws[0].step
        if self._needed(pair, delta)[1]:
            return self._tail_event(pair)
        chosen = find_worst_outcomes(left, right, delta)
        p, q = mass(left[chosen]), mass(right[chosen])
        if not delta:
            return DecidingEvent((first + int(chosen[0])) * step, p, q)
        runs = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
        return DecidingEvent(
            tuple(((first + int(r[0])) * step, (first + int(r[-1])) * step) for r in runs), p, q
        )

    def _tail_event(self, pair: int) -> DecidingEvent:
        i, j, first, last = self._ends(pair)
        step, tail = self.laws[0].step, self._tail(pair)
        if tail.refuted_at is not None:
            k = tail.refuted_at
            return DecidingEvent(
                k * step, mass(self.laws[i].log_masses(k, k)), mass(self.laws[j].log_masses(k, k))
            )
        why = "mass is stated there, and looking did not find it" if tail.unfound else "analytic bound"
        text = f"outside [{first * step}, {last * step}] ({why})"
        return DecidingEvent(text, tail.mass, float(self.laws[j].tail_mass(first, last)))


def _joint_windows(pairs: NeighbouringPairs, laws: tuple[LatticeLaw, ...]) -> NDArray[np.int64]:
    """For every law the union of its own window and its neighbours'."""
    windows = [tuple(map(int, law.window())) for law in laws]
    if any(abs(end) > _LARGEST_INDEX for window in windows for end in window):
        raise ProofError(
            f"a lattice window reaches beyond {_LARGEST_INDEX} steps from 0; prove the mechanism nearer to 0 or with a "
            "larger step"
        )
    own = np.array(windows, dtype=np.int64)
    if np.any(own[:, 0] > own[:, 1]):
        raise ProofError("a lattice law's window must have first <= last")
    joint = own.copy()
    np.minimum.at(joint[:, 0], pairs.left, own[pairs.right, 0])
    np.maximum.at(joint[:, 1], pairs.left, own[pairs.right, 1])
    if (widest := int((joint[:, 1] - joint[:, 0]).max())) >= _LATTICE_WINDOW:
        raise ProofError(
            f"a lattice window has {widest + 1} points; at most {_LATTICE_WINDOW} are accepted: "
            "prove the mechanism with a larger step"
        )
    return joint


def _stated_error(law: LatticeLaw) -> float:
    error = float(getattr(law, "log_error", 0.0))
    if not 0 <= error < math.inf:
        raise ProofError(f"log_error must be a finite number >= 0, got {error!r}")
    return error
