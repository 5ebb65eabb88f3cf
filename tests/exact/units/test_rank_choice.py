"""Ranks in units: all small sets of units with several rows each, every law proved, and the mutants."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms.selection.rank_choice import RankChoice, extreme_rank
from sordino.units import WEIGHT_STEPS, row_weight
from tests.oracles.units.distinct import unit_maxima, units_at_least, weighted_rank

EPSILON = Fraction(3, 5)
POINTS = 4
ROWS = [rows for size in (1, 2, 4) for rows in combinations_with_replacement(range(POINTS), size)]
FEW_ROWS = [(0,), (2,), (3,), (0, 3), (1, 1), (2, 3), (0, 0, 0, 3), (1, 2, 3, 3), (3, 3, 3, 3)]
UNITS = 3


def universe(kinds):
    return [units for size in range(UNITS + 1) for units in combinations_with_replacement(kinds, size)]


def near(kinds):
    def neighbours(units):
        fewer = [(*units[:i], *units[i + 1 :]) for i in range(len(units))]
        more = (
            [tuple(sorted((*units, rows), key=kinds.index)) for rows in kinds] if len(units) < UNITS else []
        )
        return [*fewer, *more]

    return neighbours


def maxima_counts(units):
    maxima = unit_maxima(dict(enumerate(units))).values()
    return np.array([sum(m == point for m in maxima) for point in range(POINTS)], dtype=np.int64)


def row_counts(units, most=None):
    counts = np.zeros(POINTS, dtype=np.int64)
    for rows in units:
        for value in rows:
            counts[value] += WEIGHT_STEPS if most is None else row_weight(len(rows), most)
    return counts


def prove(choice, counts, kinds):
    def law(units):
        stated = choice.law(counts(units))
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error)

    return sd.audit.prove(law, universe(kinds), near(kinds), float(EPSILON))


CHOICES = {
    "median": RankChoice.quantile(0.5, epsilon=EPSILON),
    "ninth decile": RankChoice.quantile(0.9, epsilon=EPSILON),
    "second largest": RankChoice.largest(2, epsilon=EPSILON),
    "smallest": RankChoice.smallest(1, epsilon=EPSILON),
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_one_value_per_unit(choice):
    assert prove(choice, maxima_counts, ROWS[:14]).holds
    # the rows themselves, as if each were a unit
    raw = prove(choice, lambda units: row_counts(units) // WEIGHT_STEPS, FEW_ROWS)
    assert not raw.holds


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("q", [0.25, 0.5])
def test_rows_that_weigh_at_most_so_much_per_unit(most, q):
    choice = RankChoice.quantile(q, epsilon=EPSILON, most=most * WEIGHT_STEPS)
    proof = prove(choice, lambda units: row_counts(units, most), FEW_ROWS)
    assert proof.holds
    assert not prove(choice, row_counts, FEW_ROWS).holds  # weights forgotten
    eager = RankChoice.quantile(q, epsilon=EPSILON * Fraction(6, 5), most=most * WEIGHT_STEPS)
    assert proof.worst_epsilon > 0.85 * float(EPSILON)
    assert not prove(eager, lambda units: row_counts(units, most), FEW_ROWS).holds


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_one_value_per_unit_has_the_law_of_quantile(q):
    values = [1, 3, 3, 4, 8, 9, 9, 2]
    counts = np.bincount(values, minlength=11)
    _, expected = sd.quantile_law(values, q, bounds=(0, 10), step=1, epsilon=float(EPSILON))
    found = np.exp(RankChoice.quantile(q, epsilon=float(EPSILON)).law(counts).log_probabilities)
    assert found == pytest.approx(expected, rel=1e-10)


def test_the_utility_is_that_of_the_oracle():
    choice = RankChoice.quantile(0.25, epsilon=EPSILON, most=2 * WEIGHT_STEPS)
    for units in universe(FEW_ROWS)[:60]:
        scores = choice._scores(row_counts(units, 2)).values
        held = dict(enumerate(units))
        target = weighted_rank(held, 2, POINTS) / 4
        for point in range(POINTS):
            below, upto = weighted_rank(held, 2, point - 1), weighted_rank(held, 2, point)
            # in steps of a public size, a power of two
            found = Fraction(int(scores[point]) * choice._grid()[0], WEIGHT_STEPS << 26)
            # weights are rounded down by less than a step per row
            assert abs(found - min(target - below, upto - target)) <= Fraction(16, WEIGHT_STEPS)


def test_the_largest_is_where_units_at_least_cross_the_rank():
    for units in universe(ROWS[:14])[15:200]:
        held = dict(enumerate(units))
        for rank in range(1, len(units) + 1):
            scores = RankChoice.largest(rank, epsilon=EPSILON)._scores(maxima_counts(units)).values
            wanted = max(y for y in range(POINTS) if units_at_least(held, y) >= rank)
            assert np.flatnonzero(scores >= 0).tolist() == [wanted]


def test_extremes_stay_inside():
    """A thousand units below a tenth of the lattice: beyond them at most one time in ten."""
    points, epsilon = 1000, 0.5
    counts = np.zeros(points, dtype=np.int64)
    counts[:100] = 10
    rank = extreme_rank(points, epsilon)
    law = np.exp(RankChoice.largest(rank, epsilon=epsilon).law(counts).log_probabilities)
    assert law[100:].sum() < 0.1
    assert law[80:100].sum() > 0.85
    mirrored = np.exp(RankChoice.smallest(rank, epsilon=epsilon).law(counts[::-1]).log_probabilities)
    assert mirrored == pytest.approx(law[::-1], rel=1e-9)


def test_counts_beyond_machine_words_and_no_counts():
    choice = RankChoice.quantile(0.5, epsilon=1)
    assert choice.draw([0, 10**30, 0]) == 1
    assert choice.draw(np.zeros(3, dtype=np.int64)) in range(3)
    with pytest.raises(sd.ParameterError, match="whole numbers"):
        choice.draw([0.5])
    with pytest.raises(sd.ParameterError, match="whole numbers"):
        choice.draw([])
