"""Which group keys may be shown: the largest probability for a key of n units, and the law of the keys shown.

`growth` is e^epsilon and any fraction above 1, so that everything is exact.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from tests.oracles.units.linear_programme import maximise


def release_probabilities(
    most: int, growth: Fraction, delta: Fraction, *, min_units: int = 1
) -> list[Fraction]:
    """pi_0, ..., pi_most by the recursion; fewer than `min_units` units are never shown."""
    chain = [Fraction(0)] * min_units
    while len(chain) <= most:
        last = chain[-1]
        chain.append(min(growth * last + delta, 1 - (1 - last - delta) / growth, Fraction(1)))
    return chain[: most + 1]


def is_private(chain: Sequence[Fraction], growth: Fraction, delta: Fraction) -> bool:
    """Whether one unit more or less keeps both outcomes of every coin within (epsilon, delta)."""
    return all(
        p <= growth * q + delta and 1 - p <= growth * (1 - q) + delta
        for one, two in itertools.pairwise(chain)
        for p, q in ((one, two), (two, one))
    )


def best_possible(n: int, growth: Fraction, delta: Fraction) -> Fraction:
    """The largest pi_n of any chain pi_0 = 0, pi_1, ..., pi_n that is private: a linear programme."""
    rows, limits = [], []
    for i in range(n):
        for p, q in ((i, i + 1), (i + 1, i)):
            # p <= growth q + delta, and 1 - q <= growth (1 - p) + delta
            for larger, smaller, limit in ((1, -growth, delta), (growth, -1, growth - 1 + delta)):
                rows.append([larger if k == p else smaller if k == q else 0 for k in range(1, n + 1)])
                limits.append(limit)
    rows += [[int(i == k) for k in range(n)] for i in range(n)]
    return maximise([0] * (n - 1) + [1], rows, limits + [1] * n)[0]


def kept_keys(
    keys_of: Mapping[object, Iterable[object]], most: int, order: Callable[[object], object]
) -> dict[object, frozenset[object]]:
    """For each unit the first `most` of its keys in an order of keys that no data decide."""
    return {unit: frozenset(sorted(set(keys), key=order)[:most]) for unit, keys in keys_of.items()}


def units_per_key(kept: Mapping[object, Iterable[object]]) -> Counter[object]:
    """How many units hold each key."""
    return Counter(key for keys in kept.values() for key in set(keys))


def shown_law(
    counts: Mapping[object, int], growth: Fraction, delta: Fraction
) -> dict[frozenset[object], Fraction]:
    """P(exactly these keys are shown), one coin per key."""
    chain = release_probabilities(max(counts.values(), default=0), growth, delta)
    held = [key for key, n in counts.items() if n]
    law = {}
    for shown in itertools.product((False, True), repeat=len(held)):
        keys = frozenset(key for key, is_shown in zip(held, shown, strict=True) if is_shown)
        law[keys] = math.prod(
            (chain[counts[key]] if key in keys else 1 - chain[counts[key]] for key in held), start=Fraction(1)
        )
    return law


def hockey_stick(p: Mapping[object, Fraction], q: Mapping[object, Fraction], growth: Fraction) -> Fraction:
    """delta at e^epsilon = growth, the worse direction."""
    outcomes = p.keys() | q.keys()

    def one_way(a: Mapping[object, Fraction], b: Mapping[object, Fraction]) -> Fraction:
        return sum((max(Fraction(0), a.get(o, 0) - growth * b.get(o, 0)) for o in outcomes), Fraction(0))

    return max(one_way(p, q), one_way(q, p))
