"""ε from what an attacker may gain, and back: how far the belief in a right guess can rise above its prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sordino.core import ParameterError
from sordino.core.parameters import positive
from sordino.risk.regions import Bounds, Leaf

Floats = NDArray[np.float64]
Metric = Callable[[Sequence[Floats]], Floats]
Score = Callable[[Bounds], Floats]

_TOLERANCE = 1e-6
_COARSE = 1e-3  # for several columns, whose cells are many
_EXTENTS = 40
_NARROWINGS = 20
_ROUNDS = 60
_MOST_CELLS = 8_000
_DOWN = 1 - 1e-12  # more than the rounding of one formula


@dataclass(frozen=True, slots=True)
class GuessingGoal:
    """Leaves of different columns, all of them (``every``) or at least one; ``metric`` turns their moves into distance.

    The columns are independent under the attacker's prior.
    """

    leaves: tuple[Leaf, ...]
    every: bool
    metric: Metric = field(compare=False)

    def bound(self, low: Floats, high: Floats, extent: Floats) -> Bounds:
        """For cells, one row each and one column per leaf. Where one success suffices only all values contain it."""
        if not self.every:
            extent = np.ones_like(extent)
        each = [leaf.bound(low[:, i], high[:, i], extent) for i, leaf in enumerate(self.leaves)]
        moves = [one.move for one in each]
        if self.every:
            products = [
                np.prod([getattr(one, part) for one in each], axis=0) for part in ("least", "most", "region")
            ]
            return Bounds(products[0], products[1], products[2], self.metric(moves))
        least, most = (
            1 - np.prod([1 - getattr(one, part) for one in each], axis=0) for part in ("least", "most")
        )
        whole = [np.full_like(move, leaf.reach()) for move, leaf in zip(moves, self.leaves, strict=True)]
        return Bounds(least, most, np.ones_like(least), self.metric(whole))

    def cells(self) -> tuple[Floats, Floats]:
        """All boxes of targets."""
        ends = [leaf.cells() for leaf in self.leaves]
        low, high = (
            np.stack(
                [axis.reshape(-1) for axis in np.meshgrid(*(end[side] for end in ends), indexing="ij")],
                axis=1,
            )
            for side in (0, 1)
        )
        return low, high


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst target: its number, which holds for all targets, where it is, and the extent of its best region."""

    value: float
    target: tuple[float, ...]
    extent: float
    prior: float


def allow_epsilon(bounds: Bounds, advantage: float) -> Floats:
    """The ε that keeps the belief of every target of a cell at most ``advantage`` above its prior, by one region each.

    After a release that is ε-private per unit of distance the posterior of H is at most 1/(1 + e^{-εa}(q - p)/p), where
    no success and no value of Q outside H are more than a apart. It is at most p + δ for
    ε ≤ (1/a)·ln((q - p)(p + δ)/(p(1 - p - δ))).
    """
    p, most = bounds.least, bounds.most
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = (
            np.log(bounds.region - most) + np.log(p + advantage) - np.log(most) - np.log(1 - p - advantage)
        )
        allowed = np.maximum(logarithm, 0.0) / bounds.move * _DOWN
    allowed = np.where(bounds.region <= most, 0.0, allowed)
    return np.where((p + advantage >= 1) | (most <= 0), np.inf, allowed)


def bound_advantage(bounds: Bounds, epsilon: float) -> Floats:
    """How far the belief of any target of a cell can rise above its prior, by one region each."""
    p, most = bounds.least, bounds.most
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(bounds.region - most) - np.log(most) - epsilon * bounds.move
    posterior = np.where(bounds.region <= most, 1.0, expit(-odds))
    return np.where(most <= 0, 0.0, np.minimum(posterior / _DOWN, 1.0) - p)


def find_least_epsilon(goal: GuessingGoal, advantage: float) -> Worst:
    """The least over all targets of the best `allow_epsilon` over nested regions."""
    advantage = check_advantage(advantage)
    return _find_worst(goal, lambda bounds: allow_epsilon(bounds, advantage))


def find_largest_advantage(goal: GuessingGoal, epsilon: float) -> Worst:
    """The largest over all targets of the least `bound_advantage` over nested regions."""
    epsilon = positive("epsilon", epsilon)
    found = _find_worst(goal, lambda bounds: -bound_advantage(bounds, epsilon))
    return replace(found, value=-found.value)


def find_epsilon_at(goal: GuessingGoal, target: Sequence[float], advantage: float) -> Worst:
    """The best ε for one target."""
    advantage = check_advantage(advantage)
    point = np.asarray([target], dtype=np.float64)
    return _look_at(goal, point, lambda bounds: allow_epsilon(bounds, advantage))


