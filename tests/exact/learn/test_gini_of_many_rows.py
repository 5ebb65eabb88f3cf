"""Gini where more rows are allowed than doubles have exact squares of: the same numbers from the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest

from sordino.core import UnsupportedError
from sordino.learn.criteria import CRITERIA, MOST_ROWS

GINI = CRITERIA["gini"]
GRID = Fraction(1, 2**19)  # 50 bits, of which the rows take 31
LARGE = [0, 1, 2**26 + 1, 2**27, 3**16]


def score(table):
    """−Σ (rows that differ in class, in pairs, per row), rounded to the grid value by value."""
    total = 0
    for row in table:
        rows = sum(row)
        pairs = Fraction(
            sum(a * b for i, a in enumerate(row) for j, b in enumerate(row) if i != j), max(rows, 1)
        )
        total -= floor(pairs / GRID) * GRID
    return total


def scored(table, max_rows=MOST_ROWS):
    return Fraction(GINI.scores([np.array(table, dtype=np.int64)], max_rows)[0])


@pytest.mark.parametrize("numbers", [range(4), LARGE])
def test_scores_are_those_of_the_definition_and_move_by_the_sensitivity(numbers):
    most = Fraction(GINI.sensitivity(MOST_ROWS))
    assert most < Fraction(200001, 100000)
    for cells in product(numbers, repeat=4):
        table = [list(cells[:2]), list(cells[2:])]
        before = scored(table)
        assert before == score(table)
        for value, label in product(range(2), repeat=2):
            table[value][label] += 1
            assert 0 <= before - scored(table) <= most
            table[value][label] -= 1


def test_more_classes_move_it_no_further():
    most = Fraction(GINI.sensitivity(MOST_ROWS))
    for cells in product([0, 1, 2**20, 2**27], repeat=3):
        before = scored([cells])
        for label in range(3):
            more = [count + (place == label) for place, count in enumerate(cells)]
            assert 0 <= before - scored([more]) <= most


def test_the_sensitivity_is_that_of_the_tables_where_there_are_tables():
    for rows in (1, 2, 3, 10, 1000, 4097):
        jumps = [2 * Fraction(x, x + 1) for x in range(max(2, rows))]
        grid = Fraction(1, 2**30)
        assert max(jumps) <= Fraction(GINI.sensitivity(rows)) <= max(jumps) + 4 * grid
        profile = GINI.profile([np.zeros((2, 2), dtype=np.int64)], rows)
        assert profile.bound == GINI.sensitivity(rows)


def test_what_is_beyond_is_refused():
    with pytest.raises(UnsupportedError, match="gini is offered up to max_rows = 1073741824"):
        GINI.sensitivity(MOST_ROWS + 1)
    with pytest.raises(UnsupportedError, match="element sensitivity of gini"):
        GINI.profile([np.zeros((2, 2), dtype=np.int64)], 2**26 + 1)
