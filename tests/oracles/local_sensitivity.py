"""Sensitivities of every kind, read off a finite universe from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.oracles.universe import Universe


def _as_columns(scores: np.ndarray) -> np.ndarray:
    scores = np.asarray(scores)
    return scores[:, None] if scores.ndim == 1 else scores


def _one_step(universe: Universe, utility: np.ndarray) -> np.ndarray:
    """[database, candidate]: max over neighbours z of |u(x, r) - u(z, r)|; 0 without neighbours."""
    utility = _as_columns(utility)
    result = np.zeros_like(utility)
    for x, near in enumerate(universe.adjacent):
        if near:
            result[x] = np.abs(utility[list(near)] - utility[x]).max(axis=0)
    return result


def element_local_sensitivity(universe: Universe, utility: np.ndarray) -> np.ndarray:
    """LS(x, t, r) = max over d(x, y) <= t and z next to y of |u(y, r) - u(z, r)|.

    `utility` is [database, candidate]; the result [database, t, candidate] for t = 0..diameter.
    """
    step = _one_step(universe, utility)
    distance = universe.distance
    result = np.zeros((len(universe), universe.diameter + 1, step.shape[1]), dtype=step.dtype)
    for x in range(len(universe)):
        for t in range(universe.diameter + 1):
            result[x, t] = step[distance[x] <= t].max(axis=0)
    return result


def local_sensitivity(universe: Universe, utility: np.ndarray) -> np.ndarray:
    """LS(x, t) = max over candidates of LS(x, t, r), as [database, t]; for a number pass one column."""
    return element_local_sensitivity(universe, utility).max(axis=2)


def global_sensitivity(universe: Universe, utility: np.ndarray) -> float:
    """Delta = max over neighbours and candidates of |u(x, r) - u(y, r)|."""
    return _one_step(universe, utility).max()


def smooth_sensitivity(universe: Universe, f: np.ndarray, beta: float) -> np.ndarray:
    """S(x) = max over all y of exp(-beta d(x, y)) LS(y), for a number f or the worst candidate of a utility."""
    local = _one_step(universe, f).max(axis=1).astype(float)
    return (np.exp(-beta * universe.distance) * local[None, :]).max(axis=1)


def is_smooth(universe: Universe, bound: np.ndarray, beta: float, *, tolerance: float = 1e-12) -> bool:
    """Whether bound(x) <= e^beta bound(y) for all neighbours."""
    return all(bound[x] <= np.exp(beta) * bound[y] * (1 + tolerance) for x, y in universe.pairs())


def is_admissible(
    universe: Universe, utility: np.ndarray, delta: np.ndarray, *, tolerance: float = 0.0
) -> bool:
    """Whether delta[x, 0, r] >= LS(x, 0, r) and delta[x, t+1, r] >= delta[y, t, r] for neighbours x != y.

    `delta` is [database, t, candidate]. The paper's d(x, y) <= 1 would also ask delta(x, t+1) >= delta(x, t), which
    nothing needs.
    """
    delta = np.asarray(delta)
    if (delta[:, 0, :] < _one_step(universe, utility) - tolerance).any():
        return False
    return not any((delta[x, 1:] < delta[y, :-1] - tolerance).any() for x, y in universe.pairs())


def winners(utility: np.ndarray, tie_order: Sequence[int] | None = None) -> np.ndarray:
    """The candidate of largest utility in each database; of equals, the one earliest in `tie_order`."""
    order = list(range(utility.shape[1])) if tie_order is None else list(tie_order)
    return np.array(order)[np.argmax(utility[:, order], axis=1)]


def changes_to_win(
    universe: Universe, utility: np.ndarray, tie_order: Sequence[int] | None = None
) -> np.ndarray:
    """[database, candidate]: fewest changes until the candidate is the winner; inf where it never is."""
    won = winners(utility, tie_order)
    result = np.full(utility.shape, np.inf)
    for r in range(utility.shape[1]):
        if (won == r).any():
            result[:, r] = universe.distance[:, won == r].min(axis=1)
    return result


def changes_to_lose(
    universe: Universe, utility: np.ndarray, tie_order: Sequence[int] | None = None
) -> np.ndarray:
    """q(x): fewest changes until another candidate is the winner; inf if there is only one winner."""
    return changes_of_value(universe, winners(utility, tie_order))


def changes_of_value(universe: Universe, value: np.ndarray) -> np.ndarray:
    """Fewest changes until a function of the database takes another value than here; inf if constant."""
    other = value[None, :] != value[:, None]
    return np.where(other, universe.distance, np.inf).min(axis=1)


def changes_to_value(universe: Universe, value: np.ndarray, targets: Sequence[object]) -> np.ndarray:
    """[database, target]: fewest changes until the function takes that value; inf if it never does."""
    result = np.full((len(universe), len(targets)), np.inf)
    for j, target in enumerate(targets):
        hit = value == target
        if hit.any():
            result[:, j] = universe.distance[:, hit].min(axis=1)
    return result
