"""Independence and coequalisers from their definitions, by trying everything."""

from __future__ import annotations

import itertools
from typing import Any

from tests.oracles.components import all_partitions


def joined(points: list[Any], metric: Any, rho: Any, sigma: Any, x: Any, y: Any, steps: int) -> bool:
    """x = x₀ ρ x₁ σ x₂ ρ … = y with d(x, y) = Σ d, in 2m ≤ ``steps`` steps, for numbers."""
    same = [lambda a, b, part=part: any(a in one and b in one for one in part) for part in (rho, sigma)]
    if x == y:
        return True
    for count in range(2, steps + 1, 2):
        for between in itertools.product(points, repeat=count - 1):
            way = [x, *between, y]
            pairs = list(itertools.pairwise(way))
            if all(same[number % 2](a, b) for number, (a, b) in enumerate(pairs)) and (
                sum(metric(a, b) for a, b in pairs) == metric(x, y)
            ):
                return True
    return False


def least_congruence(
    names: list[Any], add: Any, leq: Any, pairs: list[tuple[Any, Any]]
) -> set[frozenset[Any]]:
    """The finest partition that has the pairs, keeps sums and has no cycle of ≤ and equality between its classes."""
    good = []
    for partition in all_partitions(len(names)):
        classes = [{names[place] for place in one} for one in partition]

        def same(a: Any, b: Any, classes: Any = classes) -> bool:
            return any(a in one and b in one for one in classes)

        if not all(same(a, b) for a, b in pairs):
            continue
        if not all(
            same(add(a, c), add(b, d))
            for a, b, c, d in itertools.product(names, repeat=4)
            if same(a, b) and same(c, d)
        ):
            continue
        if _has_cycle(classes, leq):
            continue
        good.append({frozenset(one) for one in classes})
    (finest,) = (one for one in good if all(_finer(one, other) for other in good))
    return finest


def _finer(one: set[frozenset[Any]], other: set[frozenset[Any]]) -> bool:
    return all(any(a <= b for b in other) for a in one)


def _has_cycle(classes: Any, leq: Any) -> bool:
    """Whether different classes are joined by steps up in a circle, of any length."""
    count = range(len(classes))
    up = {(i, j) for i in count for j in count if any(leq(a, b) for a in classes[i] for b in classes[j])}
    for length in range(2, len(classes) + 1):
        for ring in itertools.permutations(count, length):
            if all((ring[k], ring[(k + 1) % length]) in up for k in range(length)):
                return True
    return False
