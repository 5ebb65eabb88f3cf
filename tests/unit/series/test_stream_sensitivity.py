"""Distances of streams: goldens, pruning, the cap, and couplings of random processors found by a linear programme."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

import sordino as sd
from sordino.core import ParameterError

bound = sd.series.stream_sensitivity


def carry_or_settle(w, v):
    return [[(w + v, (w + v) / 2)], [(0, w + v)]]


def test_deterministic_processors_are_folded():
    assert bound(lambda w, v: (w + v, w + v), [1, 0, 0, 0], horizon=4).families == (
        frozenset([(1, 1, 1, 1)]),
    )
    decay = bound(lambda w, v: (w / 2 + v, w / 2 + v), [1, 0, 0, 0], horizon=4)
    assert decay.families == (frozenset([(1, 0.5, 0.25, 0.125)]),)
    assert decay.loss() == 1.875


@pytest.mark.parametrize(("horizon", "loss"), [(1, 0.5), (2, 1), (3, 1), (6, 1)])
def test_carry_at_half_price_or_settle(horizon, loss):
    assert bound(carry_or_settle, [1] + [0] * 5, horizon=horizon, probabilistic=True).loss() == loss


def test_two_changes_to_carry_or_settle():
    found = bound(carry_or_settle, [1, 1, 0], horizon=3, probabilistic=True)
    assert set(found.families) == {
        frozenset([(0.5, 1, 1)]),
        frozenset([(0.5, 2, 0)]),
        frozenset([(1, 0.5, 0.5)]),
        frozenset([(1, 1, 0)]),
    }
    assert found.loss() == 2


def test_the_world_chooses():
    found = bound(lambda w, v: [[(w + v, 0), (0, w + v)]], [1, 0], horizon=2, probabilistic=True)
    assert found.families == (frozenset([(0, 1), (1, 0)]),)
    assert found.loss() == 1


def test_a_cap_is_said_and_keeps_the_best():
    free = bound(carry_or_settle, [1, 1, 1, 1, 0], horizon=5, probabilistic=True)
    few = bound(carry_or_settle, [1, 1, 1, 1, 0], horizon=5, probabilistic=True, cap=2)
    assert few.capped
    assert not free.capped
    assert set(few.families) <= set(free.families) or few.loss() >= free.loss()


def test_tables_are_processors():
    world = {"state": 0, "input": 1, "family": [[[1, 0], [0, 1]]]}
    settle = {"state": 1, "input": 0, "family": [[[0, 1]]]}
    table = {"moves": [world, settle, {"state": 0, "input": 0, "family": [[[0, 0]]]}]}
    assert bound(table, [1, 0], horizon=2).families == (frozenset([(0, 1), (1, 0)]),)
    with pytest.raises(ParameterError, match="no move"):
        bound(table, [1, 1], horizon=2)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: bound(carry_or_settle, [1], horizon=2, probabilistic=True),
        lambda: bound(carry_or_settle, [-1], horizon=1, probabilistic=True),
        lambda: bound(carry_or_settle, [1], horizon=0, probabilistic=True),
        lambda: bound(lambda w, v: [[]], [1], horizon=1, probabilistic=True),
        lambda: bound(lambda w, v: 3, [1], horizon=1),
        lambda: bound({"moves": [{"state": 0}]}, [1], horizon=1),
    ],
)
def test_bad_input_is_refused(ask):
    with pytest.raises(ParameterError):
        ask()


# -- random processors over {0, 1}: couplings from the definition ---------------------------------------------------

PAIRS = list(product((0, 1), repeat=2))


def is_coupled(one, other, allowed):
    """Whether two laws on the same outcomes have a coupling that only uses the allowed pairs of outcomes."""
    outcomes = sorted(set(one) | set(other))
    used = [(a, b) for a in outcomes for b in outcomes if allowed(a, b)]
    rows, right = [], []
    for outcome in outcomes:
        rows += [[float(a == outcome) for a, _ in used], [float(b == outcome) for _, b in used]]
        right += [one.get(outcome, 0.0), other.get(outcome, 0.0)]
    if not used:
        return False
    return linprog(np.zeros(len(used)), A_eq=np.array(rows), b_eq=right, bounds=(0, None)).status == 0


def below(pair, limits):
    return any(all(x <= y for x, y in zip(pair, limit, strict=True)) for limit in limits)


def exact_families(laws):
    """c(w, v): every set of maximal pairs (w', y) below which some coupling of every two close runs stays."""
    sets = [
        s
        for s in chain.from_iterable(combinations(PAIRS, size) for size in (1, 2))
        if len(s) == 1 or set(s) == {(0, 1), (1, 0)}
    ]

    def step(w, v):
        found = []
        for limits in sets:
            if all(
                is_coupled(
                    laws[s, x],
                    laws[t, z],
                    lambda a, b, limits=limits: below((abs(a[0] - b[0]), abs(a[1] - b[1])), limits),
                )
                for s, t in product((0, 1), repeat=2)
                if abs(s - t) <= w
                for x, z in product((0, 1), repeat=2)
                if abs(x - z) <= v
            ):
                found.append(limits)
        return found

    known = {(w, v): step(w, v) for w in (0, 1) for v in (0, 1)}
    return lambda w, v: known[int(w), int(v)]


def output_law(laws, inputs):
    states = {(0, ()): 1.0}
    for x in inputs:
        following = {}
        for (state, out), mass in states.items():
            for (after, y), chance in laws[state, x].items():
                key = (after, (*out, y))
                following[key] = following.get(key, 0.0) + mass * chance
        states = following
    law = {}
    for (_, out), mass in states.items():
        law[out] = law.get(out, 0.0) + mass
    return law


@pytest.mark.slow
def test_predicted_sets_are_met_by_couplings_of_random_processors():
    source = np.random.default_rng(3)
    met = 0
    for _ in range(4):
        laws = {}
        for key in PAIRS:
            weights = source.integers(0, 3, size=4) + (source.random(4) < 0.2)
            weights = weights if weights.sum() else np.ones(4, dtype=int)
            laws[key] = {
                pair: float(w) / float(weights.sum()) for pair, w in zip(PAIRS, weights, strict=True) if w
            }
        step = exact_families(laws)
        for inputs in product((0, 1), repeat=2):
            for others in product((0, 1), repeat=2):
                apart = [abs(a - b) for a, b in zip(inputs, others, strict=True)]
                predicted = bound(step, apart, horizon=2, probabilistic=True)
                one, other = output_law(laws, inputs), output_law(laws, others)
                for family in predicted.families:
                    if below((1, 1), family):
                        continue
                    met += 1
                    assert is_coupled(
                        one,
                        other,
                        lambda a, b, family=family: below((abs(a[0] - b[0]), abs(a[1] - b[1])), family),
                    )
    assert met > 8


def test_a_cap_also_limits_how_many_ways_are_looked_at():
    """Three outcomes with many sets each: all ways to pick one of each would be millions."""

    def step(w, v):
        return [
            [(w + v, (w + v) / 2), (w + 2 * v, v / 3), (0, w + v)],
            [(0, w + v + 0.1), (w + v, (w + v) / 3)],
        ]

    free = bound(step, [1] * 3, horizon=3, probabilistic=True)
    few = bound(step, [1] * 3, horizon=3, probabilistic=True, cap=1)
    long = bound(step, [1] * 5, horizon=5, probabilistic=True, cap=4)
    assert not free.capped
    assert few.loss() >= free.loss()
    assert long.capped
