from __future__ import annotations

import math

import numpy as np
import pytest

from sordino.sql.analysis import spending
from sordino.sql.analysis.spending import find_largest_values
from tests.oracles.sql_bounds import allocations


def best_by_trying(terms, costs, k):
    return max(
        sum(c * math.prod(row**p for row, p in zip(rows, powers, strict=True)) for powers, c in terms)
        for rows in allocations(k, costs)
    )


def random_terms(rng, tables, degree, largest):
    return [
        (
            tuple(int(p) for p in rng.integers(0, degree + 1, size=tables)),
            int(rng.integers(0, 20)) * int(rng.choice([1, largest])),
        )
        for _ in range(int(rng.integers(1, 9)))
    ]


@pytest.mark.parametrize("degree", [1, 2])
def test_the_best_way_to_spend_is_the_best_of_all_ways(degree):
    rng = np.random.default_rng(degree)
    for _ in range(150):
        tables = int(rng.integers(1, 5))
        costs = [int(c) for c in rng.integers(1, 6, size=tables)]
        terms = random_terms(rng, tables, degree, 1000)
        last = int(rng.integers(0, 12))
        found = find_largest_values(terms, costs, last)
        assert found == [best_by_trying(terms, costs, k) for k in range(last + 1)], (terms, costs)


def test_values_that_64_bits_cannot_hold_are_never_below_the_best_and_hardly_above():
    rng = np.random.default_rng(7)
    for _ in range(150):
        tables = int(rng.integers(1, 5))
        costs = [int(c) for c in rng.integers(1, 6, size=tables)]
        terms = random_terms(rng, tables, 1, 10 ** int(rng.integers(14, 22)))
        for k, value in enumerate(find_largest_values(terms, costs, 9)):
            best = best_by_trying(terms, costs, k)
            assert best <= value <= best * (1 + 2**-43) + 1, (terms, costs, k)


def test_a_coefficient_that_64_bits_cannot_hold_of_rows_that_cannot_be_paid_for():
    found = find_largest_values([((0, 0), 5), ((1, 1), 10**30)], [4, 4], 3)
    assert all(5 <= value <= 6 for value in found)


def test_a_chain_of_four_tables_is_spent_on_exactly_at_every_distance():
    terms = [((0, 0, 0), 36), ((1, 0, 0), 7), ((0, 1, 0), 11), ((1, 1, 0), 2), ((0, 1, 1), 5), ((1, 1, 1), 1)]
    last = 400
    a, b = np.meshgrid(np.arange(last + 1), np.arange(last + 1))
    for k in (37, last):
        c = k - a - b
        values = 36 + 7 * a + 11 * b + 2 * a * b + 5 * b * c + a * b * c
        assert find_largest_values(terms, [1, 1, 1], last)[k] == values[c >= 0].max()


def test_terms_spent_for_one_by_one_are_never_below(monkeypatch):
    terms = [((1, 0, 0), 3), ((0, 1, 1), 2), ((1, 1, 1), 1)]
    exact = find_largest_values(terms, [1, 2, 3], 40)
    monkeypatch.setattr(spending, "_MOST_WAYS", 30)
    loose = find_largest_values(terms, [1, 2, 3], 40)
    assert all(mine >= best for mine, best in zip(loose, exact, strict=True))
    assert loose != exact
