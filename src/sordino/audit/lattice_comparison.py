"""Laws on a lattice, compared exactly inside windows and by analytic bounds outside."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sordino.audit.deciding_event import Event, mass, worst_outcomes
from sordino.audit.divergence import Floats, hockey_stick, smallest_epsilon
from sordino.audit.lattice_law import LatticeLaw
from sordino.audit.universe import NeighbouringPairs, Progress
from sordino.core.errors import ProofError

_LATTICE_CACHE = 1 << 25  # lattice masses kept in memory (256 MB of doubles)
_LATTICE_WINDOW = (
    1 << 24
)  # lattice points of one window; more would be a step too small to prove anything with


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

    @property
    def scope(self) -> str:
        """See `Comparison`."""
        return f"multiples of {self.laws[0].step}"

    @property
    def unseen(self) -> float:
        """See `Comparison`."""
        return max(
            float(law.tail_mass(*map(int, w))) for law, w in zip(self.laws, self._windows, strict=True)
        )

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
        chosen = worst_outcomes(left, right, delta)
        p, q = mass(left[chosen]), mass(right[chosen])
        if not delta:
            return Event((first + int(chosen[0])) * step, p, q)
        runs = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
        return Event(tuple(((first + int(r[0])) * step, (first + int(r[-1])) * step) for r in runs), p, q)
