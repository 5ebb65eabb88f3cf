"""Sensitivity bounds against brute force: profiles by their definition, smooth bounds by theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.universe import NeighbouringPairs, Neighbours, pair_neighbours
from sordino.core import parameters
from sordino.core.errors import ProofError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BoundWitness:
    """Where a bound falls short most: what the definition asks for and what the bound gives.

    >>> import sordino as sd
    >>> universe = [(a, b) for a in range(4) for b in range(4)]
    >>> replaced = lambda x: [y for y in universe if (x[0] == y[0]) != (x[1] == y[1])]
    >>> check = sd.audit.check_profile(lambda x: [2.0, 2.0], universe, replaced, max, horizon=1)
    >>> check.witness.given, check.witness.required
    (2.0, 3.0)
    """

    condition: str
    database: Any
    neighbour: Any
    candidate: int
    distance: int
    given: float
    required: float

    def __str__(self) -> str:
        beside = "" if self.neighbour is None else f" beside {self.neighbour!r}"
        return (
            f"{self.condition} at {self.database!r}{beside}, candidate {self.candidate}, t = {self.distance}: "
            f"{self.given:.9g} given, {self.required:.9g} required"
        )


@dataclass(frozen=True, slots=True)
class ProfileCheck:
    """What a brute-force check of a bound found: the worst excess is required minus given, over all cases.

    >>> import sordino as sd
    >>> universe = [(a, b) for a in range(4) for b in range(4)]
    >>> replaced = lambda x: [y for y in universe if (x[0] == y[0]) != (x[1] == y[1])]
    >>> check = sd.audit.check_profile(lambda x: [2.0, 2.0], universe, replaced, max, horizon=1)
    >>> check.holds, check.worst_excess
    (False, 1.0)
    """

    holds: bool
    worst_excess: float
    witness: BoundWitness
    cases: int
    pairs: int
    tolerance: float

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return (
            f"{'holds' if self.holds else 'REFUTED'}: worst excess {self.worst_excess:.6g} "
            f"(tolerance {self.tolerance:g}; {self.cases:,} cases, {self.pairs:,} ordered pairs)\n"
            f"tightest case: {self.witness}"
        )


class _Worst:
    """The running worst of vectorised comparisons (rows: pairs or databases, columns: candidates)."""

    def __init__(self, pairs: NeighbouringPairs) -> None:
        self.pairs = pairs
        self.cases = 0
        self.excess = -math.inf
        self.witness: BoundWitness | None = None

    def compare(
        self, condition: str, given: Floats, required: Floats, distance: int, *, equal: bool = False
    ) -> None:
        with np.errstate(invalid="ignore"):
            excess = np.abs(required - given) if equal else required - given
        excess[given == required] = 0.0
        if np.isnan(excess).any():
            raise ProofError("a bound or a utility is NaN; numbers are accepted")
        self.cases += excess.size
        row, candidate = np.unravel_index(int(excess.argmax()), excess.shape)
        if excess[row, candidate] > self.excess:
            self.excess = float(excess[row, candidate])
            left = int(row) if equal else int(self.pairs.left[row])
            self.witness = BoundWitness(
                condition=condition,
                database=self.pairs.databases[left],
                neighbour=None if equal else self.pairs.databases[int(self.pairs.right[row])],
                candidate=int(candidate),
                distance=distance,
                given=float(given[row, candidate]),
                required=float(required[row, candidate]),
            )

    def verdict(self, tolerance: float) -> ProfileCheck:
        if self.witness is None:
            raise ProofError("nothing was compared; compare at least one case before the verdict")
        return ProfileCheck(
            self.excess <= tolerance, self.excess, self.witness, self.cases, len(self.pairs), tolerance
        )


def check_profile(
    profile_of: Callable[[Any], Any],
    universe: Iterable[Any],
    neighbours: Neighbours,
    utility: Callable[[Any], Any],
    *,
    horizon: int,
    tolerance: float = 1e-9,
    exact: bool = False,
    partial: bool = False,
) -> ProfileCheck:
    """Check that a sensitivity function δ is admissible, from the definition, on a whole universe.

    ``profile_of(x)`` gives δ(x, t, r): an array ``(T,)`` (all candidates alike) or ``(candidates, T)`` as
    `Profile.from_table` takes it, with T > horizon, or an object with ``at(t)``. ``utility(x)`` gives the scores
    of all candidates, or one number. With ``exact``, δ must equal the element local sensitivity LS(x, t, r),
    found by walking the neighbour graph, for every t up to ``horizon``.

    Guarantee: if it holds, δ(x, 0, r) ≥ LS(x, 0, r), and δ(x, t+1, r) ≥ δ(y, t, r) for all neighbours x, y and
    t < horizon, up to ``tolerance``.
    Source: local dampening, admissibility with the neighbour y on the right (the print has x on both sides).

    >>> import sordino as sd
    >>> universe = [(a, b) for a in range(4) for b in range(4)]
    >>> replaced = lambda x: [y for y in universe if (x[0] == y[0]) != (x[1] == y[1])]
    >>> flat = lambda x: [3.0, 3.0]  # the maximum of two values in 0 … 3 moves by at most 3
    >>> sd.audit.check_profile(flat, universe, replaced, max, horizon=1).holds
    True
    """
    horizon = parameters.whole("horizon", horizon, least=0)
    tolerance = parameters.non_negative("tolerance", tolerance)
    pairs = pair_neighbours(universe, neighbours, partial=partial)
    scores = _scores(pairs, utility)
    profiles = np.stack([_table(profile_of(x), scores.shape[1], horizon, x) for x in pairs.databases])
    worst = _Worst(pairs)
    local = np.abs(scores[pairs.left] - scores[pairs.right])
    if exact:
        sensitivity = np.zeros_like(scores)
        np.maximum.at(sensitivity, pairs.left, local)
        for t in range(horizon + 1):
            worst.compare("δ(x,t) = LS(x,t)", profiles[:, :, t], sensitivity, t, equal=True)
            further = sensitivity.copy()
            np.maximum.at(further, pairs.left, sensitivity[pairs.right])
            sensitivity = further
        return worst.verdict(tolerance)
    worst.compare("δ(x,0) ≥ |u(x) − u(y)|", profiles[pairs.left, :, 0], local, 0)
    for t in range(horizon):
        worst.compare("δ(x,t+1) ≥ δ(y,t)", profiles[pairs.left, :, t + 1], profiles[pairs.right, :, t], t)
    return worst.verdict(tolerance)


def check_smooth(
    bound_of: Callable[[Any], Any],
    universe: Iterable[Any],
    neighbours: Neighbours,
    value: Callable[[Any], Any],
    beta: float,
    *,
    tolerance: float = 1e-9,
    partial: bool = False,
) -> ProfileCheck:
    """Check that S is a β-smooth upper bound of the local sensitivity of ``value``, on a whole universe.

    ``bound_of(x)`` gives S(x) as a number or as an object with ``at(beta)``; ``value(x)`` a number, or several
    that share the bound.

    Guarantee: if it holds, S(x) ≥ |f(x) − f(y)| and e^β S(x) ≥ S(y) for all neighbours, up to ``tolerance``
    (in the second case as a share of S(y), because β is a rate).
    Source: Nissim, Raskhodnikova, Smith 2007, Definition 2.2.

    >>> import sordino as sd
    >>> universe = [(a, b) for a in range(4) for b in range(4)]
    >>> replaced = lambda x: [y for y in universe if (x[0] == y[0]) != (x[1] == y[1])]
    >>> sd.audit.check_smooth(lambda x: 3.0, universe, replaced, max, beta=0.1).holds
    True
    """
    beta = parameters.non_negative("beta", beta)
    tolerance = parameters.non_negative("tolerance", tolerance)
    pairs = pair_neighbours(universe, neighbours, partial=partial)
    values = _scores(pairs, value)
    bounds = np.array([[_number(bound_of(x), beta, x)] for x in pairs.databases])
    worst = _Worst(pairs)
    local = np.abs(values[pairs.left] - values[pairs.right])
    left, right = bounds[pairs.left], bounds[pairs.right]
    worst.compare("S(x) ≥ |f(x) − f(y)|", np.broadcast_to(left, local.shape), local, 0)
    scale = np.where((right > 0) & np.isfinite(right), right, 1.0)
    worst.compare("e^β S(x)/S(y) ≥ 1", math.exp(beta) * left / scale, right / scale, 1)
    return worst.verdict(tolerance)


def _scores(pairs: NeighbouringPairs, utility: Callable[[Any], Any]) -> Floats:
    rows = [np.atleast_1d(np.asarray(utility(x), dtype=np.float64)) for x in pairs.databases]
    for row, database in zip(rows, pairs.databases, strict=True):
        if row.ndim != 1 or row.shape != rows[0].shape:
            raise ProofError(
                f"the utility of {database!r} has shape {row.shape}, that of {pairs.databases[0]!r} "
                f"{rows[0].shape}; a number, or one score per candidate, is accepted"
            )
        if not row.size:
            raise ProofError(f"the utility of {database!r} scores nothing; at least one candidate is needed")
        if not np.isfinite(row).all():
            raise ProofError(f"the utility of {database!r} is not finite")
    return np.stack(rows)


def _table(profile: Any, candidates: int, horizon: int, database: Any) -> Floats:
    if hasattr(profile, "at"):
        columns = [np.asarray(profile.at(t), dtype=np.float64) for t in range(horizon + 1)]
        if any(column.shape not in ((), (1,), (candidates,)) for column in columns):
            raise ProofError(
                f"the profile of {database!r} has {columns[0].shape} values per distance for {candidates} candidates"
            )
        return np.stack([np.broadcast_to(column, (candidates,)) for column in columns], axis=1)
    table = np.asarray(profile, dtype=np.float64)
    if (
        table.ndim not in (1, 2)
        or table.shape[-1] <= horizon
        or (table.ndim == 2 and len(table) != candidates)
    ):
        raise ProofError(
            f"the profile of {database!r} has shape {table.shape}; (T,) or ({candidates}, T) with T > {horizon} "
            "is accepted, or an object with at(t)"
        )
    return np.broadcast_to(table[..., : horizon + 1], (candidates, horizon + 1))


def _number(bound: Any, beta: float, database: Any) -> float:
    value = float(bound.at(beta)) if hasattr(bound, "at") else float(bound)
    if not value >= 0:
        raise ProofError(f"the bound of {database!r} is {value!r}; a number >= 0 is accepted")
    return value