def find_advantage_at(goal: GuessingGoal, target: Sequence[float], epsilon: float) -> Worst:
    """The least advantage that is proved for one target."""
    epsilon = positive("epsilon", epsilon)
    point = np.asarray([target], dtype=np.float64)
    found = _look_at(goal, point, lambda bounds: -bound_advantage(bounds, epsilon))
    return replace(found, value=-found.value)


def _find_worst(goal: GuessingGoal, score: Score) -> Worst:
    """The least over all targets of the largest score over nested regions, by branch and bound.

    Not above the least, since every cell that is given up has a proved lower bound above it; and within the tolerance
    of it, unless cells run out, when the proved bound is returned all the same.
    """
    low, high = goal.cells()
    best, proved = Worst(math.inf, (), 1.0, 0.0), math.inf
    tolerance = _TOLERANCE if low.shape[1] == 1 else _COARSE
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        extent = _best_extent(goal, middle, score)
        at = goal.bound(middle, middle, extent)
        values = score(at)
        least = int(values.argmin())
        if values[least] < best.value or not best.target:
            best = Worst(
                float(values[least]),
                tuple(middle[least].tolist()),
                float(extent[least]),
                float(at.most[least]),
            )
        floors = score(goal.bound(low, high, extent))
        is_open = floors < best.value - tolerance * abs(best.value)
        proved = min(proved, float(floors[~is_open].min(initial=math.inf)))
        low, high, floors = low[is_open], high[is_open], floors[is_open]
        if not len(low) or len(low) * 2 > _MOST_CELLS:
            break
        low, high = _halve(low, high)
    return replace(best, value=min(proved, float(floors.min(initial=math.inf)), best.value))


def _look_at(goal: GuessingGoal, point: Floats, score: Score) -> Worst:
    extent = _best_extent(goal, point, score)
    at = goal.bound(point, point, extent)
    return Worst(float(score(at)[0]), tuple(point[0].tolist()), float(extent[0]), float(at.most[0]))


def allow_unknown(advantage: float, distance: float, *, known: float = 1.0) -> float:
    """The ε for any prior: (4/a)·artanh δ; where the region has prior weight q, (2/a)·ln((√q + √(δ(δ+q-1)))/(1-δ)).

    The worst prior has p = 1/(1 + e^{εa/2}), where the belief gains tanh(εa/4).
    """
    advantage, distance = check_advantage(advantage), positive("distance", distance)
    if not 0 < known <= 1:
        raise ParameterError(f"known must be in (0, 1], got {known!r}")
    if advantage >= 1:
        return math.inf
    if advantage < 1 - known:
        return 0.0
    root = math.sqrt(known) + math.sqrt(advantage * (advantage + known - 1))
    return 2 / distance * math.log(root / (1 - advantage)) * _DOWN


def bound_unknown(epsilon: float, distance: float) -> float:
    """The largest gain of belief over all priors: tanh(εa/4), rounded up."""
    gain = math.tanh(positive("epsilon", epsilon) * positive("distance", distance) / 4)
    return min(gain / _DOWN, 1.0)


def check_advantage(advantage: float) -> float:
    """In (0, 1]."""
    if not 0 < advantage <= 1:
        raise ParameterError(f"advantage must be in (0, 1], got {advantage!r}")
    return float(advantage)


def _best_extent(goal: GuessingGoal, points: Floats, score: Score) -> Floats:
    """For every target the extent with the largest score: a grid, then a narrowing search. Any extent is sound."""
    grid = np.linspace(0.0, 1.0, _EXTENTS + 1)[1:]
    values = np.stack([score(goal.bound(points, points, np.full(len(points), t))) for t in grid], axis=1)
    best = values.argmax(axis=1)
    low, high = (np.clip(grid[best] + side / _EXTENTS, 1e-9, 1.0) for side in (-1, 1))
    for _ in range(_NARROWINGS):
        third = (high - low) / 3
        inner, outer = (score(goal.bound(points, points, t)) for t in (low + third, high - third))
        is_right = inner < outer
        low, high = np.where(is_right, low + third, low), np.where(is_right, high, high - third)
    found = (low + high) / 2
    better = score(goal.bound(points, points, found)) >= values.max(axis=1)
    return np.asarray(np.where(better, found, grid[best]), dtype=np.float64)


def _halve(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Every cell cut in two along its longest side."""
    sides = high - low
    rows, axis = np.arange(len(low)), sides.argmax(axis=1)
    middle = (low + high)[rows, axis] / 2
    left, right = high.copy(), low.copy()
    left[rows, axis], right[rows, axis] = middle, middle
    return np.concatenate([low, right]), np.concatenate([left, high])
