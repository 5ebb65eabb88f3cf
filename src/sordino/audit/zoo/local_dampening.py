"""Sensitivity functions of local dampening that do not dominate their neighbours'."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sordino.audit.check_profile import ProfileCheck, check_profile
from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import Counts, add_or_remove, list_counts_up_to, step_along

Floats = NDArray[np.float64]

# ---- admissibility as printed ------------------------------------------------------------------------------

_SCORES = (40.0, 41.0, 40.0, 41.0, 40.0, 60.0, 80.0)  # one candidate's score along a path; the other's is 0


def _local(place: int) -> float:
    return max(abs(_SCORES[place] - _SCORES[y]) for y in step_along(len(_SCORES), place))


def _frozen(place: int, t: int) -> float:
    """Never decreasing in t and at least LS(x, 0): all that the printed definition asks."""
    return _local(place)


def _walked(place: int, t: int) -> float:
    """LS(x, t): the largest local sensitivity within t steps."""
    return max(_local(y) for y in range(max(0, place - t), min(len(_SCORES), place + t + 1)))


def _dampened(score: float, profile: Callable[[int], float]) -> float:
    reached, i = 0.0, 0
    while reached + profile(i) <= score:
        reached += profile(i)
        i += 1
    return i + (score - reached) / profile(i)


def _dampening(profile: Callable[[int, int], float]) -> Proof:
    epsilon = 1.0

    def law(place: int) -> Floats:
        d = _dampened(_SCORES[place], lambda t: profile(place, t))
        winner = 1 / (1 + math.exp(-epsilon * d / 2))
        return np.array([winner, math.exp(-epsilon * d / 2) * winner])

    return prove(law, range(len(_SCORES)), lambda place: step_along(len(_SCORES), place), epsilon)


ADMISSIBILITY_AS_PRINTED = Specimen(
    name="dampening, admissibility as printed",
    claim="any δ with δ(x,0) ≥ LS(x,0) and δ(x,t+1) ≥ δ(x,t) makes local dampening ε-DP",
    flaw="the second condition must bound the neighbour, δ(x,t+1) ≥ δ(y,t); with x on both sides it binds nothing",
    source="local dampening (VLDBJ), Definition 6; its summary's Definition 7 is right",
    refute=lambda: _dampening(_frozen),
    repaired=lambda: _dampening(_walked),
)

# ---- percentile candidates ---------------------------------------------------------------------------------

_ROWS, _TOP = 4, 6
_RANK = (_ROWS + 2) // 2  # the print's median, ⌈(n+1)/2⌉
_HORIZON = 4


@cache
def _percentile_scores(values: Counts) -> tuple[int, ...]:
    middle = sorted(values)[_RANK - 1]
    return tuple(-abs(middle - v) for v in values)


def _replace(values: Counts) -> Iterator[Counts]:
    for row, new in product(range(_ROWS), range(_TOP + 1)):
        yield (*values[:row], new, *values[row + 1 :])


@cache
def _percentile_local(own: int, others: Counts) -> int:
    """LS(x, 0, r) of the label with value ``own`` by brute force."""
    score = _percentile_scores((own, *others))[0]
    return max(abs(score - _percentile_scores(y)[0]) for y in _replace((own, *others)))


_Labelled = tuple[int, Counts]  # the value of label r, and the sorted values of the others


def _replace_rank(database: _Labelled, new: int) -> _Labelled:
    """Set the element of rank k; of equal values, one that is not label r."""
    own, others = database
    below = sum(v < own for v in others)
    equal = sum(v == own for v in others)
    if below < _RANK <= below + equal + 1 and not equal:
        return new, others
    target = sorted((own, *others))[_RANK - 1]
    at = others.index(target)
    return own, tuple(sorted((*others[:at], new, *others[at + 1 :])))


@cache
def _percentile_algorithm(own: int, others: Counts) -> tuple[float, ...]:
    """The profile from the six candidate databases, as a running maximum over t."""
    x = (own, others)
    six = [
        (_TOP, others), x, (0, others), x, _replace_rank(x, _TOP), _replace_rank(x, 0)
    ]  # fmt: skip
    profile = [_percentile_local(*x)]
    for t in range(1, _HORIZON + 1):
        if t > 1:
            six = [_replace_rank(y, _TOP if place % 2 else 0) for place, y in enumerate(six)]
        profile.append(max(profile[-1], *(_percentile_local(*y) for y in six)))
    return tuple(map(float, profile))


@cache
def _percentile_exact(own: int, others: Counts) -> tuple[float, ...]:
    """LS(x, t, r) in closed form: eight cases and their mirror images."""

    def half(v: int, low: Callable[[int], int], high: Callable[[int], int], inner: bool, t: int) -> int:
        cases = [low(t) - v, min(v, low(t) - max(v - high(t), 0))]
        if inner:
            cases.append(high(t) - max(low(0), v))
        if t >= 1:
            cases.append(low(t - 1))
            if inner:
                cases.append(high(t - 1) - low(0))
        return max(cases)

    def other(i: int) -> int:
        return 0 if i <= 0 else _TOP if i >= _ROWS else others[i - 1]

    def low(s: int) -> int:
        return 0 if _RANK == 1 else other(_RANK - 1 + s)

    def high(s: int) -> int:
        return _TOP if _RANK == _ROWS else other(_RANK + s)

    return tuple(
        float(
            max(
                half(own, low, high, _RANK > 1, t),
                half(_TOP - own, lambda s: _TOP - high(-s), lambda s: _TOP - low(-s), _RANK < _ROWS, t),
            )
        )
        for t in range(_HORIZON + 1)
    )


def _percentile(profile: Callable[[int, Counts], tuple[float, ...]]) -> ProfileCheck:
    def table(values: Counts) -> Floats:
        return np.array(
            [profile(v, tuple(sorted((*values[:r], *values[r + 1 :])))) for r, v in enumerate(values)]
        )

    universe = product(range(_TOP + 1), repeat=_ROWS)
    return check_profile(table, universe, _replace, _percentile_scores, horizon=_HORIZON)


PERCENTILE_CANDIDATES = Specimen(
    name="percentile profile from six candidates",
    claim="six databases at distance t suffice to find LS(x,t,r) of the labelled percentile",
    flaw="the six miss the maximum, so δ is not admissible and the dampened score moves by more than 1",
    source="local dampening (VLDBJ), Algorithm 2 and Lemma 11",
    refute=lambda: _percentile(_percentile_algorithm),
    repaired=lambda: _percentile(_percentile_exact),
)

# ---- decision tree candidates ------------------------------------------------------------------------------

_TREE_ROWS, _TREE_HORIZON = 5, 4


def _growth(count: int) -> float:
    """f(x) = (x+1) log2 (x+1) − x log2 x, the step of x log2 x."""
    return (count + 1) * math.log2(count + 1) - (count * math.log2(count) if count else 0.0)


def _information(cells: Counts) -> float:
    """Σ_j Σ_c τ_jc log2(τ_jc/τ_j) of one attribute with two values and two classes."""
    total = 0.0
    for part in (cells[:2], cells[2:]):
        total += sum(c * math.log2(c / sum(part)) for c in part if c)
    return total


def _cell_sensitivity(a: int, b: int) -> float:
    removal = _growth(a - 1) - _growth(b - 1) if b else 0.0
    return max(_growth(a) - _growth(b), removal)


def _tree_profile(cells: Counts, *, stop: bool) -> list[float]:
    rows = sum(cells)
    found = {(sum(part), count) for part in (cells[:2], cells[2:]) for count in part}
    profile = [max(_cell_sensitivity(a, b) for a, b in found)]
    for _ in range(_TREE_HORIZON):
        fewer = {(a - 1, b - 1) for a, b in found if a > 0 and b > 0}
        more = {(a + 1, b) for a, b in found if not stop or a < rows}
        found = fewer | more
        profile.append(
            max(profile[-1], *(_cell_sensitivity(a, b) for a, b in found)) if found else profile[-1]
        )
    return profile


def _tree(*, stop: bool) -> ProfileCheck:
    return check_profile(
        lambda cells: _tree_profile(cells, stop=stop),
        list_counts_up_to(_TREE_ROWS, 4),
        add_or_remove,
        _information,
        horizon=_TREE_HORIZON,
        partial=True,
    )


TREE_STOP = Specimen(
    name="tree profile that stops at the row count",
    claim="candidate cells (a, b) need not grow past the table's own number of rows τ",
    flaw="rows can be added: the neighbour with one row more allows a larger cell",
    source="local dampening (VLDBJ), Algorithm 5, line 10",
    refute=lambda: _tree(stop=True),
    repaired=lambda: _tree(stop=False),
)
