from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import UnsupportedError
from sordino.sql.analysis.growth import (
    find_horizon,
    find_unit,
    grow_count,
    keep_undominated,
    make_whole_numbers,
    multiply_growths,
)
from tests.oracles.sql_bounds import allocations


def test_growth_is_the_best_over_all_ways_to_spend():
    rng = np.random.default_rng(1)
    for _ in range(150):
        width = int(rng.integers(1, 4))
        tables = [int(t) for t in rng.integers(-1, 2, size=width)]
        costs = [int(c) for c in rng.integers(1, 4, size=2)]
        n = [int(v) for v in rng.integers(0, 5, size=width)]
        count, factor = int(rng.integers(0, math.prod(n) + 1)), int(rng.integers(1, 4))
        found = grow_count(
            np.array([factor * count]), make_whole_numbers([n], width), tables, costs, factor=factor, steps=6
        )
        for k in range(7):
            best = max(
                math.prod(v + (rows[t] if t >= 0 else 0) for v, t in zip(n, tables, strict=True))
                for rows in allocations(k, costs)
            )
            assert found[k] == factor * (count + best - math.prod(n))


def test_growth_is_exact_beyond_sixty_four_bits():
    big = 10**15
    found = grow_count(
        make_whole_numbers([[0]], 1)[:, 0],
        make_whole_numbers([[big] * 3], 3),
        [0, 1, 2],
        [1] * 3,
        factor=1,
        steps=1,
    )
    assert found.tolist() == [0, big * big]
    assert multiply_growths(found, found).tolist() == [0, 0]
    both = make_whole_numbers([[big], [3 * big]], 1)[:, 0]
    assert multiply_growths(both, both).tolist() == [big**2, 3 * big**2]


def test_the_frontier_keeps_what_nothing_dominates():
    rng = np.random.default_rng(2)
    for _ in range(50):
        vectors = rng.integers(0, 6, size=(40, 3))
        kept = {tuple(v) for v in keep_undominated(vectors).tolist()}
        expected = {
            tuple(v)
            for v in vectors.tolist()
            if not any(all(a >= b for a, b in zip(w, v, strict=True)) and w != v for w in vectors.tolist())
        }
        assert kept == expected


def test_the_lattice_divides_all_weights():
    assert find_unit([Fraction(1), Fraction(3, 2)]) == Fraction(1, 2)
    assert find_unit([Fraction(2), Fraction(4)]) == 2
    assert find_unit([]) == 1


@pytest.mark.parametrize("beta", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("budgets", [((1, 1),), ((1, 2), (1, 1)), ((1, 1), (3, 2))])
def test_from_the_horizon_on_growth_loses_to_the_discount(beta, budgets):
    stop = find_horizon([(Fraction(g), c) for g, c in budgets], beta, Fraction(1))
    powers = [range(c + 1) for _, c in budgets]
    weights = [g for g, _ in budgets]
    for monomial in itertools.islice(itertools.product(*powers), 1, None):

        def best(k, monomial=monomial):
            return max(
                math.prod(r**p for r, p in zip(rows, monomial, strict=True))
                for rows in allocations(k, weights)
            )

        for k in range(stop, stop + 3):
            earlier = max(math.exp(beta * g) * best(k - g) for g in weights)
            assert best(k) <= earlier * (1 + 1e-9)


def test_too_many_distances_are_refused():
    with pytest.raises(UnsupportedError, match="larger epsilon"):
        find_horizon([(Fraction(1), 1)], 1e-6, Fraction(1))
