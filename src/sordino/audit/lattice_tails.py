"""What lattice laws say about their tails, checked where one can look: near the windows, and ever further out.

A law states how much mass it has outside a window and how far a neighbour's may differ there. Nobody can look at
infinitely many outcomes, so a proof has to take such bounds from the analysis behind the law; it need not take them
unseen. Masses are read near the windows and at distances that grow geometrically, and compared with what is stated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.audit.divergence import Floats
from sordino.audit.lattice_law import LatticeLaw
from sordino.core.errors import ProofError

_BLOCK = 8  # neighbouring points read at each place: a law may live on every second or fourth point
_DOUBLINGS = 2  # from one distance to the next
_FURTHEST = 40  # doublings of the widest window
_LARGEST_INDEX = 1 << 60
_BETWEEN = 16  # places between windows that lie far apart
_FOUND = 0.25  # the estimate of a tail's mass is rough; less than this part of it does not count as found
_ROUNDING = 2.0**-44  # of a logarithm, relatively: far out it is a large number


@dataclass(frozen=True, slots=True)
class Probes:
    """The log-masses of every law at common places, in increasing order."""

    places: NDArray[np.int64]
    logs: tuple[Floats, ...]


def probe(laws: Sequence[LatticeLaw], windows: NDArray[np.int64]) -> Probes:
    """Read every law at the same few hundred places."""
    low, high = int(windows[:, 0].min()), int(windows[:, 1].max())
    middle, half = (low + high) // 2, (high - low) // 2 + 1
    distances = [half << doublings for doublings in range(0, _FURTHEST + 1, _DOUBLINGS)]
    starts = [middle - d - _BLOCK for d in distances] + [middle + d + 1 for d in distances]
    if half > int((windows[:, 1] - windows[:, 0]).max()):
        starts += [low + (high - low) * part // _BETWEEN for part in range(_BETWEEN)]
    blocks = sorted(s for s in starts if abs(s) < _LARGEST_INDEX)
    places = np.unique(np.concatenate([np.arange(s, s + _BLOCK) for s in blocks]))
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return Probes(places, tuple(_read(law, runs) for law in laws))


def _read(law: LatticeLaw, runs: Sequence[NDArray[np.int64]]) -> Floats:
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        parts = [np.asarray(law.log_masses(int(run[0]), int(run[-1])), dtype=np.float64) for run in runs]
    logs = np.concatenate(parts)
    if logs.shape != (sum(map(len, runs)),) or np.isnan(logs).any():
        raise ProofError(
            f"log_masses must give a number for every outcome, outside the window too; between {int(runs[0][0])} and "
            f"{int(runs[-1][-1])} it gives NaN or a wrong shape"
        )
    return logs


def check_stated(outside: Floats, stated: float, tolerance: float) -> None:
    """Refuse a law that has more mass where one looked outside its window than it states for all that lies there."""
    read = float(np.exp(outside).sum())
    if read > stated * (1 + tolerance) + tolerance:
        raise ProofError(
            f"a lattice law states a mass of at most {stated:.3g} outside its window, and {read:.3g} was found there; "
            "an upper bound is accepted"
        )


def is_found(places: NDArray[np.int64], logs: Floats, window: tuple[int, int], missing: float) -> bool:
    """Whether the mass that a window lacks is seen outside it, roughly.

    Between two places the mass is taken to follow a power of the distance from the window's middle, so the sum is an
    estimate. It is there to find out a law that keeps its mass elsewhere than it says.
    """
    first, last = window
    middle = (first + last) // 2
    found = 0.0
    for side in (places > last, places < first):
        distance = np.abs(places[side] - middle)
        order = np.argsort(distance)
        found += _estimate(distance[order], np.exp(logs[side][order]))
    return found >= _FOUND * missing


def _estimate(distance: NDArray[np.int64], masses: Floats) -> float:
    """The mass of one side: neighbouring points one by one, and what lies between two runs of them by a power law."""
    total = 0.0
    runs = (
        np.split(np.arange(len(distance)), np.flatnonzero(np.diff(distance) > 1) + 1) if len(distance) else []
    )
    previous: tuple[float, float] | None = None
    for run in runs:
        inner, outer = run[:_BLOCK], run[-_BLOCK:]
        near = float(distance[inner].mean()), max(float(masses[inner].mean()), 1e-320)
        if previous is not None:
            total += _between(*previous, *near)
        total += float(masses[run].sum())
        previous = float(distance[outer].mean()), max(float(masses[outer].mean()), 1e-320)
    return total


def _between(near: float, mass_near: float, far: float, mass_far: float) -> float:
    """∫ of the power law through two points."""
    stretch = math.log(far / near)
    power = math.log(mass_far / mass_near) / stretch + 1
    if abs(power) < 1e-9:
        return mass_near * near * stretch
    return (far * mass_far - near * mass_near) / power


def find_contradiction(
    left: Floats, right: Floats, stated: float, tolerance: float, error: float
) -> int | None:
    """The likeliest place where two laws differ by more than is stated, or None.

    ``error`` is what the two logarithms may be off together, relative to 1 + their size.
    """
    some = (left > -np.inf) | (right > -np.inf)
    with np.errstate(invalid="ignore"):
        loss = np.where(some, np.abs(left - right), 0.0)
        size = np.where(np.isfinite(loss) & some, np.maximum(np.abs(left), np.abs(right)), 0.0)
    wrong = np.flatnonzero(loss > stated + tolerance + error + (error + _ROUNDING) * size)
    return int(wrong[np.maximum(left, right)[wrong].argmax()]) if wrong.size else None
