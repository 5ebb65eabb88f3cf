"""The percentile: brute force against the specification's formulas, which live only in this file."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import percentile, universe
from tests.oracles.selection_laws import dampening
from tests.oracles.test_oracles import golden


def stated_profile(x: tuple[int, ...], r: int, k: int, top: int, t: int) -> int:
    """LS(x, t, r) as the specification states it.

    w are the n-1 values of the others, repeats kept. For k = 1, A = 0 at *every* s and for k = n, B = top at every s:
    this matters only for n = 1. The terms marked t >= 1 and those guarded by k > 1 (k < n) are too large without
    their guards.
    """
    n, v, others = len(x), x[r], sorted(x[:r] + x[r + 1 :])

    def w(i: int) -> int:
        return 0 if i <= 0 else top if i >= n else others[i - 1]

    def lower(s: int) -> int:
        return 0 if k == 1 else w(k - 1 + s)

    def upper(s: int) -> int:
        return top if k == n else w(k + s)

    def side(v: int, A, B, movable: bool) -> int:
        terms = [A(t) - v, min(v, A(t) - max(0, v - B(t)))]
        if movable:
            terms.append(B(t) - max(A(0), v))
        if t >= 1:
            terms.append(A(t - 1))
            if movable:
                terms.append(B(t - 1) - A(0))
        return max(terms)

    mirrored = side(top - v, lambda s: top - upper(-s), lambda s: top - lower(-s), k < n)
    return max(side(v, lower, upper, k > 1), mirrored)


def stated_utility(x: tuple[int, ...], r: int, k: int, top: int) -> int:
    n, v, others = len(x), x[r], sorted(x[:r] + x[r + 1 :])
    low = 0 if k == 1 else others[k - 2]
    high = top if k == n else others[k - 1]
    return -max(0, low - v, v - high)


SMALL = [(n, top) for n in (1, 2, 3) for top in (1, 2, 3, 4)] + [(4, 1), (4, 2), (4, 3)]
LARGE = [pytest.param(4, 4, marks=pytest.mark.slow), pytest.param(5, 2, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("n", "top"), SMALL + LARGE)
def test_stated_profile_is_exact_and_dampening_stays_between_minus_one_and_zero(n, top):
    for k in range(1, n + 1):
        space, utility, local = percentile.percentile_sensitivity(n, top, k)
        assert (local[:, 0] >= -utility).all()
        horizon = min([n - k + 2] * (k > 1) + [k + 1] * (k < n), default=None)
        for i, x in enumerate(space.databases):
            for r in range(n):
                assert stated_utility(x, r, k, top) == utility[i, r]
                stated = [stated_profile(x, r, k, top, t) for t in range(space.diameter + 2)]
                assert stated == [*local[i, :, r], local[i, -1, r]]
                assert horizon is None or set(stated[horizon:]) <= {top}
                assert -1 <= dampening(int(utility[i, r]), lambda t, stated=stated: stated[t]) <= 0


def test_the_print_misses_the_maximum():
    entry = golden("percentile", "algorithm2_counterexample")
    given = entry["inputs"]
    space, _, local = percentile.percentile_sensitivity(len(given["x"]), given["top"], given["k"])
    i = space.position[tuple(given["x"])]
    assert local[i, given["t"], given["r"]] == entry["value"]
    assert entry["value"] > golden("percentile", "algorithm2_value")["value"]
    assert local[i].T.tolist() == golden("percentile", "profile_1244")["value"]


def test_ranks():
    entry = golden("percentile", "ranks")
    assert [percentile.rank(p, n) for p, n in entry["inputs"]["percent_n"]] == entry["value"]


def test_replacements_until_the_order_statistic_moves():
    entry = golden("percentile", "replace_changes")
    for (x, k), value in zip(entry["inputs"]["cases"], entry["value"], strict=True):
        space = universe.multisets_replace(len(x), entry["inputs"]["top"])
        assert percentile.changes_to_move(space, lambda n, k=k: k)[space.position[tuple(x)]] == value


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_stated_replacements_are_exact(n):
    for top in (1, 3):
        space = universe.multisets_replace(n, top)
        for k in range(1, n + 1):
            moved = percentile.changes_to_move(space, lambda _, k=k: k)
            for i, x in enumerate(space.databases):
                v, below, upto = x[k - 1], sum(a < x[k - 1] for a in x), sum(a <= x[k - 1] for a in x)
                assert moved[i] == min([k - below] * (v > 0) + [upto - k + 1] * (v < top))


@pytest.mark.parametrize("percent", [1, 10, 25, 50, 75, 90, 99])
def test_stated_additions_and_removals_are_exact(percent):
    most, top = 8, 2
    space = universe.multisets_add_remove(most, top)

    def rank_of(n: int) -> int:
        return percentile.rank(percent, n)

    def stated(x: tuple[int, ...]) -> int:
        n, v = len(x), percentile.order_statistic(x, rank_of(len(x)))
        below, upto = sum(a < v for a in x), sum(a <= v for a in x)
        for total in range(1, 3 * most):
            for a in range(total + 1):
                b, size = total - a, n + 2 * a - total
                if size < 1:
                    continue
                if (v < top and upto - b < rank_of(size)) or (v > 0 and below + a >= rank_of(size)):
                    return total
        raise AssertionError("never moves")

    moved = percentile.changes_to_move(space, rank_of)
    trusted = [i for i, x in enumerate(space.databases) if len(x) + moved[i] - 1 <= most]
    assert len(trusted) > 60
    assert all(moved[i] == stated(space.databases[i]) for i in trusted)


def test_order_statistic_sensitivity_and_targets_agree_with_sorting():
    space = universe.multisets_replace(3, 4)
    local = percentile.order_statistic_local_sensitivity(space, lambda n: 2)
    i = space.position[(0, 1, 4)]
    assert local[i].tolist() == [3, 4, 4, 4]
    needed = percentile.changes_to_make(space, lambda n: 2, range(5))
    # The median of (0, 1, 4) is 1; 0 and 4 by moving the 1; 2 and 3 by moving the 1 too.
    assert needed[i].tolist() == [1, 0, 1, 1, 1]
    assert np.array_equal(needed.min(axis=1), np.zeros(len(space)))
