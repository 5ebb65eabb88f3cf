"""ε from what an attacker may gain, and back: how far the belief in a right guess can rise above its prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sordino.core import ParameterError
from sordino.core.parameters import positive
from sordino.risk.regions import Leaf

Floats = NDArray[np.float64]
Metric = Callable[[Sequence[Floats]], Floats]
Score = Callable[["Bounds"], Floats]

_TOLERANCE = 1e-6
_COARSE = 1e-3  # for several columns, whose cells are many
_EXTENTS = 40
_NARROWINGS = 20
_ROUNDS = 60
_COARSE_ROUNDS = 12
_HALVED = 2_048  # cells in one round
_FIRST_CELLS = 4_096  # to begin with, for several columns
_MOST_PIECES = 256  # of one range to begin with
_DOWN = 1 - 1e-12  # more than the rounding of one formula
_ROUNDED = 1e-15  # of a difference of probabilities


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Of every cell: least and largest p, least q, and the largest distance between a success and the region."""

    least: Floats
    most: Floats
    region: Floats
    distance: Floats


@dataclass(frozen=True, slots=True)
class GuessingGoal:
    """Leaves of different columns, all of them (``every``) or at least one; ``metric`` turns their moves into distance.

    The columns are independent under the attacker's prior. ``denied``: the guess is that this is *not* so.
    """

    leaves: tuple[Leaf, ...]
    every: bool
    metric: Metric = field(compare=False)
    denied: bool = False

    def weigh(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Least and largest p of cells, one row each and one column per column of the goal."""
        each = [leaf.weigh(first, last) for leaf, first, last in self._split(low, high)]
        if self.every:
            least, most = (np.prod([one[side] for one in each], axis=0) for side in (0, 1))
        else:
            least, most = (1 - np.prod([1 - one[side] for one in each], axis=0) for side in (0, 1))
        return (1 - most, 1 - least) if self.denied else (least, most)

    def surround(self, low: Floats, high: Floats, extent: Floats, weights: tuple[Floats, Floats]) -> Bounds:
        """With the region of that extent.

        Where one success suffices, or it is denied, only all values contain all successes.
        """
        if not self.every:
            moves = [np.full(len(low), reach) for leaf in self.leaves for reach in leaf.reach()]
            return Bounds(*weights, np.ones(len(low)), self.metric(moves))
        if self.denied:
            extent = np.ones_like(extent)
        each = [leaf.surround(first, last, extent) for leaf, first, last in self._split(low, high)]
        distance = self.metric([move for one in each for move in one.moves])
        region = np.prod([one.weight for one in each], axis=0)
        return Bounds(*weights, np.ones_like(region) if self.denied else region, distance)

    def bound(self, low: Floats, high: Floats, extent: Floats) -> Bounds:
        """Both."""
        return self.surround(low, high, extent, self.weigh(low, high))

    def cells(self) -> tuple[Floats, Floats]:
        """Boxes that cover all targets."""
        columns = sum(len(leaf.columns) for leaf in self.leaves)
        most = min(_MOST_PIECES, max(1, int(_FIRST_CELLS ** (1 / columns))))
        ends = [end for leaf in self.leaves for end in leaf.cells(most)]
        low, high = (
            np.stack(
                [axis.reshape(-1) for axis in np.meshgrid(*(end[side] for end in ends), indexing="ij")],
                axis=1,
            )
            for side in (0, 1)
        )
        return low, high

    def _split(self, low: Floats, high: Floats) -> Iterator[tuple[Leaf, Floats, Floats]]:
        place = 0
        for leaf in self.leaves:
            end = place + len(leaf.columns)
            yield leaf, low[:, place:end], high[:, place:end]
            place = end


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
    ε ≤ (1/a)·ln((q - p)(p + δ)/(p(1 - p - δ))) = (1/a)·ln(1 + (q(p + δ) - p)/(p(1 - p - δ))).
    """
    p, most = bounds.least, bounds.most
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = (bounds.region * (p + advantage) - most - _ROUNDED) / (most * (1 - p - advantage))
        allowed = np.maximum(np.log1p(excess), 0.0) / bounds.distance * _DOWN
    allowed = np.where(bounds.region <= most, 0.0, allowed)
    return np.where((p + advantage >= 1) | (most <= 0), np.inf, allowed)


def bound_advantage(bounds: Bounds, epsilon: float) -> Floats:
    """How far the belief of any target of a cell can rise above its prior, by one region each."""
    p, most = bounds.least, bounds.most
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(bounds.region - most) - np.log(most) - epsilon * bounds.distance
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

    Not above the least: every cell has a proved lower bound, and the least of these is returned. Cells with the least
    bounds are halved first, until none is below the tolerance or rounds run out.
    """
    low, high = goal.cells()
    is_one = low.shape[1] == 1
    tolerance, rounds = (_TOLERANCE, _ROUNDS) if is_one else (_COARSE, _COARSE_ROUNDS)
    best, proved = Worst(math.inf, (), 1.0, 0.0), math.inf
    waiting = (low[:0], high[:0], np.empty(0))
    for _ in range(rounds):
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
        weights = goal.weigh(low, high)
        # wide cells are better off with all values than with the region of their middle
        tried = [score(goal.surround(low, high, t, weights)) for t in (extent, np.ones(len(low)))]
        found = (low, high, np.maximum(*tried))
        low, high, floors = (np.concatenate(pair) for pair in zip(waiting, found, strict=True))
        is_open = floors < best.value - tolerance * abs(best.value)
        proved = min(proved, float(floors[~is_open].min(initial=math.inf)))
        low, high, floors = low[is_open], high[is_open], floors[is_open]
        if not len(low):
            break
        order = np.argsort(floors, kind="stable")
        next_, later = order[:_HALVED], order[_HALVED:]
        waiting = (low[later], high[later], floors[later])
        proved_if_left = float(floors.min())
        low, high = _halve(low[next_], high[next_])
    else:
        proved = min(proved, proved_if_left)
    return replace(best, value=min(proved, best.value))


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
    weights = goal.weigh(points, points)

    def look(extent: Floats) -> Floats:
        return score(goal.surround(points, points, extent, weights))

    grid = np.linspace(0.0, 1.0, _EXTENTS + 1)[1:]
    values = np.stack([look(np.full(len(points), t)) for t in grid], axis=1)
    best = values.argmax(axis=1)
    low, high = (np.clip(grid[best] + side / _EXTENTS, 1e-9, 1.0) for side in (-1, 1))
    for _ in range(_NARROWINGS):
        third = (high - low) / 3
        is_right = look(low + third) < look(high - third)
        low, high = np.where(is_right, low + third, low), np.where(is_right, high, high - third)
    found = (low + high) / 2
    better = look(found) >= values.max(axis=1)
    return np.asarray(np.where(better, found, grid[best]), dtype=np.float64)


def _halve(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Every cell cut in two along its longest side."""
    sides = high - low
    rows, axis = np.arange(len(low)), sides.argmax(axis=1)
    middle = (low + high)[rows, axis] / 2
    left, right = high.copy(), low.copy()
    left[rows, axis], right[rows, axis] = middle, middle
    return np.concatenate([low, right]), np.concatenate([left, high])
